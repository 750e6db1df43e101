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
final class NodeAnswers<T> {

    /**
     * What one node said.
     *
     * @param node which one
     * @param answer what it said, or null if it failed
     * @param failure why it failed, or null if it answered
     */
    record NodeAnswer<T>(
            int node, @Nullable T answer, @Nullable RuntimeException failure) {

        /** It failed, and not in one of the ways that rule out that the node did what it was asked. */
        boolean mayBeApplied() {
            return failure != null
                    && !(failure instanceof StoreUnavailableException)
                    && !(failure instanceof UnsupportedLockException);
        }
    }

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final List<@Nullable NodeAnswer<T>> answers;
    private final int expected;
    private final int majority;
    private int count;

    /**
     * @param nodes how many there are
     * @param expected how many of them were asked
     * @param majority how many have to answer
     */
    NodeAnswers(int nodes, int expected, int majority) {
        this.expected = expected;
        this.majority = majority;
        answers = new ArrayList<>(nodes);
        for (int i = 0; i < nodes; i++) {
            answers.add(null);
        }
    }

    void add(NodeAnswer<T> answer) {
        lock.lock();
        try {
            if (answers.set(answer.node(), answer) == null) {
                count++;
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Waits until all have answered or failed, what is there so far decides, or their time is over. Returns the answers given. */
    List<NodeAnswer<T>> await(AnswerTime time, Predicate<List<NodeAnswer<T>>> decides) {
        boolean interrupted = false;
        lock.lock();
        try {
            while (count < expected && !decides.test(given()) && !deadline(time).hasPassed()) {
                try {
                    changed.awaitNanos(deadline(time).remainingNanos());
                } catch (InterruptedException e) {
                    // Requests are not interruptible: the engine looks at the flag between them.
                    interrupted = true;
                }
            }
            return given();
        } finally {
            lock.unlock();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private Deadline deadline(AnswerTime time) {
        return count(given(), any -> true) < majority ? time.longest() : time.usual();
    }

    private List<NodeAnswer<T>> given() {
        List<NodeAnswer<T>> present = new ArrayList<>(count);
        for (NodeAnswer<T> answer : answers) {
            if (answer != null) {
                present.add(answer);
            }
        }
        return present;
    }

    static <T> long count(List<NodeAnswer<T>> answers, Predicate<T> wanted) {
        return answers.stream()
                .filter(answer -> answer.answer() != null && wanted.test(answer.answer()))
                .count();
    }

    static long failures(List<? extends NodeAnswer<?>> answers) {
        return answers.stream().filter(answer -> answer.failure() != null).count();
    }
}
