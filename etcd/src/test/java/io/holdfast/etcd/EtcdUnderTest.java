package io.holdfast.etcd;

import io.holdfast.proxy.Direction;
import io.holdfast.proxy.TcpProxy;
import io.holdfast.servers.EtcdServer;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.StoreUri;
import io.holdfast.tck.Faults;
import io.holdfast.tck.Mortal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/** Members of etcd, each behind a proxy, in the words of the conformance kit. */
final class EtcdUnderTest implements AutoCloseable {

    private final List<EtcdServer> members;
    private final UnaryOperator<String> uri;
    private final Etcdctl etcdctl;
    private final List<TcpProxy> proxies = new ArrayList<>();
    private final List<TcpProxy> ways;

    /** @param uri the address of a store whose members are at the given hosts */
    EtcdUnderTest(List<EtcdServer> members, UnaryOperator<String> uri, Etcdctl etcdctl) {
        this.members = members;
        this.uri = uri;
        this.etcdctl = etcdctl;
        this.ways = newWays();
    }

    private List<TcpProxy> newWays() {
        List<TcpProxy> fresh =
                members.stream().map(member -> TcpProxy.to(member.address())).toList();
        proxies.addAll(fresh);
        return fresh;
    }

    private StoreFactory through(List<TcpProxy> those) {
        String hosts = those.stream().map(way -> "127.0.0.1:" + way.port()).collect(Collectors.joining(","));
        return new EtcdStores().store(StoreUri.parse(uri.apply(hosts)));
    }

    StoreFactory store() {
        return through(ways);
    }

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

    /** Messages, so that those on the watch stream count too. */
    long requestsReceived() {
        return members.stream()
                .mapToLong(member -> new Metrics(member).sum("grpc_server_msg_received_total"))
                .sum();
    }

    List<String> leftovers(String name) {
        return etcdctl.keys("holdfast/" + name + "/");
    }

    @Override
    public void close() {
        proxies.forEach(TcpProxy::close);
    }
}
