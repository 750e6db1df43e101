package io.holdfast.zookeeper;

import io.holdfast.proxy.TcpProxy;
import io.holdfast.servers.ZooKeeperServer;
import io.holdfast.servers.wire.TlsClients;
import io.holdfast.servers.wire.TlsMaterial;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.StoreUri;
import io.holdfast.tck.LockStoreContract;
import io.holdfast.tck.Mortal;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/** Over TLS with client certificates, and with nodes that only our credentials may touch. */
@Tag("full")
@ExtendWith(SessionsCannotGrow.class)
class SecuredConformanceTest extends LockStoreContract {

    private static TlsMaterial tls;
    private static ZooKeeperServer server;

    @BeforeAll
    static void start() {
        tls = TlsMaterial.generate();
        server = TestServers.options(ZooKeeperServer.builder().tls(tls, TlsClients.CERTIFIED))
                .start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Override
    public StoreFactory store() {
        return at(server.port());
    }

    @Override
    public Duration shortTtl() {
        return ZooKeeperUnderTest.SHORT_TTL;
    }

    @Override
    public Mortal mortal() {
        TcpProxy own = TcpProxy.to(server.address());
        return new Mortal() {
            @Override
            public StoreFactory store() {
                return at(own.port());
            }

            @Override
            public void die() {
                own.cut();
            }

            @Override
            public void revive() {
                own.heal();
            }
        };
    }

    private static StoreFactory at(int port) {
        return new ZooKeeperStores()
                .store(StoreUri.parse("zookeepers://app:s3cret@127.0.0.1:" + port + "/locks?tick=100ms&trustStore="
                        + tls.trustStore() + "&trustStorePassword=" + TlsMaterial.STORE_PASSWORD + "&keyStore="
                        + tls.clientKeyStore() + "&keyStorePassword=" + TlsMaterial.STORE_PASSWORD));
    }
}
