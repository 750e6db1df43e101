package io.holdfast.redis;

import io.holdfast.spi.Deadline;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Semaphore;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Keeps connections to one server on a stack: the one used last is the warmest.
 *
 * <p>Not a commons-pool: that one opens connections by its own timeouts, not by the deadline of the caller who needs it.
 */
final class PooledNode implements Node {

    /** A connection nobody uses, and since when. */
    private record Idle(Connection connection, long sinceNanos) {}

    /** Firewalls forget silent connections without a word; an old one may swallow a request until its deadline. */
    private static final long LONGEST_IDLE_NANOS = Duration.ofSeconds(60).toNanos();

    private final HostAndPort server;
    private final JedisClientConfig config;
    private final @Nullable SSLSocketFactory tls;
    private final ConcurrentLinkedDeque<Idle> idle = new ConcurrentLinkedDeque<>();
    private final Semaphore permits;
    private volatile boolean closed;

    PooledNode(HostAndPort server, JedisClientConfig config, @Nullable SSLSocketFactory tls, int connections) {
        this.server = server;
        this.config = config;
        this.tls = tls;
        this.permits = new Semaphore(connections);
    }

    @Override
    public String id() {
        return server.toString();
    }

    HostAndPort server() {
        return server;
    }

    @Override
    public Line borrow(Urgency urgency, Deadline deadline) {
        if (urgency == Urgency.SHARED) {
            await(deadline);
        }
        try {
            Idle warm = idle.pollFirst();
            if (warm != null && System.nanoTime() - warm.sinceNanos > LONGEST_IDLE_NANOS) {
                // Those below it on the stack are older still.
                disconnect(warm.connection);
                forgetIdle();
                warm = null;
            }
            return new Line(warm != null ? warm.connection : connect(deadline), urgency);
        } catch (RuntimeException | Error e) {
            release(urgency);
            throw e;
        }
    }

    private void release(Urgency urgency) {
        if (urgency == Urgency.SHARED) {
            permits.release();
        }
    }

    private void await(Deadline deadline) {
        if (!Uninterruptibly.await(deadline, permits::tryAcquire)) {
            throw new JedisConnectionException(
                    "all connections to " + server + " are in use; see the parameter 'connections'");
        }
    }

    @Override
    public Line open(Deadline deadline) {
        return new Line(connect(deadline), Urgency.EXTRA);
    }

    private Connection connect(Deadline deadline) {
        if (closed) {
            throw new JedisConnectionException("the store is closed");
        }
        try {
            return new Connection(new TimedSockets(server, tls, deadline), config);
        } catch (NoConnectionException e) {
            throw e;
        } catch (JedisException e) {
            throw NoConnectionException.refused(server, tls != null, config.getPassword() != null, e);
        }
    }

    @Override
    public void giveBack(Line line) {
        idle.addFirst(new Idle(line.connection(), System.nanoTime()));
        release(line.urgency());
        if (closed) {
            forgetIdle();
        }
    }

    @Override
    public void drop(Line line) {
        disconnect(line.connection());
        release(line.urgency());
    }

    @Override
    public void forgetIdle() {
        for (Idle next = idle.pollFirst(); next != null; next = idle.pollFirst()) {
            disconnect(next.connection);
        }
    }

    @Override
    public void close() {
        closed = true;
        forgetIdle();
    }

    private static void disconnect(Connection connection) {
        try {
            connection.forceDisconnect();
        } catch (IOException | JedisException e) {
            // It is gone either way.
        }
    }
}
