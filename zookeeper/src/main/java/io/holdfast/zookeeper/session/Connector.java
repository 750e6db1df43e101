package io.holdfast.zookeeper.session;

import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;

/** Where the ZooKeeper client of a session comes from. */
public interface Connector {

    /** Returns at once; whether it connects shows later. */
    ZooKeeper connect(Duration timeout, Watcher watcher, ConnectAttempts attempts) throws IOException;

    /** Says who we are, once, on the first connection and before any other request. */
    void authenticate(ZooKeeper client);

    /** Which servers refuse connections, and how, if all do. To be asked when none could be had; takes a moment. */
    default Optional<String> refusals() {
        return Optional.empty();
    }

    /** Whether the client is ours: then each session gets its own and closes it, and hears of its state. */
    boolean isOwn();
}
