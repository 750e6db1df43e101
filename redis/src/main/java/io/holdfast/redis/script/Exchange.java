package io.holdfast.redis.script;

import io.holdfast.redis.server.DeadlineSockets;
import io.holdfast.redis.server.LentConnection;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.TimeSource;
import java.util.List;
import java.util.function.Function;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;

/** Sends scripts over one connection and reads their replies, by a deadline. Thread-safe. */
final class Exchange {

    /**
     * What came back.
     *
     * @param values one per call, errors among them
     * @param baseNanos just before anything was sent
     * @param replicas how many have what was written; 0 if not asked
     */
    record Replies(List<Object> values, long baseNanos, long replicas) {}

    private final TimeSource time;
    private final int replicas;

    Exchange(TimeSource time, int replicas) {
        this.time = time;
        this.replicas = replicas;
    }

    /** Of one script in as few bytes as can be: a server that does not know it gets its text. */
    Replies run(LentConnection lent, ScriptCall call, boolean asking, Deadline deadline) {
        return lent.exchange(deadline, connection -> {
            Replies replies = send(connection, List.of(call), ScriptCall::byHash, asking, deadline);
            if (replies.values.get(0) instanceof Exception unknown
                    && String.valueOf(unknown.getMessage()).startsWith("NOSCRIPT")) {
                return send(connection, List.of(call), ScriptCall::byText, asking, deadline);
            }
            return replies;
        });
    }

    /** Of several in one go. */
    Replies runAll(LentConnection lent, List<ScriptCall> calls, Deadline deadline) {
        return lent.exchange(deadline, connection -> send(connection, calls, ScriptCall::byHash, false, deadline));
    }

    private Replies send(
            Connection connection,
            List<ScriptCall> calls,
            Function<ScriptCall, CommandArguments> command,
            boolean asking,
            Deadline deadline) {
        long baseNanos = time.nanoTime();
        if (asking) {
            connection.sendCommand(Command.ASKING);
        }
        calls.forEach(call -> connection.sendCommand(command.apply(call)));
        int first = asking ? 1 : 0;
        List<Object> all = connection.getMany(first + calls.size());
        List<Object> values = all.subList(first, first + calls.size());
        boolean waits = replicas > 0 && calls.get(0).script().mayGrant() && saysHeld(values);
        return new Replies(values, baseNanos, waits ? waitForReplicas(connection, deadline) : 0);
    }

    /** Whether one of the replies says that a ticket is held: only such an answer is worth waiting for replicas. */
    private static boolean saysHeld(Object reply) {
        return reply instanceof List<?> several
                ? several.stream().anyMatch(Exchange::saysHeld)
                : reply instanceof byte[] text && TicketAnswer.of(text).kind() == TicketAnswer.Kind.HELD;
    }

    /** Waits half of what is left, so that its answer is still in time. Returns how many have what was written before. */
    private long waitForReplicas(Connection connection, Deadline deadline) {
        int millisLeft = DeadlineSockets.millisLeft(deadline);
        connection.sendCommand(new CommandArguments(Command.WAIT).add(replicas).add(Math.max(1, millisLeft / 2)));
        // Not getOne(): the script has run, whatever is wrong with WAIT.
        return connection.getMany(1).get(0) instanceof Long count ? count : 0;
    }
}
