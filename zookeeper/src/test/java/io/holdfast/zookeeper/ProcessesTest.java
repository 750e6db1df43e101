package io.holdfast.zookeeper;

import io.holdfast.servers.ZooKeeperServer;
import io.holdfast.tck.process.KilledProcessesContract;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;

@Tag("full")
@DisplayName("Processes that contend for a lock in ZooKeeper")
class ProcessesTest extends KilledProcessesContract {

    private final ZooKeeperServer server = TestServers.single();

    @AfterEach
    void stop() {
        server.close();
    }

    @Override
    protected String uri() {
        return TestServers.uri(server.connectString());
    }

    @Override
    protected boolean isClean(String lock) throws Exception {
        try (ZooKeeper admin = TestServers.client(server.connectString())) {
            return admin.getChildren("/locks/" + lock, false).isEmpty();
        }
    }
}
