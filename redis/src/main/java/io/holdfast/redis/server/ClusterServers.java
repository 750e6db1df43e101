package io.holdfast.redis.server;

import io.holdfast.spi.Deadline;
import io.holdfast.spi.support.Uninterruptibly;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.exceptions.JedisMovedDataException;
import redis.clients.jedis.exceptions.JedisRedirectionException;

/**
 * The primaries of a cluster, each serving some of the slots.
 *
 * <p>The map of slots is read from any node that answers, when first needed and when a slot's server has failed; single
 * redirections correct it in between. A dead server does not delay the slots of others.
 */
public final class ClusterServers implements Topology {

    private static final int SLOTS = 16_384;
    private static final Duration ASK_TIMEOUT = Duration.ofMillis(500);

    private final List<HostAndPort> seeds;
    private final Function<HostAndPort, Node> nodeAt;
    private final Map<HostAndPort, Node> nodes = new ConcurrentHashMap<>();
    private final AtomicReferenceArray<HostAndPort> slots = new AtomicReferenceArray<>(SLOTS);
    /** One thread reads the map; the others wait for it, no longer than their deadlines. */
    private final ReentrantLock reading = new ReentrantLock();

    /** Servers that failed a request since the map was read: only their slots are looked up again. */
    private final Set<HostAndPort> suspected = ConcurrentHashMap.newKeySet();

    private volatile boolean closed;

    public ClusterServers(List<HostAndPort> seeds, Function<HostAndPort, Node> nodeAt) {
        this.seeds = List.copyOf(seeds);
        this.nodeAt = nodeAt;
    }

    @Override
    public Node nodeOf(int slot, Deadline deadline) {
        if (!isKnown(slot)) {
            refresh(() -> isKnown(slot), deadline);
        }
        HostAndPort known = slots.get(slot);
        if (known == null) {
            throw new JedisConnectionException("no server of the cluster serves slot " + slot + " now");
        }
        return node(known);
    }

    private Node node(HostAndPort address) {
        Node node = nodes.computeIfAbsent(address, nodeAt);
        if (closed) {
            node.close();
        }
        return node;
    }

    private boolean isKnown(int slot) {
        HostAndPort known = slots.get(slot);
        return known != null && !suspected.contains(known);
    }

    /** Reads the map, unless somebody else has done it meanwhile. */
    private void refresh(BooleanSupplier isDone, Deadline deadline) {
        if (!Uninterruptibly.await(deadline, reading::tryLock)) {
            throw new JedisConnectionException("no server of the cluster answered in time");
        }
        try {
            if (isDone.getAsBoolean()) {
                return;
            }
            List<String> said = new ArrayList<>();
            for (HostAndPort address : whomToAsk()) {
                try {
                    read(node(address), deadline.within(ASK_TIMEOUT));
                    suspected.clear();
                    return;
                } catch (JedisException e) {
                    said.add(address + ": " + e.getMessage());
                }
            }
            throw new JedisConnectionException("no server of the cluster answers (" + String.join("; ", said) + ")");
        } finally {
            reading.unlock();
        }
    }

    /** Those first who serve slots, as far as known, and have not failed us. */
    private Set<HostAndPort> whomToAsk() {
        Set<HostAndPort> ask = serving();
        ask.addAll(seeds);
        ask.removeAll(suspected);
        ask.addAll(seeds);
        ask.addAll(nodes.keySet());
        return ask;
    }

    /** CLUSTER SLOTS: ranges, each {from, to, {host, port, …} of its primary, replicas …}. */
    private void read(Node node, Deadline deadline) {
        Node.LentConnection lent = node.borrow(Node.Urgency.EXTRA, deadline);
        try {
            List<?> ranges = (List<?>) lent.call(deadline, Command.CLUSTER, "SLOTS");
            if (ranges.isEmpty()) {
                // It was reset, or taken out of the cluster: what it does not know says nothing about the others.
                throw new JedisException("it knows of nobody who serves slots");
            }
            for (Object range : ranges) {
                assign((List<?>) range, node);
            }
            node.giveBack(lent);
        } catch (RuntimeException | Error e) {
            node.drop(lent);
            throw e;
        }
    }

    private void assign(List<?> range, Node asked) {
        List<?> primary = (List<?>) range.get(2);
        String host = primary.get(0) == null ? "" : Replies.text(primary.get(0));
        if (host.isEmpty()) {
            // It does not know its own address: it is the one we asked.
            host = asked.id().substring(0, asked.id().lastIndexOf(':'));
        }
        HostAndPort address = new HostAndPort(host, ((Long) primary.get(1)).intValue());
        for (long slot = (Long) range.get(0); slot <= (Long) range.get(1); slot++) {
            slots.set((int) slot, address);
        }
    }

    @Override
    public String serverOf(int slot) {
        HostAndPort known = slots.get(slot);
        return known == null ? "" : known.toString();
    }

    @Override
    public Node node(String server, Deadline deadline) {
        if (server.isEmpty()) {
            return nodeOf(0, deadline);
        }
        return node(HostAndPort.from(server));
    }

    @Override
    public boolean isServing(String server) {
        return server.isEmpty() || serving().contains(HostAndPort.from(server));
    }

    @Override
    public boolean spansSlots() {
        return false;
    }

    @Override
    public List<Node> primaries(Deadline deadline) {
        // A server that has joined or left shows in no answer of the others.
        refresh(() -> false, deadline);
        return serving().stream().map(this::node).toList();
    }

    private Set<HostAndPort> serving() {
        Set<HostAndPort> serving = new LinkedHashSet<>();
        for (int slot = 0; slot < SLOTS; slot++) {
            HostAndPort address = slots.get(slot);
            if (address != null) {
                serving.add(address);
            }
        }
        return serving;
    }

    @Override
    public void suspect(Node node) {
        suspected.add(HostAndPort.from(node.id()));
    }

    @Override
    public boolean failsOver() {
        return true;
    }

    @Override
    public Node follow(JedisRedirectionException redirection) {
        HostAndPort target = redirection.getTargetNode();
        if (redirection instanceof JedisMovedDataException) {
            slots.set(redirection.getSlot(), target);
        }
        return node(target);
    }

    @Override
    public void close() {
        closed = true;
        nodes.values().forEach(Node::close);
    }
}
