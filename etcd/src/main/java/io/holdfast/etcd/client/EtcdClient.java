package io.holdfast.etcd.client;

import com.google.protobuf.ByteString;
import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ClientStreamTracer;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import io.holdfast.etcd.internal.wire.AuthGrpc;
import io.holdfast.etcd.internal.wire.AuthenticateRequest;
import io.holdfast.etcd.internal.wire.KVGrpc;
import io.holdfast.etcd.internal.wire.KeyValue;
import io.holdfast.etcd.internal.wire.LeaseGrpc;
import io.holdfast.etcd.internal.wire.LeaseTimeToLiveRequest;
import io.holdfast.etcd.internal.wire.LeaseTimeToLiveResponse;
import io.holdfast.etcd.internal.wire.RangeRequest;
import io.holdfast.etcd.internal.wire.RangeResponse;
import io.holdfast.etcd.internal.wire.TxnRequest;
import io.holdfast.etcd.internal.wire.TxnResponse;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.support.Uninterruptibly;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * All that is said to etcd. A call is one request, one answer, one deadline, whichever member answers; watches share a stream.
 *
 * <p>A request that certainly was not applied goes on to the next member by itself. One that may have been is repeated
 * only if the caller says that it may be. Thread-safe.
 */
public final class EtcdClient implements AutoCloseable {

    private static final Metadata.Key<String> TOKEN = Metadata.Key.of("token", Metadata.ASCII_STRING_MARSHALLER);
    private static final Metadata.Key<String> HAS_LEADER =
            Metadata.Key.of("hasleader", Metadata.ASCII_STRING_MARSHALLER);

    private static final ByteString ZERO = ByteString.copyFrom(new byte[1]);

    /** A member that does not answer one call for this long is left. */
    private static final long SILENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(300);

    /** Changes nothing, and is answered by a member that reaches the majority, be it with a refusal. */
    private static final RangeRequest PROBE =
            RangeRequest.newBuilder().setKey(ZERO).setCountOnly(true).build();

    /** Below etcd's usual limit of 128 operations in a transaction. */
    private static final int MOST_AT_ONCE = 100;

    /** Beyond its deadline gRPC itself must end a call; this long after it we do. */
    private static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Whether a request may be sent again when nobody knows what became of it. */
    public enum Repeat {
        NEVER,
        /** Twice is the same as once. */
        HARMLESS
    }

    private final EtcdSettings settings;
    private final StoreContext context;
    private final Endpoints endpoints;
    private final WatchHub hub;
    private final ReentrantLock loggingIn = new ReentrantLock();
    private volatile @Nullable String token;
    private volatile int atOnce = MOST_AT_ONCE;

    public EtcdClient(EtcdSettings settings, @Nullable Channel given, StoreContext context) {
        this.settings = settings;
        this.context = context;
        this.endpoints = new Endpoints(settings, given, "holdfast-" + context.clientName() + "-etcd", new Headers());
        this.hub = new WatchHub(this, context);
    }

    public long nanoTime() {
        return context.time().nanoTime();
    }

    public Deadline deadlineIn(Duration time) {
        return Deadline.after(context.time(), time);
    }

    /** Does something after a while, on the timer's thread, which must not wait. */
    public void later(long afterNanos, Runnable task) {
        context.timer().at(nanoTime() + afterNanos, task);
    }

    /** Watches one key, or with a non-empty {@code end} all keys from {@code key} up to it. */
    public WatchHub.Watch watch(ByteString key, ByteString end, WatchHub.Watcher watcher) {
        return hub.watch(key, end, watcher);
    }

    Endpoints endpoints() {
        return endpoints;
    }

    public <Q, R> R call(MethodDescriptor<Q, R> method, Q request, Repeat repeat, Deadline deadline) {
        Deadline limit = deadline.within(settings.timeout());
        logIn(limit);
        try {
            return ask(method, request, repeat, limit);
        } catch (RpcFailure failure) {
            if (!failure.wantsLogin() || !hasLogin()) {
                throw failure;
            }
            token = null;
            logIn(limit);
            return ask(method, request, repeat, limit);
        }
    }

    private <Q, R> R ask(MethodDescriptor<Q, R> method, Q request, Repeat repeat, Deadline limit) {
        // Once more than there are members: a connection may have been closed under our hands, and a new one works.
        int triesLeft = endpoints.count() + 1;
        while (true) {
            long left = limit.remainingNanos();
            if (left <= 0) {
                throw RpcFailure.of(Status.DEADLINE_EXCEEDED.withDescription("no time left to ask"), false);
            }
            triesLeft--;
            // One silent member must leave time to ask another.
            long budget = repeat == Repeat.HARMLESS && triesLeft > 0 ? left / 2 : left;
            try {
                return await(start(method, request, budget), budget);
            } catch (RpcFailure failure) {
                boolean again = failure.isOfMember() && (failure.isNotApplied() || repeat == Repeat.HARMLESS);
                if (!again || triesLeft <= 0 || limit.hasPassed()) {
                    throw failure;
                }
            }
        }
    }

