package io.holdfast.zookeeper.session;

import io.holdfast.spi.Deadline;
import io.holdfast.spi.support.Uninterruptibly;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/** What to make of answers to asynchronous requests. */
public final class Answers {

    private Answers() {}

    /** Waits on the calling thread, deaf to interrupts, which stay pending; late is {@link Code#OPERATIONTIMEOUT}. */
    public static <T> T await(CompletableFuture<T> answer, Deadline deadline) throws KeeperException {
        if (!awaitAnswered(answer, deadline)) {
            throw KeeperException.create(Code.OPERATIONTIMEOUT);
        }
        try {
            return answer.join();
        } catch (CompletionException e) {
            throw fresh(e.getCause());
        }
    }

    /** Waits as {@link #await}, whatever the answer is. False if it is late. */
    public static boolean awaitAnswered(CompletableFuture<?> answer, Deadline deadline) {
        return Uninterruptibly.await(deadline, (time, unit) -> isDone(answer, time, unit));
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
    public static <T> CompletableFuture<T> unlessMissing(CompletableFuture<T> answer, T instead) {
        return answer.exceptionallyCompose(failure -> code(failure) == Code.NONODE
                ? CompletableFuture.completedFuture(instead)
                : CompletableFuture.failedFuture(failure));
    }

    /** What a future failed with, seen through the wrappings of futures that depend on it. */
    public static Code code(Throwable failure) {
        Throwable cause = failure;
        while (!(cause instanceof KeeperException) && cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause instanceof KeeperException keeper ? keeper.code() : Code.SYSTEMERROR;
    }

    /** Whether the request may have been applied although nobody said so. A moved session's requests go the same way. */
    public static boolean isUnknown(Code code) {
        return switch (code) {
            case CONNECTIONLOSS, OPERATIONTIMEOUT, REQUESTTIMEOUT, SESSIONMOVED -> true;
            default -> false;
        };
    }

    /** Whether to wait for the next connection and ask again; if there is none, the session will say that it is over. */
    public static boolean mayAskAgain(KeeperException failure, Deadline deadline) {
        return failure.code() == Code.SESSIONEXPIRED || (isUnknown(failure.code()) && !deadline.hasPassed());
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
}
