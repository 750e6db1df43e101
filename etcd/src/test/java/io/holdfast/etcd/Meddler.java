package io.holdfast.etcd;

import com.google.protobuf.ByteString;
import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ClientInterceptors;
import io.grpc.ClientStreamTracer.StreamInfo;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import io.holdfast.etcd.internal.wire.KVGrpc;
import io.holdfast.etcd.internal.wire.LeaseKeepAliveResponse;
import io.holdfast.etcd.internal.wire.LeaseTimeToLiveResponse;
import io.holdfast.etcd.internal.wire.PutRequest;
import io.holdfast.etcd.internal.wire.TxnRequest;
import io.holdfast.etcd.internal.wire.WatchCancelRequest;
import io.holdfast.etcd.internal.wire.WatchRequest;
import io.holdfast.etcd.internal.wire.WatchResponse;
import io.holdfast.spi.StoreFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/** Sits between a store and a real etcd and changes what they say to each other. */
final class Meddler implements ClientInterceptor, AutoCloseable {

    final List<Long> watchIds = new CopyOnWriteArrayList<>();
    volatile UnaryOperator<LeaseKeepAliveResponse> keepAlives = UnaryOperator.identity();

    /** What is told of the keys of a lease. */
    volatile UnaryOperator<LeaseTimeToLiveResponse> keyListings = UnaryOperator.identity();

    /** Whether the store can list the keys of its leases. */
    volatile boolean listsKeys = true;

    /** Which requests the login has no right to: newer versions look closer than 3.4.23. */
    volatile Predicate<Object> forbids = request -> false;

    /** Whether the store can delete keys. */
    volatile boolean deletes = true;

    /** Which methods cannot even be called. */
    volatile Predicate<String> breaks = method -> false;

    final AtomicInteger broken = new AtomicInteger();

    /** Whether the watch stream throws what is sent on it back. */
    volatile boolean refusesWatches;

    /** Whether watches are opened; those asked for meanwhile are when it is true again. */
    private boolean opensWatches = true; // guarded by this

    private final List<Runnable> watchesToOpen = new ArrayList<>(); // guarded by this

    /** Which transactions stay on their way: sent, as far as the store can tell, and not arrived. */
    volatile Predicate<TxnRequest> holdsUp = txn -> false;

    final List<TxnRequest> heldUp = new CopyOnWriteArrayList<>();

    /** Which transactions arrive twice, with others between, as a channel that repeats or hedges sends them; the store hears of the second. */
    volatile Predicate<TxnRequest> doubles = txn -> false;

    /** Which transactions arrive twice and are refused the second time; the store hears of that. */
    volatile Predicate<TxnRequest> refusesSecond = txn -> false;

    /** What of a watch's messages is told, and what else. */
    volatile Function<WatchResponse, List<WatchResponse>> watched = List::of;

    /** What was told on watches. */
    final List<WatchResponse> told = new CopyOnWriteArrayList<>();

    /** Which requests are made without the store knowing it yet: their answers stay under way until {@link #letGo}. */
    volatile Predicate<Object> delaysAnswerTo = request -> false;

    /** The answers that are under way. */
    final List<Object> underWay = new CopyOnWriteArrayList<>();

    private final List<Runnable> delayed = new ArrayList<>(); // guarded by this

    /** How often the store has read ranges. */
    final AtomicInteger listings = new AtomicInteger();

    private final ManagedChannel channel;
    private volatile ClientCall<WatchRequest, WatchResponse> watchStream;

    Meddler(int port) {
        channel =
                NettyChannelBuilder.forAddress("127.0.0.1", port).usePlaintext().build();
    }

    TestClient client() {
        return new TestClient(store());
    }

    /** A store on a channel of the user's. */
    StoreFactory store() {
        return store("");
    }

    /** The same, with options as in a URI. */
    StoreFactory store(String options) {
        return EtcdStores.using(ClientInterceptors.intercept(channel, this), options);
    }

    /** Makes the server cancel a watch its client knows to be open. */
    void cancelWatch(long id) {
        watchStream.sendMessage(WatchRequest.newBuilder()
                .setCancelRequest(WatchCancelRequest.newBuilder().setWatchId(id))
                .build());
    }

    synchronized void delayWatches() {
        opensWatches = false;
    }

    synchronized void openWatches() {
        opensWatches = true;
        watchesToOpen.forEach(Runnable::run);
        watchesToOpen.clear();
    }

    synchronized int watchesToOpen() {
        return watchesToOpen.size();
    }

    private synchronized void openWatch(Runnable open) {
        if (opensWatches) {
            open.run();
        } else {
            watchesToOpen.add(open);
        }
    }

    /** Whether it puts a key on a lease. */
    static boolean bindsAKey(TxnRequest txn) {
        return txn.getSuccessList().stream()
                .anyMatch(op -> op.hasRequestPut() && op.getRequestPut().getLease() != 0
                        || op.hasRequestTxn() && bindsAKey(op.getRequestTxn()));
    }

    static boolean deletesAKey(TxnRequest txn) {
        return txn.getSuccessList().stream()
                .anyMatch(op -> op.hasRequestDeleteRange() || op.hasRequestTxn() && deletesAKey(op.getRequestTxn()));
    }

