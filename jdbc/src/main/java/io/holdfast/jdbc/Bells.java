package io.holdfast.jdbc;

import io.holdfast.spi.RingingStore.Bell;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** Who of this client waits for which lock. Thread-safe. */
final class Bells {

    private final Map<String, List<Runnable>> listeners = new ConcurrentHashMap<>();

    Bell listen(String name, Runnable ring) {
        listeners.compute(name, (key, rings) -> {
            List<Runnable> all = rings == null ? new CopyOnWriteArrayList<>() : rings;
            all.add(ring);
            return all;
        });
        return () -> listeners.computeIfPresent(name, (key, rings) -> {
            rings.remove(ring);
            return rings.isEmpty() ? null : rings;
        });
    }

    boolean isListened(String name) {
        return listeners.containsKey(name);
    }

    void ring(String name) {
        List<Runnable> rings = listeners.get(name);
        if (rings != null) {
            rings.forEach(Runnable::run);
        }
    }
}
