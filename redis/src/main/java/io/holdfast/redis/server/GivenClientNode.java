package io.holdfast.redis.server;

import io.holdfast.spi.Deadline;
import io.holdfast.spi.StoreContext;
import java.time.Duration;
import redis.clients.jedis.Connection;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.util.Pool;

/**
 * A server reached through the pool of a client the user already has. Waiting for a connection keeps our deadline; opening
 * one keeps the pool's own timeouts. Closing leaves the pool to its owner.
 */
public final class GivenClientNode implements Node {

    private final Pool<Connection> pool;
    private final ReplyDeadlines replyDeadlines;

    public GivenClientNode(StoreContext context, Pool<Connection> pool) {
        this.pool = pool;
        this.replyDeadlines = new ReplyDeadlines(context);
    }

    @Override
    public String id() {
        return "the given client";
    }

    @Override
    public LentConnection borrow(Urgency urgency, Deadline deadline) {
        try {
            return lend(pool.borrowObject(Duration.ofNanos(deadline.remainingNanos())));
        } catch (JedisException e) {
            throw e;
        } catch (Exception e) {
            throw new JedisConnectionException("the given client has no connection: " + e.getMessage(), e);
        }
    }

    /** Without the timeout its owner has set, as long as it is lent. */
    private LentConnection lend(Connection connection) {
        int timeoutMillis = connection.getSoTimeout();
        connection.setSoTimeout(0);
        ReplyDeadlines.Guard guard = replyDeadlines.guard(() -> cut(connection));
        return new LentConnection(connection, guard, () -> connection.setSoTimeout(timeoutMillis));
    }

    /** With TLS, closing a socket may block. */
    private static void cut(Connection connection) {
        try {
            new Thread(() -> DeadlineSockets.cut(connection), "holdfast-cut").start();
        } catch (OutOfMemoryError noThread) {
            DeadlineSockets.cut(connection);
        }
    }

    @Override
    public void giveBack(LentConnection lent) {
        lent.guard().end();
        lent.onReturn().run();
        pool.returnResource(lent.connection());
    }

    @Override
    public void drop(LentConnection lent) {
        lent.guard().end();
        lent.connection().setBroken();
        pool.returnBrokenResource(lent.connection());
    }

    @Override
    public void closeIdle() {
        pool.clear();
    }

    @Override
    public LentConnection open(Deadline deadline) {
        return borrow(Urgency.EXTRA, deadline);
    }

    @Override
    public void close() {
        // The pool is not ours.
        replyDeadlines.close();
    }
}