    public TxnResponse txn(TxnRequest txn, Repeat repeat, Deadline deadline) {
        return call(KVGrpc.getTxnMethod(), txn, repeat, deadline);
    }

    /**
     * Sends parts that twice are the same as once in as few transactions as the server takes. One that the login has no right to
     * does not keep the others from being made.
     *
     * @param joined makes one transaction of some parts
     * @param answered is told of each
     * @param forbidden is told of the parts that the login has no right to
     */
    public <P> void txns(
            List<P> parts,
            Function<List<P>, TxnRequest> joined,
            BiConsumer<List<P>, TxnResponse> answered,
            BiConsumer<P, RpcFailure> forbidden,
            Deadline deadline) {
        Deque<List<P>> left = new ArrayDeque<>(List.of(parts));
        while (!left.isEmpty()) {
            List<P> some = left.pop();
            int most = atOnce;
            if (some.size() > most) {
                split(some, most, left);
                continue;
            }
            if (some.isEmpty()) {
                continue;
            }
            try {
                answered.accept(some, txn(joined.apply(some), Repeat.HARMLESS, deadline));
            } catch (RpcFailure failure) {
                if (failure.isTooManyOperations() && some.size() > 1) {
                    // The server was started with a lower limit (--max-txn-ops).
                    atOnce = some.size() / 2;
                    left.push(some);
                } else if (failure.isForbidden() && some.size() > 1) {
                    split(some, some.size() / 2, left);
                } else if (failure.isForbidden()) {
                    forbidden.accept(some.get(0), failure);
                } else {
                    throw failure;
                }
            }
        }
    }

    private static <P> void split(List<P> parts, int at, Deque<List<P>> left) {
        left.push(parts.subList(at, parts.size()));
        left.push(parts.subList(0, at));
    }

    public RangeResponse range(RangeRequest.Builder range, Deadline deadline) {
        return call(KVGrpc.getRangeMethod(), range.build(), Repeat.HARMLESS, deadline);
    }

    /**
     * Reads keys in pages, all of one revision, until there are no more or no more are wanted. Returns that revision.
     *
     * @throws RpcFailure also if that revision is compacted between two pages
     */
    public long pages(
            ByteString from, ByteString end, int atOnce, Predicate<List<KeyValue>> wantsMore, Deadline deadline) {
        RangeRequest.Builder range =
                RangeRequest.newBuilder().setKey(from).setRangeEnd(end).setLimit(atOnce);
        while (true) {
            RangeResponse page = range(range, deadline);
            if (range.getRevision() == 0) {
                range.setRevision(page.getHeader().getRevision());
            }
            if (!wantsMore.test(page.getKvsList()) || !page.getMore()) {
                return range.getRevision();
            }
            range.setKey(page.getKvs(page.getKvsCount() - 1).getKey().concat(ZERO));
        }
    }

    /** How long a lease has left, and, if wanted, which keys are bound to it. */
    public LeaseTimeToLiveResponse timeToLive(long lease, boolean withKeys, Deadline deadline) {
        LeaseTimeToLiveRequest request = LeaseTimeToLiveRequest.newBuilder()
                .setId(lease)
                .setKeys(withKeys)
                .build();
        return call(LeaseGrpc.getLeaseTimeToLiveMethod(), request, Repeat.HARMLESS, deadline);
    }

    /** As {@link #call}, for threads that must not wait: one try, answered on an I/O or background thread. */
    public <Q, R> CompletableFuture<R> callAsync(MethodDescriptor<Q, R> method, Q request) {
        Duration timeout = settings.timeout();
        if (settings.login().isPresent()) {
            return CompletableFuture.supplyAsync(
                    () -> call(method, request, Repeat.NEVER, deadlineIn(timeout)), context.background());
        }
        return start(method, request, timeout.toNanos());
    }

    /** Makes sure of a login, if one is needed. */
    void logIn(Deadline limit) {
        Optional<EtcdSettings.Login> login = settings.login();
        if (login.isEmpty() || token != null) {
            return;
        }
        if (!tryLock(loggingIn, limit)) {
            throw RpcFailure.of(Status.DEADLINE_EXCEEDED.withDescription("no time left to log in"), false);
        }
        try {
            if (token == null) {
                AuthenticateRequest request = AuthenticateRequest.newBuilder()
                        .setName(login.get().user())
                        .setPassword(login.get().password())
                        .build();
                token = ask(AuthGrpc.getAuthenticateMethod(), request, Repeat.HARMLESS, limit)
                        .getToken();
            }
        } catch (RpcFailure failure) {
            throw RpcFailure.unavailable("cannot log in: " + failure.getMessage());
        } finally {
            loggingIn.unlock();
        }
    }

    boolean hasLogin() {
        return settings.login().isPresent();
    }

    /** Whether the next call must wait for a login first. */
    boolean needsLogin() {
        return hasLogin() && token == null;
    }

    void forgetLogin() {
        token = null;
    }

    private <Q, R> CompletableFuture<R> start(MethodDescriptor<Q, R> method, Q request, long budgetNanos) {
        return start(endpoints.current(), method, request, budgetNanos);
    }

