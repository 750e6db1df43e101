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
import java.util.List;
import java.util.Optional;
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

    private final Topology topology;
    private final FailoverPause failover;
    private final Exchange exchange;
    private final Duration timeout;

    public ScriptCalls(
            Topology topology, FailoverPause failover, StoreContext context, Duration timeout, int replicas) {
        this.topology = topology;
        this.failover = failover;
        this.exchange = new Exchange(context, replicas);
        this.timeout = timeout;
    }

    /** Not interruptible: on a virtual thread an interrupt would close the socket, so the flag is put aside meanwhile. */
    public ScriptReply run(ScriptCall call, Deadline until) {
        boolean interrupted = Thread.interrupted();
        try {
            return new Delivery(call, until.within(timeout)).run();
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** One call, until it is answered or has failed for good. */
    private final class Delivery {

        private final ScriptCall call;
        private final Deadline deadline;
        /** The last failure after something was sent. */
        private @Nullable Throwable sentFailure;

        private @Nullable Node redirectedTo;
        private String asked = Failures.SERVER;
        private boolean asking;

        Delivery(ScriptCall call, Deadline deadline) {
            this.call = call;
            this.deadline = deadline;
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
                follow(e);
            } catch (JedisDataException e) {
                node.giveBack(lent);
                if (!Failures.mayPass(e)) {
                    throw failed(e);
                }
                topology.suspect(node);
                pauseOrFail(e);
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

        private void follow(JedisRedirectionException redirection) {
            try {
                redirectedTo = topology.follow(redirection);
                asking = redirection instanceof JedisAskDataException;
            } catch (JedisException nowhere) {
                throw failed(nowhere);
            }
        }

        private void pauseOrFail(JedisException e) {
            if (!failover.pause(deadline)) {
                throw failed(e);
            }
        }

        private void prepareToSendAgain(JedisConnectionException e) {
            boolean second = sentFailure != null;
            sentFailure = e;
            if (Failures.isTimeout(e) || deadline.hasPassed() || (second && !failover.pause(deadline))) {
                throw failed(e);
            }
        }

        private LockException failed(Throwable last) {
            return failure(call, sentFailure, last, asked);
        }
    }

    public Outcome outcome(ScriptCall call, Deadline until) {
        try {
            return new Outcome.Answered(run(call, until));
        } catch (LockException e) {
            return new Outcome.Failed(e);
        }
    }

    /** Several calls for one server, sent in one go: where one script must not touch several slots. */
    public List<Outcome> runAll(List<ScriptCall> calls, Deadline until) {
        if (calls.size() == 1) {
            return List.of(outcome(calls.get(0), until));
        }
        List<Outcome> outcomes = new ArrayList<>(calls.size());
        for (List<ScriptCall> chunk : chunks(calls, PIPELINED)) {
            outcomes.addAll(pipeline(chunk, until));
        }
        return outcomes;
    }

    private List<Outcome> pipeline(List<ScriptCall> calls, Deadline until) {
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
        List<Outcome> outcomes = new ArrayList<>(calls.size());
        for (int i = 0; i < calls.size(); i++) {
            Object value = replies.values().get(i);
            // A script the server has forgotten, a slot that has moved: each finds its own way.
            outcomes.add(
                    value instanceof JedisDataException
                            ? outcome(calls.get(i), until)
                            : new Outcome.Answered(
                                    new ScriptReply(value, replies.baseNanos(), false, replies.replicas())));
        }
        return outcomes;
    }

    private static List<Outcome> allFailed(
            List<ScriptCall> calls, @Nullable Throwable sentFailure, Throwable last, String server) {
        return calls.stream()
                .<Outcome>map(call -> new Outcome.Failed(failure(call, sentFailure, last, server)))
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
