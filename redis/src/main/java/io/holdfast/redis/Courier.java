package io.holdfast.redis;

import io.holdfast.LockException;
import io.holdfast.StoreUnavailableException;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TimeSource;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisAskDataException;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.exceptions.JedisMovedDataException;
import redis.clients.jedis.exceptions.JedisRedirectionException;

/** Carries scripts to the server of a lock and their answers back, by a deadline. Thread-safe. */
final class Courier {

    /*
     * When a request fails, the one question is whether the server may have carried it out.
     *
     * No connection, or an error reply: it did not. (Scripts are refused as a whole: by their flags when the server is out of
     * memory or a replica, by ACL rules before they start.) That is StoreUnavailableException. On Sentinel and Cluster it may
     * just be the wrong server, so we look again until the deadline.
     *
     * A timeout: unknown, and asking again would only meet the same silence. UnknownOutcomeException.
     *
     * A connection that breaks: unknown too, but often plain wear: an idle connection the server closed at its restart, by
     * CLIENT KILL or its own timeout, and which shows only when it is used. So the request goes out once more on a fresh
     * connection. That is safe because every script says the same again to the same owner: attempt and enqueue find their
     * holder or ticket, renew and withdraw do not mind. Only the answer of a repeated release is ambiguous ("not held" may be
     * our own doing); repeated() tells the store so. If the second try fails, the outcome is unknown even if that try was
     * never sent.
     */

    /**
     * What a script replied.
     *
     * @param value as Jedis reads it
     * @param baseNanos just before the request was sent
     * @param repeated whether an earlier try may have been carried out as well
     * @param replicas how many replicas have what this connection wrote; 0 if not asked
     */
    record Reply(Object value, long baseNanos, boolean repeated, long replicas) {}

    /** One script call on keys of one slot. */
    record Call(
            Script script,
            Node.Urgency urgency,
            int slot,
            String lockName,
            List<String> keys,
            List<String> arguments) {}

    /** What basics.lua and take-free.lua say of a counter that is none. */
    private static final Pattern NO_TOKEN = Pattern.compile("HOLDFAST NOTOKEN (.+?)(?: script: \\p{XDigit}+, on .*)?$");

    /** Where it is not known which one. */
    static final String SERVER = "the server";

    private static final Duration FAILOVER_PAUSE = Duration.ofMillis(100);
    /** A write this large may fill the socket's buffers, and a blocked write knows no timeout. */
    private static final int LARGE_ARGUMENTS = 200;

    /** How many calls go out before the first reply is read. */
    private static final int PIPELINED = 100;

    private final Topology topology;
    private final StoreContext context;
    private final TimeSource time;
    private final Duration timeout;
    private final int replicas;

    Courier(Topology topology, StoreContext context, Duration timeout, int replicas) {
        this.topology = topology;
        this.context = context;
        this.time = context.time();
        this.timeout = timeout;
        this.replicas = replicas;
    }

