package io.holdfast.redis;

import io.holdfast.spi.Deadline;
import io.holdfast.spi.StoreContext;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
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
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private final StoreContext context;
    private final Function<Deadline, Node> server;
    private final Consumer<Node> failed;
    private final Function<Connection, String> channel;
    private final Runnable subscribed;
    private final Consumer<String> message;
    private final Hearing hearing;
    private final Thread thread;
    private volatile Node.@Nullable Line line;
    private volatile StoreContext.@Nullable Alarm ping;

    Subscriber(
            StoreContext context,
            String role,
            Function<Deadline, Node> server,
            Consumer<Node> failed,
            Function<Connection, String> channel,
            Runnable subscribed,
            Consumer<String> message) {
        this.context = context;
        this.server = server;
        this.failed = failed;
        this.channel = channel;
        this.subscribed = subscribed;
        this.message = message;
        this.hearing = new Hearing(context.time(), PATIENCE);
        this.thread = new Thread(this::run, "holdfast-" + context.clientName() + "-" + role);
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    Hearing hearing() {
        return hearing;
    }

    @Override
    public void close() {
        hearing.end();
        thread.interrupt();
        StoreContext.Alarm alarm = ping;
        if (alarm != null) {
            alarm.cancel();
        }
        disconnect(line);
    }

    private void run() {
        Duration pause = FIRST_PAUSE;
        while (!hearing.isOver()) {
            long roundBefore = hearing.round();
            boolean inTrouble = false;
            Node node = null;
            try {
                node = server.apply(Deadline.after(context.time(), CONNECT_TIMEOUT));
                listen(node);
            } catch (RuntimeException | Error e) {
                // Of whatever kind: a client that no longer listens would lose every grant announced to it.
                inTrouble = e instanceof Error;
                if (!hearing.isOver()) {
                    System.Logger.Level level = inTrouble ? System.Logger.Level.WARNING : System.Logger.Level.DEBUG;
                    LOG.log(level, "a subscription broke; subscribing again", e);
                    if (node != null) {
                        failed.accept(node);
                    }
                }
            }
            // Only a server that cannot be heard at all is left alone for longer: who does not listen is passed over.
            boolean heard = hearing.round() > roundBefore;
            pause = heard && !inTrouble ? FIRST_PAUSE : min(pause.multipliedBy(2), LONGEST_PAUSE);
            rest(pause);
        }
    }

    private void rest(Duration pause) {
        long until = context.time().nanoTime() + pause.toNanos();
        while (!hearing.isOver() && until - context.time().nanoTime() > 0) {
            context.time().parkUntil(this, until);
            // An interrupt is how close() hurries us; nobody else sends one.
            Thread.interrupted();
        }
    }

    private void listen(Node node) {
        Node.Line opened = node.open(Deadline.after(context.time(), CONNECT_TIMEOUT));
        line = opened;
        try {
            if (hearing.isOver()) {
                return;
            }
            Connection connection = opened.connection();
            connection.setSoTimeout((int) SILENCE.toMillis());
            connection.sendCommand(Command.SUBSCRIBE, channel.apply(connection));
            Object reply = connection.getOne();
            schedulePing(connection);
            while (!hearing.isOver()) {
                handle(reply);
                reply = connection.getUnflushedObject();
            }
        } finally {
            hearing.lose();
            StoreContext.Alarm alarm = ping;
            if (alarm != null) {
                alarm.cancel();
            }
            line = null;
            node.drop(opened);
        }
    }

    private void handle(Object reply) {
        if (reply instanceof List<?> parts && parts.size() == 3) {
            String kind = text(parts.get(0));
            if (kind.equals("message")) {
                message.accept(text(parts.get(2)));
            } else if (kind.equals("subscribe")) {
                hearing.begin();
                subscribed.run();
            }
        }
    }

    private void schedulePing(Connection connection) {
        long at = context.time().nanoTime() + PING_EVERY.toNanos();
        ping = context.timer()
                .at(
                        at,
                        () -> context.background().execute(() -> {
                            Node.Line current = line;
                            if (!hearing.isOver() && current != null && current.connection() == connection) {
                                try {
                                    // Only this task writes on a subscribed connection; its answer is one more reply to
                                    // skip.
                                    connection.sendCommand(Command.PING);
                                    // Flushes, and reads nothing: that is the listener's part.
                                    connection.getMany(0);
                                    schedulePing(connection);
                                } catch (JedisException e) {
                                    // The reader sees it too.
                                }
                            }
                        }));
    }

    private static void disconnect(Node.@Nullable Line open) {
        if (open != null) {
            try {
                open.connection().forceDisconnect();
            } catch (java.io.IOException | JedisException e) {
                // Broken is what it should be.
            }
        }
    }

    private static Duration min(Duration a, Duration b) {
        return a.compareTo(b) < 0 ? a : b;
    }

    private static String text(Object part) {
        return part instanceof byte[] bytes ? new String(bytes, StandardCharsets.UTF_8) : String.valueOf(part);
    }
}
