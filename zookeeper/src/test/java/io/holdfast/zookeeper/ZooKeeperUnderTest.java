package io.holdfast.zookeeper;

import io.holdfast.proxy.Direction;
import io.holdfast.proxy.TcpProxy;
import io.holdfast.servers.ZooKeeperServer;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.StoreUri;
import io.holdfast.tck.Faults;
import io.holdfast.tck.Mortal;
import io.holdfast.zookeeper.tree.NodeNames;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;

/** Servers, each behind a proxy, in the words of the conformance kit. */
final class ZooKeeperUnderTest implements AutoCloseable {

    /** Long enough that a busy machine keeps sessions alive, short enough to wait for. */
    static final Duration SHORT_TTL = Duration.ofMillis(1000);

    private final List<ZooKeeperServer> servers;
    private final CountedRequests counted = new CountedRequests();
    private final List<TcpProxy> proxies = new ArrayList<>();
    private final List<TcpProxy> ways;

    ZooKeeperUnderTest(List<ZooKeeperServer> servers) {
        this.servers = servers;
        this.ways = newWays();
    }

    private List<TcpProxy> newWays() {
        List<TcpProxy> fresh = servers.stream()
                .map(server -> TcpProxy.to(server.address(), counted))
                .toList();
        proxies.addAll(fresh);
        return fresh;
    }

    private StoreFactory through(List<TcpProxy> those) {
        String hosts = those.stream().map(way -> "127.0.0.1:" + way.port()).collect(Collectors.joining(","));
        return new ZooKeeperStores().store(StoreUri.parse(TestServers.uri(hosts)));
    }

    StoreFactory store() {
        return through(ways);
    }

    Faults faults() {
        return new Faults() {
            @Override
            public void delayReplies(Duration delay) {
                ways.forEach(way -> way.delay(Direction.TO_CLIENT, delay));
            }

            @Override
            public void cut() {
                ways.forEach(TcpProxy::cut);
            }

            @Override
            public void heal() {
                ways.forEach(TcpProxy::heal);
            }
        };
    }

    /** ZooKeeper's client keeps its session alive whatever its user does, so dying takes a connection that is cut. */
    Mortal mortal() {
        List<TcpProxy> own = newWays();
        return new Mortal() {
            @Override
            public StoreFactory store() {
                return through(own);
            }

            @Override
            public void die() {
                own.forEach(TcpProxy::cut);
            }

            @Override
            public void revive() {
                own.forEach(TcpProxy::heal);
            }
        };
    }

    OptionalLong requestsReceived() {
        return OptionalLong.of(counted.total());
    }

    List<String> leftovers(String name) {
        try (ZooKeeper admin = TestServers.client(servers.get(0).connectString())) {
            return admin.getChildren("/locks/" + NodeNames.directory(name), false);
        } catch (KeeperException.NoNodeException e) {
            return List.of();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() {
        proxies.forEach(TcpProxy::close);
    }
}
