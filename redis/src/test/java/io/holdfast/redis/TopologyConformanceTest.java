package io.holdfast.redis;

import io.holdfast.servers.RedisCluster;
import io.holdfast.servers.RedisReplicaSet;
import io.holdfast.servers.RedisSentinel;
import io.holdfast.servers.RedisServer;
import io.holdfast.servers.Server;
import io.holdfast.servers.wire.TlsMaterial;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.StoreUri;
import io.holdfast.tck.CoreStoreContract;
import io.holdfast.tck.LockStoreContract;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

@DisplayName("Conformance: Redis in other shapes")
class TopologyConformanceTest {

    /** Several servers share two cores with everything else. */
    private static final Duration SHORT_TTL = Duration.ofMillis(600);

    static StoreFactory store(String uri) {
        return new RedisStores().store(StoreUri.parse(uri));
    }

    static String hosts(List<? extends Server> servers) {
        return servers.stream().map(server -> "127.0.0.1:" + server.port()).collect(Collectors.joining(","));
    }

    static String sentinelUri(RedisReplicaSet set) {
        List<RedisSentinel> sentinels = set.sentinels();
        return "redis-sentinel://" + hosts(sentinels) + "/" + set.masterName();
    }

    static String clusterUri(RedisCluster cluster) {
        return "redis-cluster://" + hosts(cluster.nodes());
    }

    /** Nobody is promoted here, however long a busy machine keeps the primary silent. */
    private static RedisReplicaSet replicaSet() {
        return RedisReplicaSet.builder()
                .replicas(1)
                .downAfter(Duration.ofSeconds(30))
                .start();
    }

    /** Whose nodes do not take each other for dead on a busy machine. */
    private static RedisCluster cluster() {
        return RedisCluster.builder().nodeTimeout(Duration.ofSeconds(10)).start();
    }

    /** The line of docs/stores/redis.acl, with a password of its own. */
    static String minimalAcl() {
        try {
            return Files.readAllLines(Path.of("..", "docs", "stores", "redis.acl")).stream()
                    .filter(line -> line.startsWith("user "))
                    .map(line -> line.replace(">change-me", ">secret"))
                    .findFirst()
                    .orElseThrow();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    @Nested
    @TestInstance(Lifecycle.PER_CLASS)
    @DisplayName("Sentinel with a replica")
    class Sentinel extends CoreStoreContract {
        private RedisReplicaSet set;

        @BeforeAll
        void start() {
            set = replicaSet();
        }

        @AfterAll
        void stop() {
            set.close();
        }

        @Override
        public Duration shortTtl() {
            return SHORT_TTL;
        }

        @Override
        public StoreFactory store() {
            return TopologyConformanceTest.store(sentinelUri(set));
        }
    }

    @Nested
    @TestInstance(Lifecycle.PER_CLASS)
    @DisplayName("a cluster of three shards")
    class Cluster extends CoreStoreContract {
        private RedisCluster cluster;

        @BeforeAll
        void start() {
            cluster = TopologyConformanceTest.cluster();
        }

        @AfterAll
        void stop() {
            cluster.close();
        }

        @Override
        public Duration shortTtl() {
            return SHORT_TTL;
        }

        @Override
        public StoreFactory store() {
            return TopologyConformanceTest.store(clusterUri(cluster));
        }
    }

    @Nested
    @TestInstance(Lifecycle.PER_CLASS)
    @DisplayName("TLS, a user with a password and the minimal rights")
    class Tls extends CoreStoreContract {
        private RedisServer server;
        private final TlsMaterial material = TlsMaterial.generate();

        @BeforeAll
        void start() {
            server = RedisServer.builder()
                    .tls(material)
                    .acl("user default on nopass +@all ~* &*", minimalAcl())
                    .start();
        }

        @AfterAll
        void stop() {
            server.close();
        }

        @Override
        public Duration shortTtl() {
            return SHORT_TTL;
        }

        @Override
        public StoreFactory store() {
            return TopologyConformanceTest.store("rediss://holdfast:secret@127.0.0.1:" + server.port() + "?tls-ca="
                    + material.authorityCertificate());
        }
    }

    @Nested
    @Tag("full")
    @TestInstance(Lifecycle.PER_CLASS)
    @DisplayName("everything: Sentinel with a replica")
    class WholeSentinel extends LockStoreContract {
        private RedisReplicaSet set;

        @BeforeAll
        void start() {
            set = replicaSet();
        }

        @AfterAll
        void stop() {
            set.close();
        }

        @Override
        public Duration shortTtl() {
            return SHORT_TTL;
        }

        @Override
        public StoreFactory store() {
            return TopologyConformanceTest.store(sentinelUri(set));
        }
    }

    @Nested
    @Tag("full")
    @TestInstance(Lifecycle.PER_CLASS)
    @DisplayName("everything: a cluster of three shards")
    class WholeCluster extends LockStoreContract {
        private RedisCluster cluster;

        @BeforeAll
        void start() {
            cluster = TopologyConformanceTest.cluster();
        }

        @AfterAll
        void stop() {
            cluster.close();
        }

        @Override
        public Duration shortTtl() {
            return SHORT_TTL;
        }

        @Override
        public StoreFactory store() {
            return TopologyConformanceTest.store(clusterUri(cluster));
        }
    }

    @Nested
    @Tag("full")
    @TestInstance(Lifecycle.PER_CLASS)
    @DisplayName("everything: TLS with a password and the minimal rights")
    class WholeTls extends LockStoreContract {
        private RedisServer server;
        private final TlsMaterial material = TlsMaterial.generate();

        @BeforeAll
        void start() {
            server = RedisServer.builder()
                    .tls(material)
                    .acl("user default on nopass +@all ~* &*", minimalAcl())
                    .start();
        }

        @AfterAll
        void stop() {
            server.close();
        }

        @Override
        public Duration shortTtl() {
            return SHORT_TTL;
        }

        @Override
        public StoreFactory store() {
            return TopologyConformanceTest.store("rediss://holdfast:secret@127.0.0.1:" + server.port() + "?tls-ca="
                    + material.authorityCertificate());
        }
    }
}
