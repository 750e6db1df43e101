package io.holdfast.etcd;

import io.holdfast.servers.Direction;
import io.holdfast.servers.EtcdServer;
import io.holdfast.servers.TcpProxy;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.StoreUri;
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

@DisplayName("etcd")
class EtcdConformanceTest extends LockStoreContract {

    private static final List<TcpProxy> PROXIES = new ArrayList<>();

    private static EtcdServer server;
    private static TcpProxy proxy;

    @BeforeAll
    static void startServer() {
        server = EtcdServer.start();
        proxy = TcpProxy.to(server.address());
    }

    @AfterAll
    static void stopServer() {
        PROXIES.forEach(TcpProxy::close);
        PROXIES.clear();
        proxy.close();
        server.close();
    }

    private static StoreFactory through(TcpProxy way) {
        return new EtcdStores().store(StoreUri.parse("etcd://127.0.0.1:" + way.port()));
    }

    @Override
    public StoreFactory store() {
        return through(proxy);
    }

    @Override
    public Duration shortTtl() {
        return Duration.ofSeconds(2);
    }

    @Override
    public Mortal mortal() {
        TcpProxy own = TcpProxy.to(server.address());
        PROXIES.add(own);
        return new Mortal() {
            @Override
            public StoreFactory store() {
                return through(own);
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

    @Override
    public Optional<Faults> faults() {
        return Optional.of(new Faults() {
            @Override
            public void delayReplies(Duration delay) {
                proxy.delay(Direction.TO_CLIENT, delay);
            }

            @Override
            public void cut() {
                proxy.cut();
            }

            @Override
            public void heal() {
                proxy.heal();
            }
        });
    }

    /** Messages, so that those on the watch stream count too. */
    @Override
    public OptionalLong requestsReceived() {
        return OptionalLong.of(new Metrics(server).sum("grpc_server_msg_received_total"));
    }

    @Override
    public Optional<List<String>> leftovers(String name) {
        return Optional.of(new Etcdctl(server.endpoint()).keys("holdfast/" + name + "/"));
    }
}
