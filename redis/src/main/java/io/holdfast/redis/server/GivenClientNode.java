package io.holdfast.redis.server;

import io.holdfast.spi.Deadline;
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

    public GivenClientNode(Pool<Connection> pool) {
        this.pool = pool;
    }

    @Override
    public String id() {
        return "the given client";
    }

    @Override
    public LentConnection borrow(Urgency urgency, Deadline deadline) {
        try {
            return new LentConnection(pool.borrowObject(Duration.ofNanos(deadline.remainingNanos())), () -> {});
        } catch (JedisException e) {
            throw e;
        } catch (Exception e) {
            throw new JedisConnectionException("the given client has no connection: " + e.getMessage(), e);
        }
    }

    @Override
    public void giveBack(LentConnection lent) {
        lent.connection().setSoTimeout(lent.readTimeoutMillis());
        pool.returnResource(lent.connection());
    }

    @Override
    public void drop(LentConnection lent) {
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
        // It is not ours.
    }
}
