package io.holdfast.quorum;

import io.holdfast.StoreUnavailableException;
import io.holdfast.UnsupportedLockException;
import io.holdfast.spi.Deadline;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What each node said to one question: an answer, a failure, or nothing yet. Thread-safe.
 *
 * @param <T> the answer
 */
final class Ballot<T> {

    /**
     * A node's word.
     *
     * @param node which one
     * @param answer what it said, or null if it failed
     * @param failure why it failed, or null if it answered
     */
    record Vote<T>(int node, @Nullable T answer, @Nullable RuntimeException failure) {

        /** It failed, and not in one of the ways that rule out that the node did what it was asked. */
        boolean mayBeApplied() {
            return failure != null
                    && !(failure instanceof StoreUnavailableException)
                    && !(failure instanceof UnsupportedLockException);
        }
    }

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final List<@Nullable Vote<T>> votes;
    private int cast;

    Ballot(int nodes) {
        votes = new ArrayList<>(nodes);
        for (int i = 0; i < nodes; i++) {
            votes.add(null);
        }
    }

    void cast(Vote<T> vote) {
        lock.lock();
        try {
            if (votes.set(vote.node(), vote) == null) {
                cast++;
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Waits until all have voted, what is there so far decides, or the deadline. Returns the votes cast. */
    List<Vote<T>> await(Deadline deadline, Predicate<List<Vote<T>>> decides) {
        boolean interrupted = false;
        lock.lock();
        try {
            while (cast < votes.size() && !decides.test(castVotes()) && !deadline.hasPassed()) {
                try {
                    long left = changed.awaitNanos(deadline.remainingNanos());
                    if (left <= 0 && deadline.hasPassed()) {
                        break;
                    }
                } catch (InterruptedException e) {
                    // Requests are not interruptible: the engine looks at the flag between them.
                    interrupted = true;
                }
            }
            return castVotes();
        } finally {
            lock.unlock();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private List<Vote<T>> castVotes() {
        List<Vote<T>> present = new ArrayList<>(cast);
        for (Vote<T> vote : votes) {
            if (vote != null) {
                present.add(vote);
            }
        }
        return present;
    }

    static <T> long count(List<Vote<T>> votes, Predicate<T> wanted) {
        return votes.stream()
                .filter(vote -> vote.answer() != null && wanted.test(vote.answer()))
                .count();
    }

    static long failures(List<? extends Vote<?>> votes) {
        return votes.stream().filter(vote -> vote.failure() != null).count();
    }
}
