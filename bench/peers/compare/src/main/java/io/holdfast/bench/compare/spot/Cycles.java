package io.holdfast.bench.compare.spot;

import io.holdfast.bench.Contender;
import io.holdfast.bench.ContenderSpec;
import java.util.Map;

/** Takes and returns one lock in this JVM, and says how long that took. Not thread-safe. */
final class Cycles implements AutoCloseable {

    private final Contender contender;
    private final Contender.Mutex mutex;

    private Cycles(Contender contender, String lock) {
        this.contender = contender;
        this.mutex = contender.mutex(lock);
    }

    static Cycles of(ContenderSpec spec, Map<String, String> settings, String lock) throws Exception {
        Contender.Factory factory = (Contender.Factory)
                Class.forName(spec.factory()).getDeclaredConstructor().newInstance();
        return new Cycles(factory.open(settings), lock);
    }

    /** Microseconds, the median of so many. */
    double median(int count) throws Exception {
        return Timed.median(count, () -> mutex.acquire().release());
    }

    @Override
    public void close() throws Exception {
        mutex.close();
        contender.close();
    }
}
