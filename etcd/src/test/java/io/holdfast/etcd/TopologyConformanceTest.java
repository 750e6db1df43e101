package io.holdfast.etcd;

import io.holdfast.servers.EtcdCluster;
import io.holdfast.servers.EtcdServer;
import io.holdfast.servers.TlsClients;
import io.holdfast.servers.TlsMaterial;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.StoreUri;
import io.holdfast.tck.LockStoreContract;
import java.time.Duration;
import java.util.stream.Collectors;
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

    private static final Duration SHORT = Duration.ofSeconds(2);

    @Nested
    @TestInstance(Lifecycle.PER_CLASS)
    @DisplayName("three members")
    class ThreeMembers extends LockStoreContract {

        private EtcdCluster cluster;

        @BeforeAll
        void start() {
            cluster = EtcdCluster.start();
        }

        @AfterAll
        void stop() {
            cluster.close();
        }

        @Override
        public StoreFactory store() {
            String hosts = cluster.nodes().stream()
                    .map(node -> "127.0.0.1:" + node.port())
                    .collect(Collectors.joining(","));
            return new EtcdStores().store(StoreUri.parse("etcd://" + hosts));
        }

        @Override
        public Duration shortTtl() {
            return SHORT;
        }
    }

    @Nested
    @TestInstance(Lifecycle.PER_CLASS)
    @DisplayName("TLS with client certificates, and a login with the least rights")
    class Secured extends LockStoreContract {

        private final TlsMaterial tls = TlsMaterial.generate();
        private EtcdServer server;

        @BeforeAll
        void start() {
            server = EtcdServer.builder()
                    .tls(tls, TlsClients.CERTIFIED)
                    .args("--auth-token-ttl", "2", "--bcrypt-cost", "4")
                    .start();
            Users.create(new Etcdctl(
                    server.endpoint(),
                    "--cacert",
                    tls.authorityCertificate().toString(),
                    "--cert",
                    tls.clientCertificate().toString(),
                    "--key",
                    tls.clientKey().toString()));
        }

        @AfterAll
        void stop() {
            server.close();
        }

        @Override
        public StoreFactory store() {
            return new EtcdStores()
                    .store(StoreUri.parse("etcds://" + Users.LOGIN + "@127.0.0.1:" + server.port() + "?ca="
                            + tls.authorityCertificate() + "&cert=" + tls.clientCertificate() + "&key="
                            + tls.clientKey()));
        }

        @Override
        public Duration shortTtl() {
            return SHORT;
        }
    }
}
