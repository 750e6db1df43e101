package io.holdfast.etcd.ticket;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** What was last seen of some keys, of so many at most: beyond that a new one takes the place of any other. Thread-safe. */
final class Remembered<K, V> {

    private final Map<K, V> seen = new ConcurrentHashMap<>();
    private final int most;

    Remembered(int most) {
        this.most = most;
    }

    Optional<V> of(K key) {
        return Optional.ofNullable(seen.get(key));
    }

    void put(K key, V what) {
        if (seen.size() >= most && !seen.containsKey(key)) {
            seen.keySet().stream().findAny().ifPresent(seen::remove);
        }
        seen.put(key, what);
    }

    void forget(K key) {
        seen.remove(key);
    }
}
