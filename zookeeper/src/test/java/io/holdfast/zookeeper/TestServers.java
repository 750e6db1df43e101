package io.holdfast.zookeeper;

import io.holdfast.servers.ZooKeeperServer;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;

/** Servers with a short tick that allow sessions from half a second to a minute. */
final class TestServers {

    static final Duration TICK = Duration.ofMillis(200);

    static final String[] SESSIONS = {"minSessionTimeout=400", "maxSessionTimeout=60000"};

    private TestServers() {}

    static ZooKeeperServer single() {
        return options(ZooKeeperServer.builder()).start();
    }

    static ZooKeeperServer.Builder options(ZooKeeperServer.Builder builder) {
        return builder.tick(TICK).args(SESSIONS);
    }

    static String uri(String connectString) {
        return "zookeeper://" + connectString + "/locks?tick=200ms";
    }

    static ZooKeeper client(String connectString) throws Exception {
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper client = new ZooKeeper(connectString, 30_000, event -> {
            if (event.getState() == KeeperState.SyncConnected) {
                connected.countDown();
            }
        });
        if (!connected.await(30, TimeUnit.SECONDS)) {
            throw new AssertionError("not connected to " + connectString);
        }
        return client;
    }
}
