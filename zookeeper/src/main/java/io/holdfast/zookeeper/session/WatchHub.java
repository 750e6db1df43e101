package io.holdfast.zookeeper.session;

import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Consumer;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.jspecify.annotations.Nullable;

/**
 * Brings the watch events of one session to those who wait for them.
 *
 * <p>One watcher object for everything: ZooKeeper's client keeps one watch per path and watcher, so those who give up
 * waiting again and again on one long-held lock leave a single watch, not one each. Thread-safe.
 */
public final class WatchHub implements Watcher {

    /** Waits for changes of nodes. */
    @FunctionalInterface
    public interface Listener {

        /** On ZooKeeper's event thread. */
        void changed(String path, EventType change);
    }

    private final ConcurrentMap<String, Listener> waiting = new ConcurrentHashMap<>();
    private final ConcurrentMap<String, Listener> following = new ConcurrentHashMap<>();
    private final Consumer<KeeperState> states;

    /** @param states hears of the session's state, which reaches every watcher */
    WatchHub(Consumer<KeeperState> states) {
        this.states = states;
    }

    /** Hears of one change of that node, alone. */
    public void register(String path, Listener listener) {
        waiting.put(path, listener);
    }

    public void unregister(String path, Listener listener) {
        waiting.remove(path, listener);
    }

    /** Hears of all changes of that directory and what is in it. */
    public void follow(String directory, Listener listener) {
        following.put(directory, listener);
    }

    public void unfollow(String directory, Listener listener) {
        following.remove(directory, listener);
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
        String path = event.getPath();
        tell(waiting.remove(path), event);
        tell(following.get(path), event);
        tell(following.get(path.substring(0, path.lastIndexOf('/'))), event);
    }

    private static void tell(@Nullable Listener listener, WatchedEvent event) {
        if (listener != null) {
            EachAlone.forEach(List.of(listener), one -> one.changed(event.getPath(), event.getType()));
        }
    }
}
