package io.holdfast.redis.server;

import io.holdfast.spi.Deadline;
import io.holdfast.spi.support.Uninterruptibly;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * One primary for all locks, found and found again by asking Sentinels.
 *
 * <p>Nobody listens to the Sentinels: a primary that no longer serves shows in the next request, which then asks. A node whose
 * role has changed answers READONLY, which counts as such.
 */
public final class SentinelServers implements Topology {

    /** Asking one Sentinel must leave time for the next. */
    private static final Duration ASK_TIMEOUT = Duration.ofMillis(500);

    private final List<Node> sentinels;
    private final String master;
    private final Function<HostAndPort, Node> nodes;
    /** One thread asks; the others wait for its answer, no longer than their deadlines. */
    private final ReentrantLock asking = new ReentrantLock();

    private volatile @Nullable Primary primary;

    /** Who serves; suspected until a Sentinel has named it again. */
    private record Primary(HostAndPort address, Node node, boolean suspected) {}

    public SentinelServers(List<Node> sentinels, String master, Function<HostAndPort, Node> nodes) {
        this.sentinels = List.copyOf(sentinels);
        this.master = master;
        this.nodes = nodes;
    }

    @Override
    public Node nodeOf(int slot, Deadline deadline) {
        Primary known = primary;
        if (known != null && !known.suspected) {
            return known.node;
        }
        if (!Uninterruptibly.await(deadline, asking::tryLock)) {
            throw new JedisConnectionException("no Sentinel answered in time");
        }
        try {
            Primary now = primary;
            if (now != null && !now.suspected) {
                return now.node;
            }
            HostAndPort address = ask(deadline);
            if (now != null && now.address.equals(address)) {
                primary = new Primary(address, now.node, false);
                return now.node;
            }
            if (now != null) {
                now.node.close();
            }
            Node node = nodes.apply(address);
            primary = new Primary(address, node, false);
            return node;
        } finally {
            asking.unlock();
        }
    }

    private HostAndPort ask(Deadline deadline) {
        List<String> said = new ArrayList<>();
        for (Node sentinel : sentinels) {
            try {
                return ask(sentinel, deadline.within(ASK_TIMEOUT));
            } catch (JedisException e) {
                said.add(sentinel.id() + ": " + e.getMessage());
            }
        }
        throw new JedisConnectionException(
                "no Sentinel names a primary '" + master + "' (" + String.join("; ", said) + ")");
    }

    private HostAndPort ask(Node sentinel, Deadline deadline) {
        Node.LentConnection lent = sentinel.open(deadline);
        try {
            Object reply = lent.call(deadline, Command.SENTINEL, "get-master-addr-by-name", master);
            if (reply instanceof List<?> address && address.size() == 2) {
                return new HostAndPort(Replies.text(address.get(0)), Integer.parseInt(Replies.text(address.get(1))));
            }
            throw new JedisException("does not know it");
        } finally {
            sentinel.drop(lent);
        }
    }

    @Override
    public void suspect(Node node) {
        Primary known = primary;
        if (known != null && known.node == node && !known.suspected && asking.tryLock()) {
            try {
                Primary now = primary;
                if (now != null && now.node == node) {
                    primary = new Primary(now.address, node, true);
                }
            } finally {
                asking.unlock();
            }
        }
    }

    @Override
    public boolean failsOver() {
        return true;
    }

    @Override
    public void close() {
        Primary known = primary;
        if (known != null) {
            known.node.close();
        }
        sentinels.forEach(Node::close);
    }
}
