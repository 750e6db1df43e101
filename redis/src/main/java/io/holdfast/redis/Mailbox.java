package io.holdfast.redis;

import io.holdfast.spi.Deadline;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.StoreContext;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;

/** This client's standing channels, one per lane, subscribed when first needed. Thread-safe. */
final class Mailbox implements AutoCloseable {

    /**
     * What a script published to us: {@code kind owner number key}.
     *
     * @param kind granted, watch or forced
     * @param owner whom it is about
     * @param number the token, or the microseconds until a holder may be gone
     * @param key the lock key
     */
    record Message(String kind, OwnerId owner, long number, String key) {

        static Message parse(String text) {
            String[] parts = text.split(" ", 4);
            return new Message(parts[0], OwnerId.parse(parts[1]), Long.parseLong(parts[2]), parts[3]);
        }
    }

    private static final System.Logger LOG = System.getLogger(Mailbox.class.getName());

    private final String base;
    private final StoreContext context;
    private final Topology topology;
    private final Consumer<String> subscribed;
    private final Consumer<Message> receiver;
    private final Map<String, Subscriber> subscribers = new ConcurrentHashMap<>();
    private volatile boolean closed;

    Mailbox(
            String prefix,
            StoreContext context,
            Topology topology,
            Consumer<String> subscribed,
            Consumer<Message> receiver) {
        this.base = prefix + "client:" + context.clientId();
        this.context = context;
        this.topology = topology;
        this.subscribed = subscribed;
        this.receiver = receiver;
    }

    /**
     * Where scripts tell us things. In a cluster a server sees only its own subscribers, so each has a channel of its own, named
     * by the server itself: a request may be carried out by another than the one we had in mind.
     */
    String channel() {
        return topology.spansSlots() ? base : base + "@";
    }

    private String channelAt(Connection server) {
        if (topology.spansSlots()) {
            return base;
        }
        server.sendCommand(Command.CLUSTER, "MYID");
        return channel() + Views.text(server.getOne());
    }

    /** Grows with every subscription that comes up on that lane, before what waits is checked. */
    long round(String lane) {
        Subscriber subscriber = subscribers.get(lane);
        return subscriber == null ? 0 : subscriber.hearing().round();
    }

    /** Whether the server cannot reach us on that lane now, but could in a moment if somebody listened. */
    boolean mayHearSoon(String lane) {
        Subscriber subscriber = subscribers.get(lane);
        return subscriber == null ? !closed : subscriber.hearing().isExpected();
    }

    /** Makes sure somebody listens on that lane, if there is a thread for it. Returns at once. */
    void listen(String lane) {
        if (!subscribers.containsKey(lane) && !closed) {
            try {
                subscribers.computeIfAbsent(lane, this::subscribe);
            } catch (RuntimeException | Error e) {
                // Whoever calls has an answer of the server's, which counts; and every renewal calls again.
                LOG.log(System.Logger.Level.DEBUG, "cannot listen on " + base, e);
            }
            if (closed) {
                close();
            }
        }
    }

    /** Makes sure somebody listens on that lane, and waits for it while there is hope. */
    void listen(String lane, Deadline deadline) {
        listen(lane);
        Subscriber subscriber = subscribers.get(lane);
        if (subscriber != null) {
            subscriber.hearing().await(deadline);
        }
    }

    private Subscriber subscribe(String lane) {
        String role = subscribers.isEmpty() ? "redis-subscriber" : "redis-subscriber-" + subscribers.size();
        Subscriber subscriber = new Subscriber(
                context,
                role,
                deadline -> topology.nodeOfLane(lane, deadline),
                topology::suspect,
                this::channelAt,
                () -> subscribed.accept(lane),
                this::receive);
        subscriber.start();
        return subscriber;
    }

    private void receive(String text) {
        Message message;
        try {
            message = Message.parse(text);
        } catch (IllegalArgumentException | ArrayIndexOutOfBoundsException e) {
            LOG.log(System.Logger.Level.WARNING, "somebody else publishes on " + base);
            return;
        }
        receiver.accept(message);
    }

    @Override
    public void close() {
        closed = true;
        subscribers.values().forEach(Subscriber::close);
    }
}
