package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.UnsupportedLockException;
import io.holdfast.servers.ZooKeeperServer;
import io.holdfast.zookeeper.tree.QueueView;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.AsyncCallback.Create2Callback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class LongQueueTest {

    @Test
    void moreThanFifteenThousandInOneQueueIsAClearErrorThatLeavesNothing() throws Exception {
        try (ZooKeeperServer server = TestServers.single();
                StoreBench bench = StoreBench.at(TestServers.uri(server.connectString()), Duration.ofSeconds(30))) {
            ZooKeeper crowd = TestServers.client(server.connectString());
            bench.release(bench.acquire("crowded"));
            CountDownLatch there = new CountDownLatch(QueueView.LONGEST);
            Create2Callback arrived = (rc, path, context, name, stat) -> there.countDown();
            String node = "/locks/crowded/_c_00000000-0000-0000-0000-000000000000-lock-";
            for (int i = 0; i < QueueView.LONGEST; i++) {
                crowd.create(node, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL_SEQUENTIAL, arrived, null);
            }
            assertThat(there.await(120, TimeUnit.SECONDS)).isTrue();

            assertThatThrownBy(() -> bench.queue("crowded"))
                    .isInstanceOf(UnsupportedLockException.class)
                    .hasMessageContaining("15000");

            Stat queue = crowd.exists("/locks/crowded", false);
            Awaitility.await()
                    .atMost(Duration.ofSeconds(20))
                    .until(() -> crowd.exists("/locks/crowded", false).getNumChildren() == QueueView.LONGEST);
            assertThat(queue.getNumChildren()).isBetween(QueueView.LONGEST, QueueView.LONGEST + 1);
            crowd.close();
        }
    }
}
