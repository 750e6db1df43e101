package io.holdfast.zookeeper;

import io.holdfast.servers.Direction;
import io.holdfast.servers.TcpProxy;
import io.holdfast.servers.ZooKeeperServer;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.StoreUri;
import io.holdfast.tck.Faults;
import io.holdfast.tck.Mortal;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;

/** A server behind a proxy, in the words of the conformance kit. */
final class ZooKeeperUnderTest implements AutoCloseable {

    /** Long enough that a busy machine keeps sessions alive, short enough to wait for. */
    static final Duration SHORT_TTL = Duration.ofMillis(1000);

    private final InetSocketAddress address;
    private final CountedRequests counted = new CountedRequests();
    private final TcpProxy proxy;
    private final ZooKeeper admin;

    ZooKeeperUnderTest(ZooKeeperServer server) throws Exception {
        address = server.address();
        proxy = TcpProxy.to(address, counted);
        admin = TestServers.client(server.connectString());
    }

    StoreFactory store() {
        return through(proxy);
    }

    Faults faults() {
        return new Faults() {
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
        };
    }

    /** ZooKeeper's client keeps its session alive whatever its user does, so dying takes a connection that is cut. */
    Mortal mortal() {
        TcpProxy own = TcpProxy.to(address);
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

    OptionalLong requestsReceived() {
        return OptionalLong.of(counted.total());
    }

    List<String> leftovers(String name) {
        try {
            return admin.getChildren("/locks/" + NodeNames.directory(name), false);
        } catch (KeeperException.NoNodeException e) {
            return List.of();
        } catch (KeeperException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() throws Exception {
        admin.close();
        proxy.close();
    }

    private static StoreFactory through(TcpProxy proxy) {
        return new ZooKeeperStores().store(StoreUri.parse(TestServers.uri("127.0.0.1:" + proxy.port())));
    }
}
