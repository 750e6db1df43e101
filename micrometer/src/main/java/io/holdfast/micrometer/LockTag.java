package io.holdfast.micrometer;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

/** Turns names of locks, of which there may be millions, into the few values of a tag. Thread-safe. */
final class LockTag {

    static final String OTHER = "other";

    private final UnaryOperator<String> naming;
    private final int most;
    private final Set<String> values = ConcurrentHashMap.newKeySet();
    private final AtomicInteger room;

    LockTag(UnaryOperator<String> naming, int most) {
        this.naming = naming;
        this.most = most;
        this.room = new AtomicInteger(most);
    }

    /** {@code stock} of {@code stock/sku-42}. */
    static String firstPart(String lock) {
        int slash = lock.indexOf('/');
        return slash > 0 ? lock.substring(0, slash) : lock;
    }

    String of(String lock) {
        String value = naming.apply(lock);
        if (values.contains(value)) {
            return value;
        }
        if (room.get() <= 0 || room.getAndDecrement() <= 0) {
            return OTHER;
        }
        if (!values.add(value)) {
            room.incrementAndGet(); // another thread was first
        }
        return value;
    }

    @Override
    public String toString() {
        return "LockTag[" + values.size() + " of " + most + "]";
    }
}
