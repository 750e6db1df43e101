package io.holdfast.zookeeper;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Consumer;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;

/**
 * Brings the watch events of one session to the places that wait for them.
 *
 * <p>One watcher object for everything: ZooKeeper's client keeps one watch per path and watcher, so those who give up
 * waiting again and again on one long-held lock leave a single watch, not one each. Thread-safe.
 */
final class WatchHub implements Watcher {

    private final ConcurrentMap<String, Set<Place>> waiting = new ConcurrentHashMap<>();
    private final Consumer<KeeperState> states;

    /** @param states hears of the session's state, which reaches every watcher */
    WatchHub(Consumer<KeeperState> states) {
        this.states = states;
    }

    void register(String path, Place place) {
        waiting.compute(path, (key, places) -> {
            Set<Place> more = places == null ? ConcurrentHashMap.newKeySet() : places;
            more.add(place);
            return more;
        });
    }

    void unregister(String path, Place place) {
        waiting.computeIfPresent(path, (key, places) -> {
            places.remove(place);
            return places.isEmpty() ? null : places;
        });
    }

    @Override
    public void process(WatchedEvent event) {
        if (event.getType() == EventType.None) {
            // A failed SASL login is followed by an event without a state.
            if (event.getState() != null) {
                states.accept(event.getState());
            }
            return;
        }
        Set<Place> places = waiting.remove(event.getPath());
        if (places != null) {
            boolean deleted = event.getType() == EventType.NodeDeleted;
            Place.forEach(places, place -> place.changed(event.getPath(), deleted));
        }
    }
}
