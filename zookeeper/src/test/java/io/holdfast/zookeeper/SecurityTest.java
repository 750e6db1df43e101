package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.StoreUnavailableException;
import io.holdfast.servers.ZooKeeperServer;
import io.holdfast.servers.wire.TlsClients;
import io.holdfast.servers.wire.TlsMaterial;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.StoreUri;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import javax.security.auth.login.AppConfigurationEntry;
import javax.security.auth.login.Configuration;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SecurityTest {

    private static final Duration TTL = Duration.ofSeconds(30);

    @Test
    void onlyWhoHasTheCredentialsMayTakePart() throws Exception {
        try (ZooKeeperServer server = TestServers.single()) {
            String hosts = server.connectString();
            try (StoreBench ours = StoreBench.at("zookeeper://app:s3cret@" + hosts + "/private?tick=100ms", TTL);
                    StoreBench same = StoreBench.at("zookeeper://app:s3cret@" + hosts + "/private?tick=100ms", TTL);
                    StoreBench others = StoreBench.at("zookeeper://" + hosts + "/private?tick=100ms", TTL)) {
                TestTicket grant = ours.acquire("orders");

                assertThat(same.refusal("orders")).isPresent();
                assertThatThrownBy(() -> others.refusal("orders"))
                        .isInstanceOf(StoreUnavailableException.class)
                        .hasMessageContaining("denies access")
                        .hasMessageNotContaining("s3cret");
                assertThat(ours.release(grant)).isEqualTo(ReleaseAnswer.RELEASED);
                assertThat(same.refusal("orders")).isEmpty();
            }
            ZooKeeper admin = TestServers.client(hosts);
            admin.addAuthInfo("digest", "app:s3cret".getBytes(StandardCharsets.UTF_8));
            assertThat(admin.getACL("/private/orders", new Stat()))
                    .allSatisfy(acl -> assertThat(acl.getId().getScheme()).isEqualTo("digest"));
            admin.close();
        }
    }

    @Test
    void locksGoOverTlsWithAClientCertificate() {
        TlsMaterial tls = TlsMaterial.generate();
        try (ZooKeeperServer server = TestServers.options(
                        ZooKeeperServer.builder().tls(tls, TlsClients.CERTIFIED))
                .start()) {
            String stores = "&trustStore=" + tls.trustStore() + "&trustStorePassword=" + TlsMaterial.STORE_PASSWORD
                    + "&keyStore=" + tls.clientKeyStore() + "&keyStorePassword=" + TlsMaterial.STORE_PASSWORD;
            try (StoreBench bench =
                    StoreBench.at("zookeepers://127.0.0.1:" + server.port() + "/locks?tick=100ms" + stores, TTL)) {
                TestTicket grant = bench.acquire("sealed");
                assertThat(bench.release(grant)).isEqualTo(ReleaseAnswer.RELEASED);
            }
            try (StoreBench stranger =
                    StoreBench.at("zookeepers://127.0.0.1:" + server.port() + "/locks?tick=100ms", TTL)) {
                assertThatThrownBy(() -> stranger.refusal("sealed", stranger.within(Duration.ofSeconds(2))))
                        .isInstanceOf(StoreUnavailableException.class);
            }
        }
    }

    @Test
    void whoIsKnownBySaslOwnsItsNodes(@TempDir Path directory) throws Exception {
        Path jaas = Files.writeString(
                directory.resolve("jaas.conf"),
                "Server { org.apache.zookeeper.server.auth.DigestLoginModule required user_app=\"s3cret\"; };\n");
        Configuration before = Configuration.getConfiguration();
        Configuration.setConfiguration(loginOf("app", "s3cret"));
        System.setProperty("zookeeper.fips-mode", "false"); // it forbids DIGEST-MD5
        try (ZooKeeperServer server = TestServers.options(ZooKeeperServer.builder())
                        .args("authProvider.sasl=org.apache.zookeeper.server.auth.SASLAuthenticationProvider")
                        .env(
                                "JAVA_TOOL_OPTIONS",
                                "-Dzookeeper.fips-mode=false -Djava.security.auth.login.config=" + jaas)
                        .start();
                StoreBench bench = StoreBench.at(
                        "zookeeper://" + server.connectString() + "/locks?tick=100ms&sasl=HoldfastClient", TTL)) {
            bench.acquire("orders");

            ZooKeeper stranger = TestServers.client(server.connectString());
            assertThatThrownBy(() -> stranger.getChildren("/locks/orders", false))
                    .isInstanceOf(KeeperException.NoAuthException.class);
            stranger.close();
        } finally {
            Configuration.setConfiguration(before);
            System.clearProperty("zookeeper.fips-mode");
        }
    }

    private static Configuration loginOf(String user, String password) {
        return new Configuration() {
            @Override
            public AppConfigurationEntry @Nullable [] getAppConfigurationEntry(String section) {
                // Only our section: other clients of this test are nobody.
                return !section.equals("HoldfastClient")
                        ? null
                        : new AppConfigurationEntry[] {
                            new AppConfigurationEntry(
                                    "org.apache.zookeeper.server.auth.DigestLoginModule",
                                    AppConfigurationEntry.LoginModuleControlFlag.REQUIRED,
                                    Map.of("username", user, "password", password))
                        };
            }
        };
    }

    @Test
    void mistakesInTheUriAreSaidWithoutItsCredentials() {
        assertWrong("zookeeper:locks", "a host is missing");
        assertWrong("zookeeper://u:s3cret@h:2181/locks?ticks=2s", "unknown parameter 'ticks'");
        assertWrong("zookeeper://h/locks?acl=mine", "'acl'");
        assertWrong("zookeeper://h/locks?layout=mine", "'layout'");
        assertWrong("zookeeper://h/locks?trustStore=/x", "zookeepers://");
        assertWrong("zookeeper://h/a//b", "empty node name");
        assertWrong("zookeeper://h/locks?tick=0ms", "at least 1 ms");
    }

    private static void assertWrong(String uri, String message) {
        assertThatThrownBy(() -> new ZooKeeperStores().store(StoreUri.parse(uri)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message)
                .hasMessageNotContaining("s3cret");
    }
}