    /** Not interruptible: on a virtual thread an interrupt would close the socket, so the flag is put aside meanwhile. */
    Reply run(Call call, Deadline until) {
        boolean interrupted = Thread.interrupted();
        try {
            return carry(call, until.within(timeout));
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private Reply carry(Call call, Deadline deadline) {
        @Nullable Throwable sentFailure = null;
        Optional<Node> redirectedTo = Optional.empty();
        boolean asking = false;
        while (true) {
            if (deadline.hasPassed()) {
                throw failure(
                        call, sentFailure, new JedisException("the deadline passed before it could be asked"), SERVER);
            }
            Node node;
            Node.Line line;
            try {
                node = redirectedTo.isPresent() ? redirectedTo.get() : topology.nodeOf(call.slot(), deadline);
            } catch (JedisException e) {
                throw failure(call, sentFailure, e, SERVER);
            }
            redirectedTo = Optional.empty();
            try {
                line = node.borrow(call.urgency(), deadline);
            } catch (JedisException e) {
                topology.suspect(node);
                if (!isRefusal(e) && pauseForFailover(deadline)) {
                    continue;
                }
                throw failure(call, sentFailure, e, node.id());
            }
            try {
                Reply reply = exchange(line.connection(), call, asking, sentFailure != null, deadline);
                node.giveBack(line);
                return reply;
            } catch (JedisRedirectionException e) {
                node.giveBack(line);
                asking = e instanceof JedisAskDataException;
                try {
                    redirectedTo = Optional.of(topology.redirected(e));
                } catch (JedisException nowhere) {
                    throw failure(call, sentFailure, nowhere, node.id());
                }
            } catch (JedisDataException e) {
                node.giveBack(line);
                if (!isPassing(e)) {
                    throw failure(call, sentFailure, e, node.id());
                }
                topology.suspect(node);
                if (!pauseForFailover(deadline)) {
                    throw failure(call, sentFailure, e, node.id());
                }
            } catch (JedisConnectionException e) {
                node.drop(line);
                topology.suspect(node);
                boolean second = sentFailure != null;
                sentFailure = e;
                if (isTimeout(e) || deadline.hasPassed() || (second && !pauseForFailover(deadline))) {
                    throw failure(call, sentFailure, e, node.id());
                }
                node.forgetIdle();
            } catch (RuntimeException | Error e) {
                node.drop(line);
                throw failure(call, e, e, node.id());
            }
        }
    }

    /** Of several calls, what became of one. */
    record Outcome(@Nullable Reply reply, @Nullable LockException failure) {}

    /** Several calls for one server, sent in one go: where one script must not touch several slots. */
    List<Outcome> runAll(List<Call> calls, Deadline until) {
        if (calls.size() == 1) {
            return List.of(outcome(calls.get(0), until));
        }
        List<Outcome> outcomes = new ArrayList<>(calls.size());
        for (List<Call> chunk : chunks(calls, PIPELINED)) {
            outcomes.addAll(pipeline(chunk, until));
        }
        return outcomes;
    }

    private Outcome outcome(Call call, Deadline until) {
        try {
            return new Outcome(run(call, until), null);
        } catch (LockException e) {
            return new Outcome(null, e);
        }
    }

    private List<Outcome> pipeline(List<Call> calls, Deadline until) {
        Deadline deadline = until.within(timeout);
        Call first = calls.get(0);
        Node node;
        Node.Line line;
        try {
            node = topology.nodeOf(first.slot(), deadline);
            line = node.borrow(first.urgency(), deadline);
        } catch (JedisException e) {
            return calls.stream()
                    .map(call -> new Outcome(null, failure(call, null, e, SERVER)))
                    .toList();
        }
        long baseNanos = time.nanoTime();
        List<Object> replies;
        try {
            replies = exchangeAll(line.connection(), calls, deadline);
            node.giveBack(line);
        } catch (RuntimeException | Error e) {
            node.drop(line);
            node.forgetIdle();
            topology.suspect(node);
            return calls.stream()
                    .map(call -> new Outcome(null, failure(call, e, e, node.id())))
                    .toList();
        }
        long confirmed = replicas > 0 && replies.get(calls.size()) instanceof Long count ? count : 0;
        List<Outcome> outcomes = new ArrayList<>(calls.size());
        for (int i = 0; i < calls.size(); i++) {
            // A script the server has forgotten, a slot that has moved: each finds its own way.
            outcomes.add(
                    replies.get(i) instanceof JedisDataException
                            ? outcome(calls.get(i), until)
                            : new Outcome(new Reply(replies.get(i), baseNanos, false, confirmed), null));
        }
        return outcomes;
    }

    private List<Object> exchangeAll(Connection connection, List<Call> calls, Deadline deadline) {
        StoreContext.Alarm guard = breakAt(deadline, connection);
        try {
            connection.setSoTimeout(TimedSockets.millisLeft(deadline));
            calls.forEach(
                    call -> connection.sendCommand(arguments(call, call.script().sha(), Command.EVALSHA)));
            if (replicas > 0) {
                connection.sendCommand(waitForReplicas(deadline));
            }
            return connection.getMany(calls.size() + (replicas > 0 ? 1 : 0));
        } finally {
            guard.cancel();
        }
    }

    private static CommandArguments arguments(Call call, byte[] script, Command command) {
        return new CommandArguments(command)
                .add(script)
                .add(call.keys().size())
                .addObjects(call.keys())
                .addObjects(call.arguments());
    }

    /** Waits half of what is left, so that its answer is still in time. */
    private CommandArguments waitForReplicas(Deadline deadline) {
        return new CommandArguments(Command.WAIT).add(replicas).add(Math.max(1, TimedSockets.millisLeft(deadline) / 2));
    }

    private Reply exchange(Connection connection, Call call, boolean asking, boolean repeated, Deadline deadline) {
        int large = call.arguments().size();
        StoreContext.Alarm guard = large < LARGE_ARGUMENTS ? null : breakAt(deadline, connection);
        try {
            Reply reply = send(connection, call, call.script().sha(), Command.EVALSHA, asking, repeated, deadline);
            if (reply.value() instanceof JedisDataException e) {
                if (e.getMessage() == null || !e.getMessage().startsWith("NOSCRIPT")) {
                    throw e;
                }
                reply = send(connection, call, call.script().text(), Command.EVAL, asking, repeated, deadline);
                if (reply.value() instanceof JedisDataException second) {
                    throw second;
                }
            }
            return reply;
        } finally {
            if (guard != null) {
                guard.cancel();
            }
        }
    }

    private Reply send(
            Connection connection,
            Call call,
            byte[] script,
            Command command,
            boolean asking,
            boolean repeated,
            Deadline deadline) {
        connection.setSoTimeout(TimedSockets.millisLeft(deadline));
        boolean waits = replicas > 0 && call.script() != Script.VIEW;
        long baseNanos = time.nanoTime();
        if (asking) {
            connection.sendCommand(Command.ASKING);
        }
        connection.sendCommand(arguments(call, script, command));
        if (waits) {
            connection.sendCommand(waitForReplicas(deadline));
        }
        List<Object> replies = connection.getMany(1 + (asking ? 1 : 0) + (waits ? 1 : 0));
        Object value = replies.get(asking ? 1 : 0);
        long confirmed = waits && replies.get(replies.size() - 1) instanceof Long count ? count : 0;
        return new Reply(value, baseNanos, repeated, confirmed);
    }

    private StoreContext.Alarm breakAt(Deadline deadline, Connection connection) {
        return context.timer()
                .at(
                        deadline.atNanos(),
                        () -> context.background().execute(() -> {
                            try {
                                connection.forceDisconnect();
                            } catch (java.io.IOException | JedisException e) {
                                // Broken is what it should be.
                            }
                        }));
    }

    /** Whether there is a point, and time, in looking for another server. */
    private boolean pauseForFailover(Deadline deadline) {
        if (!topology.failsOver() || deadline.remaining().compareTo(FAILOVER_PAUSE) <= 0) {
            return false;
        }
        long until = time.nanoTime() + FAILOVER_PAUSE.toNanos();
        boolean interrupted = false;
        while (until - time.nanoTime() > 0) {
            time.parkUntil(this, until);
            interrupted |= Thread.interrupted();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return true;
    }

    /** What the server would say again: a wrong password, a missing right. Not that it has no room now. */
    private static boolean isRefusal(JedisException e) {
        Throwable answer = e instanceof NoConnectionException ? e.getCause() : e;
        String message = String.valueOf(answer.getMessage());
        return answer instanceof JedisDataException
                && (message.startsWith("NOAUTH") || message.startsWith("WRONGPASS") || message.startsWith("NOPERM"));
    }

    /** Answers of a server that is not, or not yet, the one to ask. */
    private static boolean isPassing(JedisDataException e) {
        String message = String.valueOf(e.getMessage());
        return message.startsWith("READONLY")
                || message.startsWith("LOADING")
                || message.startsWith("MASTERDOWN")
                || message.startsWith("CLUSTERDOWN")
                || message.startsWith("TRYAGAIN")
                || message.startsWith("NOREPLICAS");
    }

    static boolean isTimeout(Throwable e) {
        return NoConnectionException.isTimeout(e);
    }

    private static LockException failure(Call call, @Nullable Throwable sentFailure, Throwable last, String server) {
        if (sentFailure != null) {
            return new UnknownOutcomeException(call.lockName(), reason(sentFailure, server), last);
        }
        return new StoreUnavailableException(call.lockName(), reason(last, server), last);
    }

    /** For people: what the server said, or what happened to the connection. */
    static String reason(Throwable e, String server) {
        String message = String.valueOf(e.getMessage());
        if (e instanceof NoConnectionException) {
            return message;
        }
        if (isTimeout(e)) {
            return server + " did not answer in time";
        }
        if (e instanceof JedisConnectionException && e.getCause() instanceof IOException broken) {
            return "the connection to " + server + " broke (" + broken.getMessage() + ")";
        }
        Matcher counter = NO_TOKEN.matcher(message);
        if (counter.find()) {
            String key = counter.group(1);
            return "the key " + key + " is not a token, so something else has written it. If nobody needs that, remove"
                    + " it: redis-cli DEL '" + key.replace("'", "'\\''") + "'";
        }
        if (e instanceof JedisMovedDataException) {
            return "the server is part of a cluster, use redis-cluster:// (" + message + ")";
        }
        if (message.startsWith("OOM")) {
            return "the server is out of memory and takes no new locks; held ones can be renewed and released ("
                    + message + ")";
        }
        if (message.startsWith("NOAUTH") || message.startsWith("WRONGPASS")) {
            return "the server refuses the user or password (" + message + ")";
        }
        if (message.contains("NOPERM") || message.contains("ACL failure")) {
            return "the user lacks a permission, compare docs/stores/redis.acl (" + message + ")";
        }
        if (message.contains("WRONGTYPE")) {
            return "a key of the lock holds something else (" + message + ")";
        }
        return message;
    }

    /** The lane of a lock, looked up if need be. */
    String lane(LockKeys keys, Deadline until) {
        String lane = topology.lane(keys.slot());
        if (lane.isEmpty() && !topology.spansSlots()) {
            try {
                topology.nodeOf(keys.slot(), until.within(timeout));
            } catch (JedisException e) {
                throw new StoreUnavailableException(keys.name(), reason(e, SERVER), e);
            }
            lane = topology.lane(keys.slot());
        }
        return lane;
    }

    /** Reads from several servers, from the beginning again when one of them has failed and another may have taken over. */
    <T> T readAll(Deadline deadline, Supplier<T> read) {
        boolean second = false;
        while (true) {
            try {
                return read.get();
            } catch (JedisConnectionException e) {
                if (isTimeout(e) || isRefusal(e) || (second && !pauseForFailover(deadline))) {
                    throw e;
                }
                second = true;
            }
        }
    }

    /** Sends a plain command to one server. */
    Object command(Node node, Deadline until, Command command, List<String> arguments) {
        Deadline deadline = until.within(timeout);
        Node.Line line;
        try {
            line = node.borrow(Node.Urgency.SHARED, deadline);
        } catch (JedisException e) {
            topology.suspect(node);
            throw e;
        }
        try {
            line.connection().setSoTimeout(TimedSockets.millisLeft(deadline));
            line.connection().sendCommand(new CommandArguments(command).addObjects(arguments));
            Object reply = line.connection().getOne();
            node.giveBack(line);
            return reply;
        } catch (JedisDataException e) {
            node.giveBack(line);
            throw e;
        } catch (RuntimeException | Error e) {
            node.drop(line);
            node.forgetIdle();
            topology.suspect(node);
            throw e;
        }
    }

    /** Splits what one script call could carry but should not: a server serves nobody else meanwhile. */
    static <T> List<List<T>> chunks(List<T> all, int size) {
        List<List<T>> chunks = new ArrayList<>();
        for (int from = 0; from < all.size(); from += size) {
            chunks.add(all.subList(from, Math.min(from + size, all.size())));
        }
        return chunks;
    }
}
