package io.holdfast.torture.mutant;

import io.holdfast.StoreUnavailableException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The way from one client to the store, on which requests and replies are held up as a test says. Thread-safe. */
final class Wire {

    /** What passes. */
    enum Message {
        ASK,
        RENEW,
        RELEASE,
        WITHDRAW
    }

    private final Map<Message, CountDownLatch> requestsHeld = new ConcurrentHashMap<>();
    private final Map<Message, CountDownLatch> repliesHeld = new ConcurrentHashMap<>();
    private final Map<Message, AtomicInteger> answered = new ConcurrentHashMap<>();
    private volatile boolean cut;

    /** From now on these requests are under way until {@link #deliver}. */
    void holdRequests(Message message) {
        requestsHeld.put(message, new CountDownLatch(1));
    }

    /** From now on the replies to these are under way until {@link #deliver}. */
    void holdReplies(Message message) {
        repliesHeld.put(message, new CountDownLatch(1));
    }

    /** Lets everything arrive. */
    void deliver() {
        requestsHeld.values().forEach(CountDownLatch::countDown);
        repliesHeld.values().forEach(CountDownLatch::countDown);
    }

    /** From now on nothing passes: to the others this client is dead. */
    void cut() {
        cut = true;
    }

    /** How many of these were answered. */
    int answered(Message message) {
        return counter(message).get();
    }

    <T> T pass(Message message, Supplier<T> request) {
        if (cut) {
            throw new StoreUnavailableException("*", "the wire is cut");
        }
        travel(requestsHeld.get(message));
        T reply = request.get();
        travel(repliesHeld.get(message));
        counter(message).incrementAndGet();
        return reply;
    }

    private AtomicInteger counter(Message message) {
        return answered.computeIfAbsent(message, unused -> new AtomicInteger());
    }

    private static void travel(@Nullable CountDownLatch held) {
        try {
            if (held != null && !held.await(10, TimeUnit.SECONDS)) {
                throw new IllegalStateException("never delivered");
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
