package io.holdfast.torture.mutant;

import io.holdfast.StoreUnavailableException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/** The way from one client to the store, on which requests and replies take as long as a test says. Thread-safe. */
final class Wire {

    /** What passes. */
    enum Message {
        ASK,
        RENEW,
        RELEASE,
        WITHDRAW
    }

    private final Map<Message, Duration> requestDelays = new ConcurrentHashMap<>();
    private final Map<Message, Duration> replyDelays = new ConcurrentHashMap<>();
    private final Map<Message, AtomicInteger> answered = new ConcurrentHashMap<>();
    private volatile boolean cut;

    void delayRequests(Message message, Duration by) {
        requestDelays.put(message, by);
    }

    void delayReplies(Message message, Duration by) {
        replyDelays.put(message, by);
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
        take(requestDelays.getOrDefault(message, Duration.ZERO));
        T reply = request.get();
        take(replyDelays.getOrDefault(message, Duration.ZERO));
        counter(message).incrementAndGet();
        return reply;
    }

    private AtomicInteger counter(Message message) {
        return answered.computeIfAbsent(message, unused -> new AtomicInteger());
    }

    /** Lets time pass, whatever happens in it. */
    static void take(Duration time) {
        long end = System.nanoTime() + time.toNanos();
        for (long left = time.toNanos(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }
}
