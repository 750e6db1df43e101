package io.holdfast.bench.compare.arena;

import io.holdfast.bench.Contender;
import java.io.IOException;
import java.util.Map;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;

/** Creates an ephemeral node and deletes it. Settings: {@code servers}. Thread-safe. */
public final class ZooKeeperFloor implements Contender {

    private static final byte[] NOTHING = {};

    private final ZooKeeper zooKeeper;

    private ZooKeeperFloor(ZooKeeper zooKeeper) {
        this.zooKeeper = zooKeeper;
    }

    /** Connects. */
    public static final class Factory implements Contender.Factory {

        @Override
        public Contender open(Map<String, String> settings) throws IOException {
            return new ZooKeeperFloor(new ZooKeeper(settings.get("servers"), (int) TTL.toMillis(), event -> {}));
        }
    }

    @Override
    public Mutex mutex(String name) {
        String path = "/floor-" + name.replace('/', '-');
        return () -> {
            String node = zooKeeper.create(path, NOTHING, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL_SEQUENTIAL);
            return () -> delete(node);
        };
    }

    private void delete(String node) throws InterruptedException, KeeperException {
        zooKeeper.delete(node, -1);
    }

    @Override
    public void close() throws InterruptedException {
        zooKeeper.close();
    }
}
