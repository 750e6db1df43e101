package io.holdfast.torture.cell;

import io.holdfast.proxy.Direction;
import io.holdfast.proxy.TcpProxy;
import io.holdfast.torture.nemesis.Healing;
import io.holdfast.torture.nemesis.PlannedFault;
import io.holdfast.torture.stand.Stand;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The network between workers and servers: one proxy for each of them and each server, so that one client can be cut off
 * from one server. Without proxies where clients would pass them by. Thread-safe.
 */
final class Network implements AutoCloseable {

    private final Stand stand;
    private final Duration ttl;
    private final List<List<TcpProxy>> byWorker = new ArrayList<>();

    Network(Stand stand, int workers, Duration ttl) {
        this.stand = stand;
        this.ttl = ttl;
        for (int i = 0; i < workers; i++) {
            byWorker.add(stand.addresses().stream().map(TcpProxy::to).toList());
        }
    }

    /** The store as that worker reaches it. */
    String uri(int worker) {
        List<InetSocketAddress> dialled =
                byWorker.get(worker).stream().map(TcpProxy::address).toList();
        return stand.uri(dialled);
    }

    /** Disturbs what lies between a worker and the servers: most often all of them, else one. */
    Optional<Healing> begin(PlannedFault fault, int worker) {
        List<TcpProxy> all = byWorker.get(worker);
        if (all.isEmpty()) {
            return Optional.empty();
        }
        boolean one = all.size() > 1 && fault.pick("one server", 4) == 0;
        List<TcpProxy> hit = one ? List.of(all.get(fault.pick("server", all.size()))) : all;
        hit.forEach(proxy -> disturb(proxy, fault));
        String servers = all.size() == 1 ? "" : one ? " and one server" : " and all servers";
        return Optional.of(Healing.of("worker " + worker + servers, () -> hit.forEach(TcpProxy::heal)));
    }

    /** Lets requests of a worker through and keeps the answers back, until {@link #heal}. */
    void holdAnswers(int worker) {
        byWorker.get(worker).forEach(proxy -> proxy.cut(Direction.TO_CLIENT));
    }

    void heal(int worker) {
        byWorker.get(worker).forEach(TcpProxy::heal);
    }

    private void disturb(TcpProxy proxy, PlannedFault fault) {
        switch (fault.fault()) {
            case CUT -> proxy.cut();
            case CUT_REQUESTS -> {
                // Lost for good, or held back and delivered late: both happen.
                if (fault.pick("late", 2) == 0) {
                    proxy.cut(Direction.TO_SERVER);
                } else {
                    proxy.swallow(Direction.TO_SERVER);
                }
            }
            case CUT_REPLIES -> {
                if (fault.pick("late", 2) == 0) {
                    proxy.cut(Direction.TO_CLIENT);
                } else {
                    proxy.dropReplies();
                }
            }
            case DELAY -> {
                double periods = 0.5 + 2.5 * fault.fraction("delay");
                long periodMillis = ttl.toMillis() / 3;
                // Both ways together.
                proxy.delay(Duration.ofMillis(Math.round(periodMillis * periods / 2)));
            }
            case RESET -> proxy.resetConnections();
            default -> throw new IllegalArgumentException(fault.fault() + " is not a fault of networks");
        }
    }

    @Override
    public void close() {
        byWorker.forEach(proxies -> proxies.forEach(TcpProxy::close));
    }
}
