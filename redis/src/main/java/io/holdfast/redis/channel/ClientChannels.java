package io.holdfast.redis.channel;

import io.holdfast.redis.server.Node;
import io.holdfast.redis.server.Replies;
import io.holdfast.redis.server.Topology;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.StoreContext;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;

/** This client's standing channels, one per server, subscribed when first needed. Thread-safe. */
public final class ClientChannels implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(ClientChannels.class.getName());

    private final String prefix;
    private final String base;
    private final StoreContext context;
    private final Topology topology;
    private final Consumer<String> subscribed;
    private final Consumer<Message> receiver;
    private final Map<String, Subscriber> subscribers = new ConcurrentHashMap<>();
    private volatile boolean closed;

    /**
     * @param prefix what channels begin with
     * @param subscribed is told the name of a server after every subscription there
     * @param receiver gets the messages
     */
    public ClientChannels(
            String prefix,
            StoreContext context,
            Topology topology,
            Consumer<String> subscribed,
            Consumer<Message> receiver) {
        this.prefix = prefix;
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
    public String nameForScripts() {
        return topology.spansSlots() ? base : base + "@";
    }

    private String nameAt(Connection server) {
        if (topology.spansSlots()) {
            return base;
        }
        server.sendCommand(Command.CLUSTER, "MYID");
        return nameForScripts() + Replies.text(server.getOne());
    }

    /** How often a subscription at that server was confirmed; grows before what waits there is checked. */
    public long subscriptions(String server) {
        Subscriber subscriber = subscribers.get(server);
        return subscriber == null ? 0 : subscriber.state().confirmations();
    }

    /** Whether that server cannot reach us now, but could in a moment if somebody listened. */
    public boolean couldHearSoon(String server) {
        Subscriber subscriber = subscribers.get(server);
        return subscriber == null ? !closed : subscriber.state().isExpected();
    }

    /** Makes sure somebody listens at that server, if there is a thread for it. Returns at once. */
    public void listen(String server) {
        if (!subscribers.containsKey(server) && !closed) {
            try {
                subscribers.computeIfAbsent(server, this::subscribe);
            } catch (RuntimeException | Error e) {
                // Whoever calls has an answer of the server's, which counts; and every renewal calls again.
                LOG.log(System.Logger.Level.DEBUG, "cannot listen on " + base, e);
            }
            if (closed) {
                close();
            }
        }
    }

    /** Makes sure somebody listens at that server, and waits for it while there is hope. */
    public void listen(String server, Deadline deadline) {
        listen(server);
        Subscriber subscriber = subscribers.get(server);
        if (subscriber != null) {
            subscriber.state().await(deadline);
        }
    }

    /** That server does not serve any more, whatever its address leads to now: listens there anew. */
    public void reconnect(Node node) {
        subscribers.values().forEach(subscriber -> subscriber.reconnect(node));
    }

    private Subscriber subscribe(String server) {
        String role = subscribers.isEmpty() ? "redis-subscriber" : "redis-subscriber-" + subscribers.size();
        Subscriber subscriber = new Subscriber(
                context,
                prefix,
                role,
                deadline -> topology.node(server, deadline),
                topology::suspect,
                this::nameAt,
                () -> forgetUnlessServing(server),
                () -> subscribed.accept(server),
                this::receive);
        subscriber.start();
        return subscriber;
    }

    /** A server that cannot be heard and serves nothing any more has left the cluster. Returns whether it is forgotten. */
    private boolean forgetUnlessServing(String server) {
        if (topology.isServing(server)) {
            return false;
        }
        subscribers.remove(server);
        return true;
    }

    private void receive(String text) {
        Message message;
        try {
            message = Message.parse(text);
        } catch (IllegalArgumentException e) {
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