    /** Whatever happens is told by the future. */
    private <Q, R> CompletableFuture<R> start(
            Endpoints.Member member, MethodDescriptor<Q, R> method, Q request, long budgetNanos) {
        SentMark mark = new SentMark();
        long startedNanos = System.nanoTime();
        member.markAsked(startedNanos);
        CallOptions options = CallOptions.DEFAULT
                .withDeadlineAfter(budgetNanos, TimeUnit.NANOSECONDS)
                .withExecutor(Runnable::run)
                .withStreamTracerFactory(mark);
        CompletableFuture<R> answer = new CompletableFuture<>();
        StreamObserver<R> observer = new StreamObserver<>() {
            @Override
            public void onNext(R value) {
                member.markHeard();
                answer.complete(value);
            }

            @Override
            public void onError(Throwable error) {
                RpcFailure failure = RpcFailure.of(Status.fromThrowable(error), mark.streams.get(), member.address());
                if (failure.isSaidByMember()) {
                    member.markHeard();
                }
                leaveIfOfNoUse(member, failure, startedNanos);
                answer.completeExceptionally(failure);
            }

            @Override
            public void onCompleted() {
                // Has its value, or ends below as one that will never have it.
                answer.completeExceptionally(
                        RpcFailure.of(Status.INTERNAL.withDescription("an answer without content"), true));
            }
        };
        try {
            ClientCalls.asyncUnaryCall(member.channel().newCall(method, options), request, observer);
        } catch (RuntimeException | Error e) {
            // A channel of the user's may have interceptors that throw, and not only before they send.
            answer.completeExceptionally(RpcFailure.of(Status.fromThrowable(e), true));
        }
        return answer;
    }

    /** Another member may do better. The only one there is stays in use as long as its connection works. */
    void leaveIfOfNoUse(Endpoints.Member member, RpcFailure failure, long startedNanos) {
        if (failure.isTimeout() && System.nanoTime() - startedNanos < SILENCE_NANOS) {
            probeIfSilent(member);
            return;
        }
        boolean speaks = failure.isSaidByMember() || (failure.isTimeout() && member.wasHeardSince(startedNanos));
        if (failure.isOfMember() && (!speaks || endpoints.count() > 1)) {
            endpoints.leave(member);
        }
    }

    /**
     * Asks a member with patience that callers with short deadlines have not heard of: they never wait long enough to tell one that
     * hangs from one that is slow. It is left if that is not answered either.
     */
    private void probeIfSilent(Endpoints.Member member) {
        // It may be connecting all the while: short deadlines must not cut that short for ever.
        long patience = Math.max(SILENCE_NANOS, settings.connectTimeout().toNanos());
        if (endpoints.count() > 1 && member.silenceNanos() >= patience && member.beginProbe()) {
            start(member, KVGrpc.getRangeMethod(), PROBE, patience)
                    .whenComplete((answer, failure) -> member.endProbe());
        }
    }

    /** Takes a lock, whatever interrupts. False if the deadline came first. */
    public static boolean tryLock(ReentrantLock lock, Deadline deadline) {
        return Uninterruptibly.await(deadline, lock::tryLock);
    }

    private <R> R await(CompletableFuture<R> answer, long budgetNanos) {
        Deadline limit = deadlineIn(Duration.ofNanos(budgetNanos + GRACE_NANOS));
        return Uninterruptibly.await(limit, (time, unit) -> {
            try {
                return answer.get(time, unit);
            } catch (TimeoutException e) {
                throw RpcFailure.of(Status.DEADLINE_EXCEEDED.withDescription("no answer"), true);
            } catch (ExecutionException e) {
                throw e.getCause() instanceof RpcFailure failure
                        ? failure
                        : RpcFailure.of(Status.fromThrowable(e.getCause()), true);
            }
        });
    }

    @Override
    public void close() {
        hub.close();
        endpoints.close();
    }

    /** Knows how often a request got as far as a connection: a channel of the user's may repeat or hedge it. */
    private static final class SentMark extends ClientStreamTracer.Factory {

        final AtomicInteger streams = new AtomicInteger();

        @Override
        public ClientStreamTracer newClientStreamTracer(ClientStreamTracer.StreamInfo info, Metadata headers) {
            return new ClientStreamTracer() {
                @Override
                public void streamCreated(Attributes transport, Metadata sentHeaders) {
                    streams.incrementAndGet();
                }
            };
        }
    }

    /** Says who we are, and that a member without a leader should say so at once instead of letting us wait. */
    private final class Headers implements ClientInterceptor {
        @Override
        public <Q, R> ClientCall<Q, R> interceptCall(MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
            return new SimpleForwardingClientCall<>(next.newCall(method, options)) {
                @Override
                public void start(Listener<R> listener, Metadata headers) {
                    headers.put(HAS_LEADER, "true");
                    String current = token;
                    if (current != null && !method.equals(AuthGrpc.getAuthenticateMethod())) {
                        headers.put(TOKEN, current);
                    }
                    super.start(listener, headers);
                }
            };
        }
    }
}
