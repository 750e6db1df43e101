package io.holdfast.zookeeper;

import io.holdfast.servers.ZooKeeperServer;
import io.holdfast.spi.StoreFactory;
import io.holdfast.tck.Faults;
import io.holdfast.tck.LockStoreContract;
import io.holdfast.tck.Mortal;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(SessionsCannotGrow.class)
class ZooKeeperConformanceTest extends LockStoreContract {

    private static ZooKeeperServer server;
    private static ZooKeeperUnderTest subject;

    @BeforeAll
    static void start() {
        server = TestServers.single();
        subject = new ZooKeeperUnderTest(List.of(server));
    }

    @AfterAll
    static void stop() {
        subject.close();
        server.close();
    }

    @Override
    public StoreFactory store() {
        return subject.store();
    }

    @Override
    public Duration shortTtl() {
        return ZooKeeperUnderTest.SHORT_TTL;
    }

    @Override
    public Mortal mortal() {
        return subject.mortal();
    }

    @Override
    public Optional<Faults> faults() {
        return Optional.of(subject.faults());
    }

    @Override
    public OptionalLong requestsReceived() {
        return subject.requestsReceived();
    }

    @Override
    public Optional<List<String>> leftovers(String name) {
        return Optional.of(subject.leftovers(name));
    }
}
