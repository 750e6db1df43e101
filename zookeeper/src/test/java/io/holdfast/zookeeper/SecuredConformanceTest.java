package io.holdfast.zookeeper;

import io.holdfast.servers.TlsClients;
import io.holdfast.servers.TlsMaterial;
import io.holdfast.servers.ZooKeeperServer;
import io.holdfast.spi.StoreFactory;
import io.holdfast.tck.Faults;
import io.holdfast.tck.LockStoreContract;
import io.holdfast.tck.Mortal;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/** Over TLS with client certificates, and with nodes that only our credentials may touch. */
@Tag("full")
@ExtendWith(SessionsCannotGrow.class)
class SecuredConformanceTest extends LockStoreContract {

    private static ZooKeeperServer server;
    private static ZooKeeperUnderTest subject;

    @BeforeAll
    static void start() {
        TlsMaterial tls = TlsMaterial.generate();
        server = TestServers.options(ZooKeeperServer.builder().tls(tls, TlsClients.CERTIFIED))
                .start();
        String stores = "&trustStore=" + tls.trustStore() + "&trustStorePassword=" + TlsMaterial.STORE_PASSWORD
                + "&keyStore=" + tls.clientKeyStore() + "&keyStorePassword=" + TlsMaterial.STORE_PASSWORD;
        subject = new ZooKeeperUnderTest(
                server, hosts -> "zookeepers://app:s3cret@" + hosts + "/locks?tick=100ms" + stores);
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
}
