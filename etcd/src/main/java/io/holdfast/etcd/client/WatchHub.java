package io.holdfast.etcd.client;

import com.google.protobuf.ByteString;
import io.grpc.CallOptions;
import io.grpc.Status;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ClientResponseObserver;
import io.holdfast.etcd.internal.wire.Event;
import io.holdfast.etcd.internal.wire.WatchCancelRequest;
import io.holdfast.etcd.internal.wire.WatchCreateRequest;
import io.holdfast.etcd.internal.wire.WatchGrpc;
import io.holdfast.etcd.internal.wire.WatchRequest;
import io.holdfast.etcd.internal.wire.WatchResponse;
import io.holdfast.spi.StoreContext;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/*
 * All watches of a client on one stream.
 *
 * A watch with a start revision in the past joins etcd's group of unsynced watchers, which is served every 100 ms: the
 * stall of every recipe that opens "a watch from the revision I read". So watches open with start revision 0, "from now
 * on", and the watcher reads once more when it hears that it is open: what it reads is no older than the watch, so nothing is
 * missed in between, and what is told of both is to be ignored by its revision. Older servers (3.4) read the revision first and
 * register the watch a moment later: a change in between sends the watch to the unsynced group after all, and what
 * happens in the first 100 ms may be told late; nothing is lost.
 *
 * Whatever goes wrong (the stream breaks, the member is left, the server cancels a watch because it lagged behind a
 * compaction) has one cure: the watch is opened again "from now on", perhaps at a member that lags behind, and the watcher hears
 * opened() again. So there is no replay, and compaction cannot hurt.
 *
 * A revision is told whole. One that is too large for a message (a revoked lease with many keys) comes in fragments, which are
 * put together here.
 *
 * A refused watch costs a login that may have lapsed (3.4 says "permission denied" of that too), and with it the stream, once.
 * If it is refused again its key is one the login has no right to: it is asked for again now and then, and the others go on.
 *
 * etcd answers create requests of one stream in order; that is how an answer finds its watch. Watchers are called on the
 * stream's I/O thread, one at a time, never under the hub's monitor.
 */
public final class WatchHub implements AutoCloseable {

    private static final Logger LOG = System.getLogger(WatchHub.class.getName());

    private static final long FIRST_PAUSE_NANOS = Duration.ofMillis(20).toNanos();
    private static final long LONGEST_PAUSE_NANOS = Duration.ofSeconds(1).toNanos();
    private static final long LONGEST_REFUSAL_NANOS = Duration.ofMinutes(1).toNanos();
    private static final Duration LOGIN_LIMIT = Duration.ofSeconds(5);

    /** Hears what happens to a key or a range. Calls return at once. */
    public interface Watcher {

        /** From now on every change after {@code revision} is told. Comes again after a gap. */
        void opened(long revision);

        /** All of one or more revisions, in order. */
        void changed(List<Event> events);
    }

    /** What is watched for whom, until closed. */
    public final class Watch implements AutoCloseable {
        private final ByteString key;
        private final ByteString end;
        private final Watcher watcher;
        private boolean over; // guarded by the hub
        private long id = -1; // guarded by the hub; of the stream that is open now
        private int refusals; // guarded by the hub; since it was last opened
        private final List<Event> fragments = new ArrayList<>(); // guarded by the hub; of a revision not told whole yet

        private Watch(ByteString key, ByteString end, Watcher watcher) {
            this.key = key;
            this.end = end;
            this.watcher = watcher;
        }

        @Override
        public void close() {
            forget(this);
        }
    }

    private final EtcdClient client;
    private final StoreContext context;
    private final Set<Watch> watches = new LinkedHashSet<>(); // guarded by this
    private @Nullable Stream stream; // guarded by this
    private boolean reopening; // guarded by this
    private boolean closed; // guarded by this
    private long pauseNanos = FIRST_PAUSE_NANOS; // guarded by this

    WatchHub(EtcdClient client, StoreContext context) {
        this.client = client;
        this.context = context;
        client.endpoints().onMove(this::moved);
    }

    Watch watch(ByteString key, ByteString end, Watcher watcher) {
        Watch watch = new Watch(key, end, watcher);
        synchronized (this) {
            watches.add(watch);
            if (stream != null) {
                stream.create(watch);
                return watch;
            }
        }
        reopen(0);
        return watch;
    }

    private synchronized void forget(Watch watch) {
        watch.over = true;
        watches.remove(watch);
        if (stream != null && watch.id >= 0) {
            stream.cancel(watch);
        }
    }

    /** Opens the stream after a while, unless somebody is about to. */
    private void reopen(long afterNanos) {
        synchronized (this) {
            if (reopening || closed || stream != null || watches.isEmpty()) {
                return;
            }
            reopening = true;
        }
        if (afterNanos == 0 && !client.needsLogin()) {
            open();
        } else {
            client.later(afterNanos, () -> context.background().execute(this::open));
        }
    }

    private void open() {
        Stream opened = null;
        try {
            client.logIn(client.deadlineIn(LOGIN_LIMIT));
            opened = new Stream(client.endpoints().current());
            synchronized (this) {
                reopening = false;
                if (closed || stream != null) {
                    return;
                }
                stream = opened;
                opened.start();
                watches.forEach(opened::create);
            }
        } catch (RuntimeException | Error e) {
            LOG.log(Level.DEBUG, "Cannot open a watch stream; trying again", e);
            ended(opened, e.getMessage());
        }
    }

    /** The member in use changed: so must the stream. */
    private void moved() {
        Stream old;
        synchronized (this) {
            old = stream;
        }
        if (old != null && old.member != client.endpoints().current()) {
            old.abort();
            ended(old, "the member in use changed");
        }
    }

