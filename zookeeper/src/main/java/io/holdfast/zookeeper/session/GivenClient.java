package io.holdfast.zookeeper.session;

import java.time.Duration;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;

/** A client the user already has: never closed by us, never replaced when its session ends. */
public record GivenClient(ZooKeeper client) implements Connector {

    @Override
    public ZooKeeper connect(Duration timeout, Watcher watcher, ConnectAttempts attempts) {
        return client;
    }

    /** Its user has seen to that. */
    @Override
    public void authenticate(ZooKeeper ours) {}

    @Override
    public boolean isOwn() {
        return false;
    }
}
