package io.holdfast.redis.channel;

import io.holdfast.redis.server.DeadlineSockets;
import io.holdfast.redis.server.Failures;
import io.holdfast.redis.server.Node;
import io.holdfast.redis.server.Replies;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.StoreContext;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Listens on this client's own channel of one server, on one thread, and subscribes again whenever the connection breaks.
 *
 * <p>Messages may be lost, so after every subscription {@code subscribed} is called to look at what happened meanwhile.
 */
final class Subscriber implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(Subscriber.class.getName());

    /** How often a silent connection is asked for a sign of life. */
    private static final Duration PING_EVERY = Duration.ofSeconds(5);
    /** Heartbeats make up for a subscription that is dead without showing it, so this need not be short. */
    private static final Duration SILENCE = Duration.ofSeconds(15);

    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration FIRST_PAUSE = Duration.ofMillis(20);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);
    /** How long a subscription under way is worth waiting for: it takes milliseconds, unless something is wrong. */
    private static final Duration WORTH_WAITING = Duration.ofSeconds(1);

    private final StoreContext context;
    private final String channelPrefix;
    private final Function<Deadline, Node> server;
    private final Consumer<Node> failed;
    private final Function<Connection, String> channel;
    private final BooleanSupplier isForgotten;
    private final Runnable subscribed;
    private final Consumer<String> receiver;
    private final SubscriptionState state;
    private final Thread thread;
    private volatile @Nullable Connection open;
    private volatile @Nullable Node openAt;
    private boolean hasWarned;
    private boolean hasTriedRights;
    private volatile StoreContext.@Nullable Alarm ping;

    /**
     * @param channelPrefix what channels begin with
     * @param role what the thread is called for
     * @param server finds the server, whenever it is subscribed to
     * @param failed is told of a server to which the connection broke
     * @param channel asks a server for the name of this client's channel there
     * @param isForgotten asked after it could not subscribe: whether it need not try again
     * @param subscribed runs after every confirmed subscription
     * @param receiver gets the messages
     */
    Subscriber(
            StoreContext context,
            String channelPrefix,
            String role,
            Function<Deadline, Node> server,
            Consumer<Node> failed,
            Function<Connection, String> channel,
            BooleanSupplier isForgotten,
            Runnable subscribed,
            Consumer<String> receiver) {
        this.context = context;
        this.channelPrefix = channelPrefix;
        this.server = server;
        this.failed = failed;
        this.channel = channel;
        this.isForgotten = isForgotten;
        this.subscribed = subscribed;
        this.receiver = receiver;
        this.state = new SubscriptionState(context.time(), WORTH_WAITING);
        this.thread = new Thread(this::run, "holdfast-" + context.clientName() + "-" + role);
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    SubscriptionState state() {
        return state;
    }

    @Override
    public void close() {
        state.end();
        thread.interrupt();
        cancelPing();
        disconnect();
    }

    /** Breaks the connection if it leads to that server. */
    void reconnect(Node node) {
        if (openAt == node) {
            disconnect();
        }
    }

    private void run() {
        Duration pause = FIRST_PAUSE;
        while (!state.isEnded()) {
            long confirmedBefore = state.confirmations();
            boolean inTrouble = false;
            Node node = null;
            try {
                node = server.apply(Deadline.after(context.time(), CONNECT_TIMEOUT));
                listen(node);
            } catch (RuntimeException | Error e) {
                // Of whatever kind: a client that no longer listens would lose every grant announced to it.
                inTrouble = e instanceof Error;
                report(node, e);
            }
            // Only a server that cannot be heard at all is left alone for longer: who does not listen is passed over.
            boolean confirmed = state.confirmations() > confirmedBefore;
            if (!confirmed && !state.isEnded() && isForgotten.getAsBoolean()) {
                state.end();
                return;
            }
            pause = confirmed && !inTrouble ? FIRST_PAUSE : min(pause.multipliedBy(2), LONGEST_PAUSE);
            rest(pause);
        }
    }

    private void report(@Nullable Node node, Throwable trouble) {
        if (!state.isEnded()) {
            System.Logger.Level level =
                    trouble instanceof Error ? System.Logger.Level.WARNING : System.Logger.Level.DEBUG;
            LOG.log(level, "a subscription broke; subscribing again", trouble);
            if (trouble instanceof JedisException refused) {
                warnOfMissingRight(
                        refused,
                        "the Redis user may not listen where locks are handed over, so waiters get them only when they"
                                + " ask: every third of their ttl. ");
            }
            if (node != null) {
                failed.accept(node);
            }
        }
    }

    /** Nothing fails without it, so nobody would notice but by how long everything takes. */
    private void warnOfMissingRight(JedisException refused, String consequence) {
        if (!hasWarned && Failures.isRefusal(refused)) {
            hasWarned = true;
            LOG.log(
                    System.Logger.Level.WARNING,
                    consequence + "Give it the rights to its channels, as docs/stores/redis.acl does: resetchannels &"
                            + channelPrefix + "* +subscribe +publish +pubsub|numsub (" + refused.getMessage() + ")");
        }
    }

    private void rest(Duration pause) {
        long until = context.time().nanoTime() + pause.toNanos();
        while (!state.isEnded() && until - context.time().nanoTime() > 0) {
            context.time().parkUntil(this, until);
            // An interrupt is how close() hurries us; nobody else sends one.
            Thread.interrupted();
        }
    }

    private void listen(Node node) {
        Node.LentConnection lent = node.open(Deadline.after(context.time(), CONNECT_TIMEOUT));
        Connection connection = lent.connection();
        open = connection;
        openAt = node;
        try {
            if (state.isEnded()) {
                return;
            }
            connection.setSoTimeout((int) SILENCE.toMillis());
            String name = channel.apply(connection);
            tryRights(connection, name);
            connection.sendCommand(Command.SUBSCRIBE, name);
            Object reply = connection.getOne();
            schedulePing(connection);
            while (!state.isEnded()) {
                handle(reply);
                reply = connection.getUnflushedObject();
            }
        } finally {
            state.lose();
            cancelPing();
            open = null;
            openAt = null;
            node.drop(lent);
        }
    }

    /** Asks who listens and tells them something, as scripts do, once, on a channel of nobody's. */
    private void tryRights(Connection connection, String name) {
        if (hasTriedRights) {
            return;
        }
        connection.sendCommand(Command.PUBSUB, "NUMSUB", name + ":trial");
        connection.sendCommand(Command.PUBLISH, name + ":trial", "");
        for (Object answer : connection.getMany(2)) {
            if (answer instanceof JedisException refused) {
                warnOfMissingRight(
                        refused,
                        "the Redis user may not tell others that a lock is theirs, so who waits behind one of its leases"
                                + " gets the lock only when it asks: every third of its ttl. ");
            }
        }
        hasTriedRights = true;
    }

    private void handle(Object reply) {
        if (reply instanceof List<?> parts && parts.size() == 3) {
            String kind = Replies.text(parts.get(0));
            if (kind.equals("message")) {
                receiver.accept(Replies.text(parts.get(2)));
            } else if (kind.equals("subscribe")) {
                state.confirm();
                subscribed.run();
            }
        }
    }

    private void schedulePing(Connection connection) {
        long at = context.time().nanoTime() + PING_EVERY.toNanos();
        ping = context.timer().at(at, () -> context.background().execute(() -> ping(connection)));
    }

    /** Only this task writes on a subscribed connection; the answer is one more reply for the listener to skip. */
    private void ping(Connection connection) {
        if (!state.isEnded() && open == connection) {
            try {
                connection.sendCommand(Command.PING);
                // Flushes, and reads nothing: that is the listener's part.
                connection.getMany(0);
                schedulePing(connection);
                trimIdle();
            } catch (JedisException e) {
                // The listener sees it too.
            }
        }
    }

    private void trimIdle() {
        Node node = openAt;
        if (node != null) {
            node.closeLongIdle();
        }
    }

    private void cancelPing() {
        StoreContext.Alarm alarm = ping;
        if (alarm != null) {
            alarm.cancel();
        }
    }

    private void disconnect() {
        Connection connection = open;
        if (connection != null) {
            DeadlineSockets.cut(connection);
        }
    }

    private static Duration min(Duration a, Duration b) {
        return a.compareTo(b) < 0 ? a : b;
    }
}
