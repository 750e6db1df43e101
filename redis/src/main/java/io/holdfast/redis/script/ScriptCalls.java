package io.holdfast.redis.script;

import io.holdfast.LockException;
import io.holdfast.StoreUnavailableException;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.redis.server.FailoverPause;
import io.holdfast.redis.server.Failures;
import io.holdfast.redis.server.Node;
import io.holdfast.redis.server.Topology;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.StoreContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisAskDataException;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.exceptions.JedisRedirectionException;

/** Calls scripts at the server of their lock, by a deadline. Thread-safe. */
public final class ScriptCalls {

    /*
     * When a request fails, the one question is whether the server may have carried it out.
     *
     * No connection, or an error reply: it did not. (Scripts are refused as a whole: by their flags when the server is out of
     * memory or a replica, by ACL rules before they start.) That is StoreUnavailableException. On Sentinel and Cluster it may
     * just be the wrong server, so we look again until the deadline. A server that says it is a replica, or still loading, may be
     * what a name or a virtual address pointed to before a failover: its connections are dropped, and one more try goes out on a
     * fresh one.
     *
     * A timeout: unknown, and asking again would only meet the same silence. UnknownOutcomeException.
     *
     * A connection that breaks: unknown too, but often plain wear: an idle connection the server closed at its restart, by
     * CLIENT KILL or its own timeout, and which shows only when it is used. So the request goes out once more on a fresh
     * connection. That is safe because every script says the same again to the same owner: attempt and enqueue find their
     * holder or ticket, renew and withdraw do not mind. Only the answer of a repeated release is ambiguous ("not held" may be
     * our own doing); repeated() tells the store so. If the second try fails, the outcome is unknown even if that try was
     * never sent. A forced release is not repeated: it says how many lost the lock, and a second one would not know.
     */

    /** Of several calls, what became of one. */
    public sealed interface Outcome {

        record Answered(ScriptReply reply) implements Outcome {}

        record Failed(LockException cause) implements Outcome {}

        default ScriptReply replyOrThrow() {
            if (this instanceof Answered answered) {
                return answered.reply;
            }
            throw ((Failed) this).cause;
        }
    }

    /** How many calls go out before the first reply is read. */
    private static final int PIPELINED = 100;
    /** How often a call is sent on before its servers count as not knowing either. */
    private static final int REDIRECTIONS = 5;

    private final Topology topology;
    private final FailoverPause failover;
    private final Exchange exchange;
    private final Duration timeout;
    private final String counterLife;
    private final Consumer<Node> demoted;

    /**
     * @param replicas how many must have a grant
     * @param counterLife how long a counter is kept after its last use
     * @param demoted is told of a server that does not serve locks, or no longer
     */
    public ScriptCalls(
            Topology topology,
            FailoverPause failover,
            StoreContext context,
            Duration timeout,
            int replicas,
            Duration counterLife,
            Consumer<Node> demoted) {
        this.topology = topology;
        this.failover = failover;
        this.exchange = new Exchange(context, replicas);
        this.timeout = timeout;
        this.counterLife = String.valueOf(counterLife.toMillis());
        this.demoted = demoted;
    }

    /** A call of a script on all keys of a lock. */
    public ScriptCall call(Script script, LockKeys keys, String... arguments) {
        List<String> all = new ArrayList<>(arguments.length + 1);
        Collections.addAll(all, arguments);
        if (script.mayMint()) {
            all.add(counterLife);
        }
        return new ScriptCall(script, keys.slot(), keys.name(), keys.encoded(), 0, all);
    }

    /** Calls a script on all keys of a lock. */
    public ScriptReply run(Script script, LockKeys keys, Deadline until, String... arguments) {
        return run(call(script, keys, arguments), until);
    }

    public ScriptReply run(ScriptCall call, Deadline until) {
        return run(new Delivery(call, until.within(timeout), true));
    }

