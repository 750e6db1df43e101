package io.holdfast.bench.worker;

import io.holdfast.bench.Contender;
import java.util.Map;

/** Breaks when it is asked for. */
public final class FailingLock implements Contender {

    /** Makes one. */
    public static final class Factory implements Contender.Factory {

        @Override
        public Contender open(Map<String, String> settings) {
            return new FailingLock();
        }
    }

    @Override
    public Mutex mutex(String name) {
        return () -> {
            throw new IllegalStateException("out of order");
        };
    }

    @Override
    public void close() {}
}