    private void ended(@Nullable Stream which, @Nullable String why) {
        long pause;
        synchronized (this) {
            if (which == null) {
                reopening = false;
            } else if (stream != which) {
                return;
            }
            stream = null;
            watches.forEach(watch -> watch.id = -1);
            pause = pauseNanos;
            pauseNanos = Math.min(LONGEST_PAUSE_NANOS, 2 * pauseNanos);
        }
        LOG.log(Level.DEBUG, () -> "The watch stream ended (" + why + "); opening another");
        reopen(pause);
    }

    @Override
    public void close() {
        Stream last;
        synchronized (this) {
            closed = true;
            last = stream;
            stream = null;
            watches.clear();
        }
        if (last != null) {
            last.abort();
        }
    }

    /** One life of the stream. Its fields are guarded by the hub. */
    private final class Stream implements ClientResponseObserver<WatchRequest, WatchResponse> {

        private final Endpoints.Member member;
        private final Deque<Watch> unanswered = new ArrayDeque<>();
        private final Map<Long, Watch> byId = new HashMap<>();
        private @Nullable ClientCallStreamObserver<WatchRequest> requests;

        Stream(Endpoints.Member member) {
            this.member = member;
        }

        void start() {
            ClientCalls.asyncBidiStreamingCall(
                    member.channel()
                            .newCall(WatchGrpc.getWatchMethod(), CallOptions.DEFAULT.withExecutor(Runnable::run)),
                    this);
        }

        @Override
        public void beforeStart(ClientCallStreamObserver<WatchRequest> requestStream) {
            requests = requestStream;
        }

        void create(Watch watch) {
            WatchCreateRequest.Builder create = WatchCreateRequest.newBuilder()
                    .setKey(watch.key)
                    .setRangeEnd(watch.end)
                    .setFragment(true);
            unanswered.add(watch);
            send(WatchRequest.newBuilder().setCreateRequest(create).build());
        }

        void cancel(Watch watch) {
            byId.remove(watch.id);
            WatchCancelRequest cancel =
                    WatchCancelRequest.newBuilder().setWatchId(watch.id).build();
            send(WatchRequest.newBuilder().setCancelRequest(cancel).build());
        }

        private void send(WatchRequest request) {
            if (requests != null) {
                try {
                    requests.onNext(request);
                } catch (RuntimeException | Error e) {
                    LOG.log(Level.DEBUG, "The watch stream takes no more; the next one will say it again", e);
                    abort();
                }
            }
        }

        void abort() {
            if (requests != null) {
                requests.cancel("not needed any more", null);
            }
        }

        @Override
        public void onNext(WatchResponse response) {
            member.markHeard();
            if (response.getCreated()) {
                created(response);
            } else if (response.getCanceled()) {
                cancelled(response);
            } else {
                deliver(response);
            }
        }

        private void created(WatchResponse response) {
            Watch watch;
            synchronized (WatchHub.this) {
                watch = unanswered.poll();
                if (watch == null || stream != this) {
                    return;
                }
                if (response.getCanceled()) {
                    refused(watch, response);
                    return;
                }
                pauseNanos = FIRST_PAUSE_NANOS;
                watch.id = response.getWatchId();
                if (watch.over) {
                    cancel(watch);
                    return;
                }
                watch.refusals = 0;
                watch.fragments.clear();
                byId.put(watch.id, watch);
            }
            watch.watcher.opened(response.getHeader().getRevision());
        }

        private void refused(Watch watch, WatchResponse response) {
            LOG.log(
                    Level.DEBUG,
                    () -> "etcd refuses a watch on " + watch.key.toStringUtf8() + ": " + response.getCancelReason());
            if (watch.refusals++ == 0 && client.hasLogin()) {
                client.forgetLogin();
                abort();
                return;
            }
            createLater(watch, Math.min(LONGEST_REFUSAL_NANOS, LONGEST_PAUSE_NANOS << Math.min(watch.refusals, 6)));
        }

        private void createLater(Watch watch, long pause) {
            client.later(pause, () -> {
                synchronized (WatchHub.this) {
                    if (!watch.over && stream == this) {
                        create(watch);
                    }
                }
            });
        }

        /** Not by us: whoever cancels himself is no longer in byId. */
        private void cancelled(WatchResponse response) {
            synchronized (WatchHub.this) {
                Watch watch = byId.remove(response.getWatchId());
                if (watch != null && stream == this) {
                    LOG.log(
                            Level.DEBUG,
                            () -> "etcd cancelled a watch (" + response.getCancelReason() + "); opening it again");
                    watch.id = -1;
                    createLater(watch, FIRST_PAUSE_NANOS);
                }
            }
        }

        private void deliver(WatchResponse response) {
            Watch watch;
            List<Event> events;
            synchronized (WatchHub.this) {
                watch = byId.get(response.getWatchId());
                if (watch == null || stream != this) {
                    return;
                }
                watch.fragments.addAll(response.getEventsList());
                if (response.getFragment()) {
                    return;
                }
                events = List.copyOf(watch.fragments);
                watch.fragments.clear();
            }
            if (!events.isEmpty()) {
                watch.watcher.changed(events);
            }
        }

        @Override
        public void onError(Throwable error) {
            Status status = Status.fromThrowable(error);
            RpcFailure failure = RpcFailure.of(status, true);
            if (failure.wantsLogin()) {
                client.forgetLogin();
            } else {
                client.leaveIfOfNoUse(member, failure, System.nanoTime());
            }
            ended(this, status.toString());
        }

        @Override
        public void onCompleted() {
            ended(this, "the server closed it");
        }
    }
}
