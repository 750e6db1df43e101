package io.holdfast.redis.server;

import io.holdfast.spi.Deadline;
import io.holdfast.spi.support.Uninterruptibly;
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
 * <p>No more than its limit and a few for what must not wait, and one for the subscriber; idle ones are closed after a while.
 *
 * <p>Not a commons-pool: that one opens connections by its own timeouts, not by the deadline of the caller who needs it.
 */
public final class PooledNode implements Node {

    /** A connection nobody uses, and since when. */
    private record Idle(Connection connection, long sinceNanos) {

        boolean isTooOld() {
            return System.nanoTime() - sinceNanos > LONGEST_IDLE_NANOS;
        }
    }

    /** Firewalls forget silent connections without a word; an old one may swallow a request until its deadline. */
    private static final long LONGEST_IDLE_NANOS = Duration.ofSeconds(60).toNanos();

    /** Renewals, releases and the clearing away of what failed come from a few threads each. */
    private static final int FEWEST_EXTRA = 4;

    private final HostAndPort server;
    private final JedisClientConfig config;
    private final @Nullable SSLSocketFactory tls;
    private final ConcurrentLinkedDeque<Idle> idle = new ConcurrentLinkedDeque<>();
    private final Semaphore shared;
    private final Semaphore extra;
    private volatile boolean closed;

    public PooledNode(HostAndPort server, JedisClientConfig config, @Nullable SSLSocketFactory tls, int connections) {
        this.server = server;
        this.config = config;
        this.tls = tls;
        this.shared = new Semaphore(connections);
        this.extra = new Semaphore(Math.max(FEWEST_EXTRA, connections / 8));
    }

    @Override
    public String id() {
        return server.toString();
    }

    @Override
    public LentConnection borrow(Urgency urgency, Deadline deadline) {
        Semaphore permits = permit(urgency, deadline);
        try {
            Idle warm = idle.pollFirst();
            if (warm != null && warm.isTooOld()) {
                // Those below it on the stack are older still.
                DeadlineSockets.cut(warm.connection);
                closeIdle();
                warm = null;
            }
            return new LentConnection(warm != null ? warm.connection : connect(deadline), permits::release);
        } catch (RuntimeException | Error e) {
            permits.release();
            throw e;
        }
    }

    /** Of those all share, or of the few that are kept for what must not wait. */
    private Semaphore permit(Urgency urgency, Deadline deadline) {
        if (urgency == Urgency.EXTRA && shared.tryAcquire()) {
            return shared;
        }
        Semaphore permits = urgency == Urgency.EXTRA ? extra : shared;
        if (!Uninterruptibly.await(deadline, permits::tryAcquire)) {
            throw new JedisConnectionException(
                    "all connections to " + server + " are in use; see the parameter 'connections'");
        }
        return permits;
    }

    @Override
    public LentConnection open(Deadline deadline) {
        return new LentConnection(connect(deadline), () -> {});
    }

    private Connection connect(Deadline deadline) {
        if (closed) {
            throw new JedisConnectionException("the store is closed");
        }
        try {
            return new Connection(new DeadlineSockets(server, tls, deadline), config);
        } catch (NoConnectionException e) {
            throw e;
        } catch (JedisException e) {
            throw NoConnectionException.refused(server, tls != null, config.getPassword() != null, e);
        }
    }

    @Override
    public void giveBack(LentConnection lent) {
        idle.addFirst(new Idle(lent.connection(), System.nanoTime()));
        lent.onReturn().run();
        if (closed) {
            closeIdle();
        }
    }

    @Override
    public void drop(LentConnection lent) {
        DeadlineSockets.cut(lent.connection());
        lent.onReturn().run();
    }

    @Override
    public void closeIdle() {
        for (Idle next = idle.pollFirst(); next != null; next = idle.pollFirst()) {
            DeadlineSockets.cut(next.connection);
        }
    }

    @Override
    public void closeLongIdle() {
        for (Idle oldest = idle.peekLast(); oldest != null && oldest.isTooOld(); oldest = idle.peekLast()) {
            if (idle.removeLastOccurrence(oldest)) {
                DeadlineSockets.cut(oldest.connection);
            }
        }
    }

    @Override
    public void close() {
        closed = true;
        closeIdle();
    }
}
