package io.holdfast.redis.server;

import io.holdfast.spi.Deadline;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/** Sends plain commands to one server, where locks are not concerned. Failures are those of Jedis. Thread-safe. */
public final class ServerCommands {

    private final Topology topology;
    private final FailoverPause failover;
    private final Duration timeout;

    public ServerCommands(Topology topology, FailoverPause failover, Duration timeout) {
        this.topology = topology;
        this.failover = failover;
        this.timeout = timeout;
    }

    public Object send(Node node, Deadline until, Command command, String... arguments) {
        Deadline deadline = until.within(timeout);
        Node.LentConnection lent;
        try {
            lent = node.borrow(Node.Urgency.SHARED, deadline);
        } catch (JedisException e) {
            topology.suspect(node);
            throw e;
        }
        try {
            Object reply = lent.call(deadline, command, arguments);
            node.giveBack(lent);
            return reply;
        } catch (JedisDataException e) {
            node.giveBack(lent);
            throw e;
        } catch (RuntimeException | Error e) {
            node.drop(lent);
            node.closeIdle();
            topology.suspect(node);
            throw e;
        }
    }

    /** Reads from several servers, from the beginning again when one of them has failed and another may have taken over. */
    public <T> T read(Deadline deadline, Supplier<T> reading) {
        boolean second = false;
        while (true) {
            try {
                return reading.get();
            } catch (JedisConnectionException e) {
                if (Failures.isTimeout(e) || Failures.isRefusal(e) || (second && !failover.pause(deadline))) {
                    throw e;
                }
                second = true;
            }
        }
    }

    /** Asks one server after the other for a sign of life, until one gives it. */
    public void ping(Deadline deadline) {
        read(deadline, () -> {
            @Nullable JedisException failure = null;
            for (Node node : topology.primaries(deadline.within(timeout))) {
                try {
                    return send(node, deadline, Command.PING);
                } catch (JedisException e) {
                    failure = e;
                }
            }
            throw failure != null ? failure : new JedisConnectionException("no server takes writes");
        });
    }
}
