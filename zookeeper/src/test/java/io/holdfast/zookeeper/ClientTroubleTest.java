package io.holdfast.zookeeper;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.LossReason;
import io.holdfast.servers.ZooKeeperServer;
import io.holdfast.spi.Grant;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("When something goes wrong within the client")
class ClientTroubleTest {

    private static final Duration TTL = Duration.ofSeconds(2);

    private static ZooKeeperServer server;

    private final AtomicInteger told = new AtomicInteger();
    private StoreBench bench;

    @BeforeAll
    static void startServer() {
        server = TestServers.single();
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @BeforeEach
    void open() {
        bench = StoreBench.at(TestServers.uri(server.connectString()), TTL);
    }

    @AfterEach
    void close() {
        bench.background.refuses = false;
        bench.close();
    }

    private static Session sessionOf(Grant grant) {
        return ((Place) Objects.requireNonNull(grant.handle())).session();
    }

    @Test
    void whatIsToBeDoneOnAConnectionIsDoneLaterIfItCannotBeHandedOver() {
        Session session = sessionOf(bench.acquire("later"));
        bench.background.refuses = true;
        session.afterReconnect(told::incrementAndGet);
        assertThat(bench.background.refusals).hasPositiveValue();
        bench.background.refuses = false;

        await().until(() -> told.get() == 1);
    }

    @Test
    void P5_pulsesGoOnAfterASweepThatCouldNotBeHandedOver() throws Exception {
        bench.acquire("pulses");
        bench.background.refuses = true;
        await().until(() -> bench.background.refusals.get() > 0);
        bench.background.refuses = false;

        StoreBench.Lost lost = bench.losses.poll(10, SECONDS);

        assertThat(lost).isNotNull();
        assertThat(lost.reason()).isEqualTo(LossReason.EXPIRED);
    }
}