    /** Not interruptible: on a virtual thread an interrupt would close the socket, so the flag is put aside meanwhile. */
    private static ScriptReply run(Delivery delivery) {
        boolean interrupted = Thread.interrupted();
        try {
            return delivery.run();
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** One call, until it is answered or has failed for good. */
    private final class Delivery {

        private final Deadline deadline;
        private final boolean isPatient;
        private ScriptCall call;
        /** The last failure after something was sent. */
        private @Nullable Throwable sentFailure;

        private @Nullable Node redirectedTo;
        private String asked = Failures.SERVER;
        private boolean asking;
        private boolean hasReconnected;
        private int redirections;

        /** @param isPatient whether it waits for a server that does not serve now */
        Delivery(ScriptCall call, Deadline deadline, boolean isPatient) {
            this.call = call;
            this.deadline = deadline;
            this.isPatient = isPatient;
        }

        ScriptReply run() {
            while (!deadline.hasPassed()) {
                Optional<ScriptReply> reply = runOnce(nextNode());
                if (reply.isPresent()) {
                    return reply.get();
                }
            }
            throw failed(new JedisException("the deadline passed before it could be asked"));
        }

        private Node nextNode() {
            Node redirected = redirectedTo;
            if (redirected != null) {
                redirectedTo = null;
                return redirected;
            }
            asking = false;
            try {
                return topology.nodeOf(call.slot(), deadline);
            } catch (JedisException e) {
                throw failed(e);
            }
        }

        /** Empty if another try may do better. */
        private Optional<ScriptReply> runOnce(Node node) {
            asked = node.id();
            Node.LentConnection lent;
            try {
                lent = node.borrow(call.script().urgency(), deadline);
            } catch (JedisException e) {
                topology.suspect(node);
                if (Failures.isRefusal(e)) {
                    throw failed(e);
                }
                pauseOrFail(e);
                return Optional.empty();
            }
            try {
                ScriptReply reply = exchange(lent);
                node.giveBack(lent);
                return Optional.of(reply);
            } catch (JedisRedirectionException e) {
                node.giveBack(lent);
                follow(node, e);
            } catch (JedisDataException e) {
                afterRefusal(node, lent, e);
            } catch (JedisConnectionException e) {
                node.drop(lent);
                topology.suspect(node);
                prepareToSendAgain(e);
                node.closeIdle();
            } catch (RuntimeException | Error e) {
                node.drop(lent);
                sentFailure = e;
                throw failed(e);
            }
            return Optional.empty();
        }

        private ScriptReply exchange(Node.LentConnection lent) {
            Exchange.Replies replies = exchange.run(lent.connection(), call, asking, deadline);
            Object value = replies.values().get(0);
            if (value instanceof JedisDataException refused) {
                throw refused;
            }
            return new ScriptReply(value, replies.baseNanos(), sentFailure != null, replies.replicas());
        }

        private void afterRefusal(Node node, Node.LentConnection lent, JedisDataException e) {
            boolean isDemoted = Failures.isDemoted(e);
            if (isDemoted) {
                node.drop(lent);
                dropAll(node);
            } else {
                node.giveBack(lent);
            }
            if (!Failures.mayPass(e)) {
                throw failed(e);
            }
            if (Failures.isSplit(e) && call.optionalKeys() > 0) {
                call = call.withNeededKeysOnly();
                return;
            }
            if (Failures.isSplit(e) && call.script() == Script.HEARTBEAT) {
                // It may stay like that for long, and other tickets wait behind this one.
                throw failed(e);
            }
            topology.suspect(node);
            if (isDemoted && !hasReconnected) {
                hasReconnected = true;
            } else {
                pauseOrFail(e);
            }
        }

        private void follow(Node node, JedisRedirectionException redirection) {
            if (++redirections % REDIRECTIONS == 0) {
                // They send us to each other: neither knows yet.
                topology.suspect(node);
                pauseOrFail(redirection);
                return;
            }
            try {
                redirectedTo = topology.follow(redirection);
                asking = redirection instanceof JedisAskDataException;
            } catch (JedisException nowhere) {
                throw failed(nowhere);
            }
        }

        private void pauseOrFail(JedisException e) {
            if (!isPatient || !failover.pause(deadline)) {
                throw failed(e);
            }
        }

        private void prepareToSendAgain(JedisConnectionException e) {
            boolean second = sentFailure != null;
            sentFailure = e;
            if (call.script() == Script.FORCE
                    || Failures.isTimeout(e)
                    || deadline.hasPassed()
                    || (second && !failover.pause(deadline))) {
                throw failed(e);
            }
        }

        private LockException failed(Throwable last) {
            return failure(call, sentFailure, last, asked);
        }
    }

    private void dropAll(Node node) {
        node.closeIdle();
        demoted.accept(node);
    }

    public Outcome outcome(ScriptCall call, Deadline until) {
        return outcome(new Delivery(call, until.within(timeout), true));
    }

    private static Outcome outcome(Delivery delivery) {
        try {
            return new Outcome.Answered(run(delivery));
        } catch (LockException e) {
            return new Outcome.Failed(e);
        }
    }

    /**
     * Several calls for one server, sent in one go: where one script must not touch several slots.
     *
     * @param receiver gets each outcome with the number of its call; those first that came without trouble
     */
    public void runAll(List<ScriptCall> calls, Deadline until, BiConsumer<Integer, Outcome> receiver) {
        if (calls.size() == 1) {
            receiver.accept(0, outcome(calls.get(0), until));
            return;
        }
        List<Integer> refused = new ArrayList<>();
        for (int from = 0; from < calls.size(); from += PIPELINED) {
            int start = from;
            List<ScriptCall> chunk = calls.subList(from, Math.min(from + PIPELINED, calls.size()));
            List<Object> values = pipeline(chunk, until);
            for (int i = 0; i < chunk.size(); i++) {
                if (values.get(i) instanceof Outcome outcome) {
                    receiver.accept(start + i, outcome);
                } else {
                    refused.add(start + i);
                }
            }
        }
        refused.forEach(number -> receiver.accept(number, alone(calls.get(number), until)));
    }

    /** A script the server has forgotten, a slot that has moved: each finds its own way. Behind what is urgent others wait. */
    private Outcome alone(ScriptCall call, Deadline until) {
        boolean isPatient = call.script().urgency() == Node.Urgency.SHARED;
        return outcome(new Delivery(call, until.within(timeout), isPatient));
    }

    /** The outcome of each, or what the server said instead. */
    private List<Object> pipeline(List<ScriptCall> calls, Deadline until) {
        Deadline deadline = until.within(timeout);
        ScriptCall first = calls.get(0);
        Node node;
        Node.LentConnection lent;
        try {
            node = topology.nodeOf(first.slot(), deadline);
            lent = node.borrow(first.script().urgency(), deadline);
        } catch (JedisException e) {
            return allFailed(calls, null, e, Failures.SERVER);
        }
        Exchange.Replies replies;
        try {
            replies = exchange.runAll(lent.connection(), calls, deadline);
            node.giveBack(lent);
        } catch (RuntimeException | Error e) {
            node.drop(lent);
            node.closeIdle();
            topology.suspect(node);
            return allFailed(calls, e, e, node.id());
        }
        return replies.values().stream()
                .map(value -> value instanceof JedisDataException
                        ? value
                        : new Outcome.Answered(new ScriptReply(value, replies.baseNanos(), false, replies.replicas())))
                .toList();
    }

    private static List<Object> allFailed(
            List<ScriptCall> calls, @Nullable Throwable sentFailure, Throwable last, String server) {
        return calls.stream()
                .<Object>map(call -> new Outcome.Failed(failure(call, sentFailure, last, server)))
                .toList();
    }

    private static LockException failure(
            ScriptCall call, @Nullable Throwable sentFailure, Throwable last, String server) {
        return sentFailure != null
                ? new UnknownOutcomeException(call.lockName(), Failures.reason(sentFailure, server), last)
                : new StoreUnavailableException(call.lockName(), Failures.reason(last, server), last);
    }

    /** The name of the server of a lock, looked up if need be. */
    public String serverOf(LockKeys keys, Deadline until) {
        String server = topology.serverOf(keys.slot());
        if (server.isEmpty() && !topology.spansSlots()) {
            try {
                topology.nodeOf(keys.slot(), until.within(timeout));
            } catch (JedisException e) {
                throw new StoreUnavailableException(keys.name(), Failures.reason(e, Failures.SERVER), e);
            }
            server = topology.serverOf(keys.slot());
        }
        return server;
    }

    /** Splits what one script call could carry but should not: a server serves nobody else meanwhile. */
    public static <T> List<List<T>> chunks(List<T> all, int size) {
        List<List<T>> chunks = new ArrayList<>();
        for (int from = 0; from < all.size(); from += size) {
            chunks.add(all.subList(from, Math.min(from + size, all.size())));
        }
        return chunks;
    }
}
