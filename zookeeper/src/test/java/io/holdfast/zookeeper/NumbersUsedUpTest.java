package io.holdfast.zookeeper;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.StoreUnavailableException;
import io.holdfast.servers.ZooKeeperServer;
import io.holdfast.spi.LockStore.Mode;
import io.holdfast.zookeeper.StoreBench.Renewed;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.server.DataTree;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The counter of a directory stops at 2^31 - 1: from then on that number is given to everybody. */
@DisplayName("A lock that was asked for two thousand million times without a minute's rest")
class NumbersUsedUpTest {

    private static final Duration TTL = Duration.ofSeconds(30);

    private ZooKeeperServer server;
    private StoreBench bench;
    private StoreBench other;

    @BeforeEach
    void wearOut() throws Exception {
        server = TestServers.single();
        try (StoreBench first = open()) {
            first.release(first.acquire("worn"));
        }
        server.kill();
        setNextNumber("/locks/worn", Integer.MAX_VALUE - 1);
        server.restart();
        bench = open();
        other = open();
    }

    @AfterEach
    void close() {
        bench.close();
        other.close();
        server.close();
    }

    @Test
    void P1_grantsNothingByANumberThatOthersMayHaveToo() throws Exception {
        TestTicket last = bench.acquire("worn");

        for (int i = 0; i < 10; i++) {
            TestTicket tooLate = other.ticket("worn");
            assertThatThrownBy(() -> other.store.request(tooLate.ticket, Mode.QUEUE, other.soon()))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("used up");
            assertThat(tooLate.grants).isEmpty();
        }

        assertThat(bench.renew(last)).isEqualTo(Renewed.KEPT);
        assertThat(children()).isOne();
    }

    @Test
    void P2_beginsAgainWithZeroAndALargerTokenOnceAllHaveLeft() throws Exception {
        TestTicket last = bench.acquire("worn");
        bench.release(last);

        TestTicket first = other.acquire("worn");
        TestTicket second = bench.queue("worn");

        assertThat(first.token()).isGreaterThan(last.token());
        other.release(first);
        assertThat(second.grants.poll(20, SECONDS)).isNotNull();
    }

    private int children() throws Exception {
        try (ZooKeeper admin = TestServers.client(server.connectString())) {
            return admin.getChildren("/locks/worn", false).size();
        }
    }

    private StoreBench open() {
        return StoreBench.at(TestServers.uri(server.connectString()), TTL);
    }

    /** In the data of a server that does not run. */
    private void setNextNumber(String directory, int number) throws Exception {
        File data;
        try (Stream<Path> files = Files.walk(server.directory())) {
            data = files.filter(file -> file.endsWith("zoo.cfg"))
                    .findFirst()
                    .orElseThrow()
                    .getParent()
                    .toFile();
        }
        FileTxnSnapLog log = new FileTxnSnapLog(data, data);
        DataTree tree = new DataTree();
        Map<Long, Integer> sessions = new HashMap<>();
        log.restore(tree, sessions, (header, transaction, digest) -> {});
        tree.getNode(directory).stat.setCversion(number);
        log.save(tree, new ConcurrentHashMap<>(sessions), true);
        log.close();
    }
}
