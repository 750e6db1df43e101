package io.holdfast.redis;

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
final class BorrowedNode implements Node {

    private final Pool<Connection> pool;

    BorrowedNode(Pool<Connection> pool) {
        this.pool = pool;
    }

    @Override
    public String id() {
        return "the given client";
    }

    @Override
    public Line borrow(Urgency urgency, Deadline deadline) {
        try {
            return new Line(pool.borrowObject(Duration.ofNanos(deadline.remainingNanos())), urgency);
        } catch (JedisException e) {
            throw e;
        } catch (Exception e) {
            throw new JedisConnectionException("the given client has no connection: " + e.getMessage(), e);
        }
    }

    @Override
    public void giveBack(Line line) {
        line.connection().setSoTimeout(line.readTimeoutMillis());
        pool.returnResource(line.connection());
    }

    @Override
    public void drop(Line line) {
        line.connection().setBroken();
        pool.returnBrokenResource(line.connection());
    }

    @Override
    public void forgetIdle() {
        pool.clear();
    }

    @Override
    public Line open(Deadline deadline) {
        return borrow(Urgency.EXTRA, deadline);
    }

    @Override
    public void close() {
        // It is not ours.
    }
}
