package io.holdfast.etcd;

import io.holdfast.servers.EtcdServer;
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
import org.junit.jupiter.api.DisplayName;

@DisplayName("etcd")
class EtcdConformanceTest extends LockStoreContract {

    private static EtcdServer server;
    private static EtcdUnderTest subject;

    @BeforeAll
    static void startServer() {
        server = EtcdServer.start();
        subject = new EtcdUnderTest(List.of(server), hosts -> "etcd://" + hosts, new Etcdctl(server.endpoint()));
    }

    @AfterAll
    static void stopServer() {
        subject.close();
        server.close();
    }

    @Override
    public StoreFactory store() {
        return subject.store();
    }

    @Override
    public Duration shortTtl() {
        return Duration.ofSeconds(2);
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
        return OptionalLong.of(subject.requestsReceived());
    }

    @Override
    public Optional<List<String>> leftovers(String name) {
        return Optional.of(subject.leftovers(name));
    }
}
