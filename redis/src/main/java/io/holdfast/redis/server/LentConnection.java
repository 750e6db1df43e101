package io.holdfast.redis.server;

import io.holdfast.spi.Deadline;
import java.util.function.Function;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * A connection on loan.
 *
 * @param guard closes it when a reply is late
 * @param onReturn runs when it is given back, or no longer needed
 */
public record LentConnection(Connection connection, ReplyDeadlines.Guard guard, Runnable onReturn) {

    /** The same for the next. */
    LentConnection to(Runnable whenReturned) {
        return new LentConnection(connection, guard, whenReturned);
    }

    /** Sends something and reads all replies to it, errors among them, by the deadline. */
    public <T> T exchange(Deadline deadline, Function<Connection, T> exchange) {
        guard.expectBy(deadline);
        T replies;
        try {
            replies = exchange.apply(connection);
        } catch (JedisConnectionException e) {
            throw guard.isLate(deadline) ? ReplyDeadlines.late() : e;
        }
        guard.replied(deadline);
        return replies;
    }

    /** Sends one command and reads its reply by the deadline. */
    Object call(Deadline deadline, Command command, String... arguments) {
        Object reply = exchange(deadline, server -> {
            server.sendCommand(command, arguments);
            return server.getMany(1).get(0);
        });
        if (reply instanceof JedisDataException refused) {
            throw refused;
        }
        return reply;
    }

    void cut() {
        guard.end();
        DeadlineSockets.cut(connection);
    }
}
