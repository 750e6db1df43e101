package io.holdfast.bench.worker;

import io.holdfast.bench.Contender;
import java.util.Map;

/** Lets everybody in: what the bench must find out. */
public final class NoLock implements Contender {

    /** Makes one. */
    public static final class Factory implements Contender.Factory {

        @Override
        public Contender open(Map<String, String> settings) {
            return new NoLock();
        }
    }

    @Override
    public Mutex mutex(String name) {
        return () -> () -> {};
    }

    @Override
    public boolean isFree(String name) {
        return true;
    }

    @Override
    public void close() {}
}
