package io.holdfast.etcd.client;

import com.google.protobuf.ByteString;
import io.grpc.CallOptions;
import io.grpc.Status;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ClientResponseObserver;
import io.holdfast.etcd.internal.wire.Event;
import io.holdfast.etcd.internal.wire.KeyValue;
import io.holdfast.etcd.internal.wire.WatchCancelRequest;
import io.holdfast.etcd.internal.wire.WatchCreateRequest;
import io.holdfast.etcd.internal.wire.WatchGrpc;
import io.holdfast.etcd.internal.wire.WatchProgressRequest;
import io.holdfast.etcd.internal.wire.WatchRequest;
import io.holdfast.etcd.internal.wire.WatchResponse;
import io.holdfast.spi.Deadline;
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
 * on", and the server says from which revision on that is. A watcher that knows the state as of revision r hears
 * opened(s): if s <= r there is no gap, every change after r will be told; else it reads once more. Reading costs nobody
 * time: whoever watches waits anyway.
 *
 * Older servers (3.4) read the revision s first and register the watch a moment later: a change in between sends the watch to
 * the unsynced group after all, though s <= r. So after each answer we ask for the stream's progress, which is a revision
 * read after the watch was registered: whoever knows less than that looks.
 * Newer servers have no such moment and may not answer, which does no harm.
 *
 * Whatever goes wrong (the stream breaks, the member is left, the server cancels a watch because it lagged behind a
 * compaction) has one cure: the watch is opened again "from now on", and the watcher hears opened(s) with a new s. So there
 * is no replay, and compaction cannot hurt.
 *
 * etcd answers create requests of one stream in order; that is how an answer finds its watch. Watchers are called on the
 * stream's I/O thread, one at a time, never under the hub's monitor.
 */
public final class WatchHub implements AutoCloseable {

    private static final Logger LOG = System.getLogger(WatchHub.class.getName());

    private static final long FIRST_PAUSE_NANOS = Duration.ofMillis(20).toNanos();
    private static final long LONGEST_PAUSE_NANOS = Duration.ofSeconds(1).toNanos();
    private static final int MOST_UNPROVEN = 1000;
    private static final Duration LOGIN_LIMIT = Duration.ofSeconds(5);

    /** Hears what happens to a key or a range. Calls return at once. */
    public interface Watcher {

        /** From now on every change after {@code revision} is told. Comes again after a gap. */
        void opened(long revision);

        /** Changes up to {@code revision} may be told late. Comes once after each {@link #opened}, if the server can tell. */
        default void registeredBy(long revision) {}

        /** Keys that are gone, with the revision of their going; all of one revision come together. */
        void deleted(List<KeyValue> gone);

        void changed(KeyValue now);
    }

    /** What is watched for whom, until closed. */
    public final class Watch implements AutoCloseable {
        private final ByteString key;
        private final ByteString end;
        private final Watcher watcher;
        private boolean over; // guarded by the hub
        private long id = -1; // guarded by the hub; of the stream that is open now

        private Watch(ByteString key, ByteString end, Watcher watcher) {
            this.key = key;
            this.end = end;
            this.watcher = watcher;
        }

        public ByteString key() {
            return key;
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

    public WatchHub(EtcdClient client, StoreContext context) {
        this.client = client;
        this.context = context;
        client.endpoints().onMove(this::moved);
    }

    /** Watches one key, or with a non-empty {@code end} for deletions of all keys from {@code key} up to it. */
    public Watch watch(ByteString key, ByteString end, Watcher watcher) {
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
            context.timer()
                    .at(
                            context.time().nanoTime() + afterNanos,
                            () -> context.background().execute(this::open));
        }
    }

    private void open() {
        Stream opened = null;
        try {
            client.logIn(Deadline.after(context.time(), LOGIN_LIMIT));
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
        private final Deque<Watch> unproven = new ArrayDeque<>();
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
            WatchCreateRequest.Builder create =
                    WatchCreateRequest.newBuilder().setKey(watch.key).setRangeEnd(watch.end);
            if (!watch.end.isEmpty()) {
                // Whoever waits in a queue need not know who joins it behind.
                create.addFilters(WatchCreateRequest.FilterType.NOPUT);
            }
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
            if (response.getCreated()) {
                created(response);
            } else if (response.getCanceled()) {
                cancelled(response);
            } else if (response.getEventsCount() == 0) {
                progressed(response);
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
                byId.put(watch.id, watch);
                askProgress(watch);
            }
            watch.watcher.opened(response.getHeader().getRevision());
        }

        private void askProgress(Watch watch) {
            if (unproven.size() >= MOST_UNPROVEN) {
                unproven.remove();
            }
            unproven.add(watch);
            send(WatchRequest.newBuilder()
                    .setProgressRequest(WatchProgressRequest.getDefaultInstance())
                    .build());
        }

        /** Answers come in the order of the questions. */
        private void progressed(WatchResponse response) {
            Watch watch;
            synchronized (WatchHub.this) {
                watch = unproven.poll();
                if (watch == null || watch.over) {
                    return;
                }
            }
            watch.watcher.registeredBy(response.getHeader().getRevision());
        }

        /** Most likely the login has lapsed, which the server only says as "permission denied": start all over. */
        private void refused(Watch watch, WatchResponse response) {
            LOG.log(
                    Level.DEBUG,
                    () -> "etcd refuses a watch on " + watch.key.toStringUtf8() + ": " + response.getCancelReason());
            client.forgetLogin();
            abort();
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
                    create(watch);
                }
            }
        }

        private void deliver(WatchResponse response) {
            Watch watch;
            synchronized (WatchHub.this) {
                watch = byId.get(response.getWatchId());
            }
            if (watch == null) {
                return;
            }
            List<KeyValue> gone = new ArrayList<>();
            List<KeyValue> changes = new ArrayList<>();
            for (Event event : response.getEventsList()) {
                (event.getType() == Event.EventType.DELETE ? gone : changes).add(event.getKv());
            }
            changes.forEach(watch.watcher::changed);
            if (!gone.isEmpty()) {
                watch.watcher.deleted(gone);
            }
        }

        @Override
        public void onError(Throwable error) {
            Status status = Status.fromThrowable(error);
            if (RpcFailure.of(status, true).wantsLogin()) {
                client.forgetLogin();
            } else if (status.getCode() == Status.Code.UNAVAILABLE) {
                client.endpoints().leave(member);
            }
            ended(this, status.toString());
        }

        @Override
        public void onCompleted() {
            ended(this, "the server closed it");
        }
    }
}