    /** Lets a transaction that was held up arrive after all. Whether it did what it was sent for. */
    boolean deliver(TxnRequest late) {
        return ClientCalls.blockingUnaryCall(channel, KVGrpc.getTxnMethod(), CallOptions.DEFAULT, late)
                .getSucceeded();
    }

    /** Makes a revision that is of no lock. */
    private void change(String key) {
        PutRequest put =
                PutRequest.newBuilder().setKey(ByteString.copyFromUtf8(key)).build();
        ClientCalls.blockingUnaryCall(channel, KVGrpc.getPutMethod(), CallOptions.DEFAULT, put);
    }

    private synchronized void delay(Runnable delivery) {
        delayed.add(delivery);
    }

    /** Lets the answer arrive that has been under way for longest. */
    synchronized void letFirstGo() {
        delayed.remove(0).run();
    }

    /** Lets all answers under way arrive, and delays none any more. */
    synchronized void letGo() {
        delaysAnswerTo = request -> false;
        delayed.forEach(Runnable::run);
        delayed.clear();
    }

    @Override
    public <Q, R> ClientCall<Q, R> interceptCall(MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
        String name = method.getFullMethodName();
        if (breaks.test(name)) {
            broken.incrementAndGet();
            throw new IllegalStateException("broken");
        }
        if (name.endsWith("KV/Range")) {
            listings.incrementAndGet();
        }
        boolean fails = !listsKeys && name.endsWith("/LeaseTimeToLive");
        ClientCall<Q, R> call =
                next.newCall(method, fails ? options.withDeadlineAfter(0, TimeUnit.NANOSECONDS) : options);
        if (name.endsWith("Watch/Watch")) {
            @SuppressWarnings("unchecked")
            ClientCall<WatchRequest, WatchResponse> watch = (ClientCall<WatchRequest, WatchResponse>) call;
            watchStream = watch;
        }
        return new SimpleForwardingClientCall<>(call) {
            private boolean onItsWay;
            private Listener<R> listener;
            private volatile boolean delaysAnswer;

            @Override
            public void sendMessage(Q message) {
                delaysAnswer = delaysAnswerTo.test(message);
                if (refusesWatches && message instanceof WatchRequest) {
                    throw new IllegalStateException("refused");
                }
                if (message instanceof TxnRequest txn && !deletes && deletesAKey(txn)) {
                    onItsWay = true;
                    cancel("no deletes", null);
                } else if (message instanceof TxnRequest txn && holdsUp.test(txn)) {
                    onItsWay = true;
                    markSent(options);
                    heldUp.add(txn);
                } else if (message instanceof TxnRequest txn && doubles.test(txn)) {
                    deliver(txn);
                    change("between");
                    super.sendMessage(message);
                } else if (message instanceof TxnRequest txn && refusesSecond.test(txn)) {
                    onItsWay = true;
                    deliver(txn);
                    markSent(options);
                    markSent(options);
                    listener.onClose(
                            Status.RESOURCE_EXHAUSTED.withDescription("etcdserver: too many requests"), new Metadata());
                } else if (forbids.test(message)) {
                    onItsWay = true;
                    listener.onClose(
                            Status.PERMISSION_DENIED.withDescription("etcdserver: permission denied"), new Metadata());
                } else if (message instanceof WatchRequest) {
                    openWatch(() -> super.sendMessage(message));
                } else {
                    super.sendMessage(message);
                }
            }

            @Override
            public void halfClose() {
                if (!onItsWay) {
                    super.halfClose();
                }
            }

            @Override
            public void start(Listener<R> storesListener, Metadata headers) {
                listener = storesListener;
                super.start(
                        new SimpleForwardingClientCallListener<>(storesListener) {
                            @Override
                            public void onMessage(R message) {
                                if (delaysAnswer) {
                                    delay(() -> meddle(message).forEach(super::onMessage));
                                    underWay.add(message);
                                } else {
                                    List<R> told = meddle(message);
                                    told.forEach(super::onMessage);
                                    if (told.isEmpty()) {
                                        // Who hears nothing asks for nothing more.
                                        call.request(1);
                                    }
                                }
                            }

                            @Override
                            public void onClose(Status status, Metadata trailers) {
                                if (delaysAnswer) {
                                    delay(() -> super.onClose(status, trailers));
                                } else {
                                    super.onClose(status, trailers);
                                }
                            }
                        },
                        headers);
            }
        };
    }

    /** Tells the store that its request has left, which it may else not know before its deadline. */
    private static void markSent(CallOptions options) {
        StreamInfo info = StreamInfo.newBuilder().setCallOptions(options).build();
        options.getStreamTracerFactories()
                .forEach(factory -> factory.newClientStreamTracer(info, new Metadata())
                        .streamCreated(Attributes.EMPTY, new Metadata()));
    }

    @SuppressWarnings("unchecked")
    private <R> List<R> meddle(R message) {
        if (message instanceof WatchResponse response) {
            told.add(response);
            if (response.getCreated()) {
                watchIds.add(response.getWatchId());
            }
            return (List<R>) watched.apply(response);
        }
        if (message instanceof LeaseKeepAliveResponse kept) {
            return List.of((R) keepAlives.apply(kept));
        }
        if (message instanceof LeaseTimeToLiveResponse listing) {
            return List.of((R) keyListings.apply(listing));
        }
        return List.of(message);
    }

    @Override
    public void close() {
        channel.shutdownNow();
    }
}
