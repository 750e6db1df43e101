package io.holdfast.etcd;

import io.holdfast.servers.EtcdCluster;
import io.holdfast.servers.EtcdServer;
import io.holdfast.servers.wire.TlsClients;
import io.holdfast.servers.wire.TlsMaterial;
import io.holdfast.spi.StoreFactory;
import io.holdfast.tck.Faults;
import io.holdfast.tck.LockStoreContract;
import io.holdfast.tck.Mortal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

@Tag("full")
@DisplayName("etcd, in other ways")
class TopologyConformanceTest {

    abstract static class Topology extends LockStoreContract {

        abstract EtcdUnderTest subject();

        @Override
        public StoreFactory store() {
            return subject().store();
        }

        @Override
        public Duration shortTtl() {
            return Duration.ofSeconds(2);
        }

        @Override
        public Mortal mortal() {
            return subject().mortal();
        }

        @Override
        public Optional<Faults> faults() {
            return Optional.of(subject().faults());
        }

        @Override
        public Optional<List<String>> leftovers(String name) {
            return Optional.of(subject().leftovers(name));
        }
    }

    @Nested
    @TestInstance(Lifecycle.PER_CLASS)
    @DisplayName("three members")
    class ThreeMembers extends Topology {

        private EtcdCluster cluster;
        private EtcdUnderTest subject;

        @BeforeAll
        void start() {
            cluster = EtcdCluster.start();
            Etcdctl etcdctl = new Etcdctl(cluster.endpoints().get(0));
            subject = new EtcdUnderTest(cluster.nodes(), hosts -> "etcd://" + hosts, etcdctl);
        }

        @AfterAll
        void stop() {
            subject.close();
            cluster.close();
        }

        @Override
        EtcdUnderTest subject() {
            return subject;
        }

        @Override
        public OptionalLong requestsReceived() {
            return OptionalLong.of(subject.requestsReceived());
        }
    }

    @Nested
    @TestInstance(Lifecycle.PER_CLASS)
    @DisplayName("TLS with client certificates, and a login with the least rights")
    class Secured extends Topology {

        private final TlsMaterial tls = TlsMaterial.generate();
        private EtcdServer server;
        private EtcdUnderTest subject;

        @BeforeAll
        void start() {
            server = EtcdServer.builder()
                    .tls(tls, TlsClients.CERTIFIED)
                    .args("--auth-token-ttl", "2", "--bcrypt-cost", "4")
                    .start();
            Users.create(etcdctl());
            String files = "?ca=" + tls.authorityCertificate() + "&cert=" + tls.clientCertificate() + "&key="
                    + tls.clientKey();
            subject = new EtcdUnderTest(
                    List.of(server),
                    hosts -> "etcds://" + Users.LOGIN + "@" + hosts + files,
                    etcdctl("--user", Users.ADMIN));
        }

        private Etcdctl etcdctl(String... options) {
            List<String> all = new ArrayList<>(List.of(
                    "--cacert",
                    tls.authorityCertificate().toString(),
                    "--cert",
                    tls.clientCertificate().toString(),
                    "--key",
                    tls.clientKey().toString()));
            all.addAll(List.of(options));
            return new Etcdctl(server.endpoint(), all.toArray(String[]::new));
        }

        @AfterAll
        void stop() {
            subject.close();
            server.close();
        }

        @Override
        EtcdUnderTest subject() {
            return subject;
        }
    }
}
