package io.holdfast.redis.script;

import io.holdfast.redis.server.DeadlineSockets;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.StoreContext;
import java.util.List;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;

/** Sends scripts over one connection and reads their replies, by a deadline. Thread-safe. */
final class Exchange {

    /** A write this large may fill the socket's buffers, and a blocked write knows no timeout. */
    private static final int LARGE = 200;

    /**
     * What came back.
     *
     * @param values one per call, errors among them
     * @param baseNanos just before anything was sent
     * @param replicas how many have what was written; 0 if not asked
     */
    record Replies(List<Object> values, long baseNanos, long replicas) {}

    private final StoreContext context;
    private final int replicas;

    Exchange(StoreContext context, int replicas) {
        this.context = context;
        this.replicas = replicas;
    }

    /** Of one script in as few bytes as can be: a server that does not know it gets its text. */
    Replies run(Connection connection, ScriptCall call, boolean asking, Deadline deadline) {
        Replies replies = send(connection, call.script(), List.of(call.byHash()), asking, deadline);
        if (replies.values.get(0) instanceof Exception unknown
                && String.valueOf(unknown.getMessage()).startsWith("NOSCRIPT")) {
            return send(connection, call.script(), List.of(call.byText()), asking, deadline);
        }
        return replies;
    }

    /** Of several in one go. */
    Replies runAll(Connection connection, List<ScriptCall> calls, Deadline deadline) {
        List<CommandArguments> commands = calls.stream().map(ScriptCall::byHash).toList();
        return send(connection, calls.get(0).script(), commands, false, deadline);
    }

    private Replies send(
            Connection connection, Script script, List<CommandArguments> commands, boolean asking, Deadline deadline) {
        StoreContext.@Nullable Alarm guard = isLarge(commands) ? breakAt(deadline, connection) : null;
        try {
            connection.setSoTimeout(DeadlineSockets.millisLeft(deadline));
            long baseNanos = context.time().nanoTime();
            if (asking) {
                connection.sendCommand(Command.ASKING);
            }
            for (CommandArguments command : commands) {
                connection.sendCommand(command);
            }
            int first = asking ? 1 : 0;
            List<Object> all = connection.getMany(first + commands.size());
            List<Object> values = all.subList(first, first + commands.size());
            boolean waits = replicas > 0 && script.mayGrant() && saysHeld(values);
            return new Replies(values, baseNanos, waits ? waitForReplicas(connection, deadline) : 0);
        } finally {
            if (guard != null) {
                guard.cancel();
            }
        }
    }

    private static boolean isLarge(List<CommandArguments> commands) {
        int size = 0;
        for (CommandArguments command : commands) {
            size += command.size();
        }
        return size >= LARGE;
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
        connection.setSoTimeout(millisLeft);
        connection.sendCommand(new CommandArguments(Command.WAIT).add(replicas).add(Math.max(1, millisLeft / 2)));
        // Not getOne(): the script has run, whatever is wrong with WAIT.
        return connection.getMany(1).get(0) instanceof Long count ? count : 0;
    }

    private StoreContext.Alarm breakAt(Deadline deadline, Connection connection) {
        return context.timer()
                .at(deadline.atNanos(), () -> context.background().execute(() -> DeadlineSockets.cut(connection)));
    }
}
