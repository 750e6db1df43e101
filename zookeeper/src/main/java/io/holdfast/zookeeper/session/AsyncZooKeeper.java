package io.holdfast.zookeeper.session;

import io.holdfast.spi.TimeSource;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.WatcherType;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * ZooKeeper's asynchronous requests as futures, which fail with a {@link KeeperException}.
 *
 * <p>Requests of one session are served and answered in the order they are sent, so several sent back to back take one
 * round trip, and a later one sees what an earlier one did. Futures complete on ZooKeeper's event thread: what hangs on them
 * must not wait. The {@link SessionBase} hears of writes. Thread-safe.
 */
public final class AsyncZooKeeper {

    /** @param czxid the number of the transaction that made the node: never used again, ever growing */
    public record Created(String path, long czxid) {}

    public record Data(byte[] bytes, Stat stat) {}

    /** @param version grows by one with each child that is made and each that is deleted */
    public record Children(List<String> names, int version) {

        public static final Children NONE = new Children(List.of(), 0);
    }

    private final ZooKeeper client;
    private final SessionBase base;
    private final TimeSource time;

    AsyncZooKeeper(ZooKeeper client, SessionBase base, TimeSource time) {
        this.client = client;
        this.base = base;
        this.time = time;
    }

    ZooKeeper client() {
        return client;
    }

    public CompletableFuture<Created> create(String path, byte[] data, List<ACL> acl, CreateMode mode) {
        CompletableFuture<Created> answer = new CompletableFuture<>();
        long sentNanos = time.nanoTime();
        client.create(
                path,
                data,
                acl,
                mode,
                (rc, asked, context, name, stat) ->
                        answered(answer, rc, asked, name == null ? null : new Created(name, stat.getCzxid())),
                null);
        return committed(answer, sentNanos);
    }

    /** Whether there was such a node. */
    public CompletableFuture<Boolean> delete(String path) {
        CompletableFuture<Boolean> answer = new CompletableFuture<>();
        long sentNanos = time.nanoTime();
        client.delete(path, -1, (rc, asked, context) -> answered(answer, rc, asked, true), null);
        return committed(Answers.unlessMissing(answer, false), sentNanos);
    }

    /** A write to a node that does not exist changes nothing, but the leader finds that out and a quorum agrees on it. */
    CompletableFuture<Void> writeNothing(String emptyPath) {
        CompletableFuture<Boolean> answer = new CompletableFuture<>();
        long sentNanos = time.nanoTime();
        client.setData(
                emptyPath, new byte[0], -1, (rc, asked, context, stat) -> answered(answer, rc, asked, true), null);
        return committed(Answers.unlessMissing(answer, false), sentNanos).thenAccept(existed -> {});
    }

    /** Those of a directory that does not exist are none. */
    public CompletableFuture<Children> children(String path, @Nullable Watcher watcher) {
        CompletableFuture<Children> answer = new CompletableFuture<>();
        client.getChildren(
                path,
                watcher,
                (int rc, String asked, Object context, List<String> names, Stat stat) ->
                        answered(answer, rc, asked, names == null ? null : new Children(names, stat.getCversion())),
                null);
        return Answers.unlessMissing(answer, Children.NONE);
    }

    /** The watcher hears of each node that is made or deleted at that path or below, until told otherwise. */
    public CompletableFuture<Void> watchBelow(String path, Watcher watcher) {
        CompletableFuture<Void> answer = new CompletableFuture<>();
        client.addWatch(
                path,
                watcher,
                AddWatchMode.PERSISTENT_RECURSIVE,
                (rc, asked, context) -> answered(answer, rc, asked, null),
                null);
        return answer;
    }

    /** Ends all watches on that path. */
    void unwatchAll(String path) {
        client.removeAllWatches(path, WatcherType.Any, true, (rc, asked, context) -> {}, null);
    }

    /** The watcher hears no more; the servers go on sending, for there may be others. */
    void unwatch(String path, Watcher watcher) {
        client.removeWatches(path, watcher, WatcherType.Any, true, (rc, asked, context) -> {}, null);
    }

    public CompletableFuture<Data> data(String path, @Nullable Watcher watcher) {
        CompletableFuture<Data> answer = new CompletableFuture<>();
        client.getData(
                path,
                watcher,
                (rc, asked, context, bytes, stat) ->
                        answered(answer, rc, asked, new Data(bytes == null ? new byte[0] : bytes, stat)),
                null);
        return answer;
    }

    public CompletableFuture<Stat> exists(String path, @Nullable Watcher watcher) {
        CompletableFuture<Stat> answer = new CompletableFuture<>();
        client.exists(path, watcher, (rc, asked, context, stat) -> answered(answer, rc, asked, stat), null);
        return answer;
    }

    /** What is read next on this session is at least as new as anything answered to anybody before this was sent. */
    public void sync(String path) {
        client.sync(path, (rc, asked, context) -> {}, null);
    }

    private <T> CompletableFuture<T> committed(CompletableFuture<T> write, long sentNanos) {
        return write.thenApply(answer -> {
            base.committed(sentNanos);
            return answer;
        });
    }

    private static <T> void answered(CompletableFuture<T> answer, int rc, String path, @Nullable T value) {
        if (rc == Code.OK.intValue()) {
            answer.complete(value);
        } else {
            answer.completeExceptionally(KeeperException.create(Code.get(rc), path));
        }
    }
}
