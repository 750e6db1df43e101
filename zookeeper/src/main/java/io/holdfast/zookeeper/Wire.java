package io.holdfast.zookeeper;

import io.holdfast.spi.Deadline;
import io.holdfast.spi.support.Uninterruptibly;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * ZooKeeper's asynchronous requests as futures, which fail with a {@link KeeperException}.
 *
 * <p>Requests of one session are served and answered in the order they are sent, so several sent back to back take one
 * round trip, and a later one sees what an earlier one did. Futures complete on ZooKeeper's event thread: what hangs on them
 * must not wait.
 */
final class Wire {

    /** @param czxid the number of the transaction that made the node: never used again, ever growing */
    record Created(String path, long czxid) {}

    record Data(byte[] bytes, Stat stat) {}

    private final ZooKeeper client;

    Wire(ZooKeeper client) {
        this.client = client;
    }

    CompletableFuture<Created> create(String path, byte[] data, List<ACL> acl, CreateMode mode) {
        CompletableFuture<Created> answer = new CompletableFuture<>();
        client.create(
                path,
                data,
                acl,
                mode,
                (rc, asked, context, name, stat) ->
                        answered(answer, rc, asked, name == null ? null : new Created(name, stat.getCzxid())),
                null);
        return answer;
    }

    CompletableFuture<Void> delete(String path) {
        CompletableFuture<Void> answer = new CompletableFuture<>();
        client.delete(path, -1, (rc, asked, context) -> answered(answer, rc, asked, null), null);
        return answer;
    }

    CompletableFuture<Void> write(String path) {
        CompletableFuture<Void> answer = new CompletableFuture<>();
        client.setData(path, new byte[0], -1, (rc, asked, context, stat) -> answered(answer, rc, asked, null), null);
        return answer;
    }

    CompletableFuture<List<String>> children(String path, @Nullable Watcher watcher) {
        CompletableFuture<List<String>> answer = new CompletableFuture<>();
        client.getChildren(
                path,
                watcher,
                (int rc, String asked, Object context, List<String> children) -> answered(answer, rc, asked, children),
                null);
        return answer;
    }

    CompletableFuture<Data> data(String path, @Nullable Watcher watcher) {
        CompletableFuture<Data> answer = new CompletableFuture<>();
        client.getData(
                path,
                watcher,
                (rc, asked, context, bytes, stat) ->
                        answered(answer, rc, asked, new Data(bytes == null ? new byte[0] : bytes, stat)),
                null);
        return answer;
    }

    CompletableFuture<Void> exists(String path, @Nullable Watcher watcher) {
        CompletableFuture<Void> answer = new CompletableFuture<>();
        client.exists(path, watcher, (rc, asked, context, stat) -> answered(answer, rc, asked, null), null);
        return answer;
    }

    /** What is read next on this session is at least as new as anything answered to anybody before this was sent. */
    void sync(String path) {
        client.sync(path, (rc, asked, context) -> {}, null);
    }

    /** Waits on the calling thread, deaf to interrupts, which stay pending; late is {@link Code#OPERATIONTIMEOUT}. */
    static <T> T await(CompletableFuture<T> answer, Deadline deadline) throws KeeperException {
        if (!Uninterruptibly.await(deadline, (time, unit) -> isDone(answer, time, unit))) {
            throw KeeperException.create(Code.OPERATIONTIMEOUT);
        }
        try {
            return answer.join();
        } catch (CompletionException e) {
            throw fresh(e.getCause());
        }
    }

    private static boolean isDone(CompletableFuture<?> answer, long time, TimeUnit unit) throws InterruptedException {
        try {
            answer.get(time, unit);
            return true;
        } catch (ExecutionException e) {
            return true;
        } catch (TimeoutException e) {
            return false;
        }
    }

    /** The answer, or {@code instead} if the answer is that there is no such node. */
    static <T> CompletableFuture<T> unlessMissing(CompletableFuture<T> request, T instead) {
        return request.exceptionallyCompose(failure -> code(failure) == Code.NONODE
                ? CompletableFuture.completedFuture(instead)
                : CompletableFuture.failedFuture(failure));
    }

    /** What a future failed with, seen through the wrappings of futures that depend on it. */
    static Code code(Throwable failure) {
        Throwable cause = failure;
        while (!(cause instanceof KeeperException) && cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause instanceof KeeperException keeper ? keeper.code() : Code.SYSTEMERROR;
    }

    /** Whether the request may have been applied although nobody said so. A moved session's requests go the same way. */
    static boolean isUnknown(Code code) {
        return switch (code) {
            case CONNECTIONLOSS, OPERATIONTIMEOUT, REQUESTTIMEOUT, SESSIONMOVED -> true;
            default -> false;
        };
    }

    private static KeeperException fresh(@Nullable Throwable cause) {
        if (cause instanceof KeeperException keeper) {
            return KeeperException.create(keeper.code(), keeper.getPath());
        }
        if (cause instanceof RuntimeException broken) {
            throw broken;
        }
        throw new IllegalStateException(cause);
    }

    private static <T> void answered(CompletableFuture<T> answer, int rc, String path, @Nullable T value) {
        if (rc == Code.OK.intValue()) {
            answer.complete(value);
        } else {
            answer.completeExceptionally(KeeperException.create(Code.get(rc), path));
        }
    }
}
