package io.holdfast.redis;

import io.holdfast.LockException;
import io.holdfast.LossReason;
import io.holdfast.StoreUnavailableException;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.redis.channel.ClientChannels;
import io.holdfast.redis.script.LockKeys;
import io.holdfast.redis.script.Micros;
import io.holdfast.redis.script.Script;
import io.holdfast.redis.script.ScriptCall;
import io.holdfast.redis.script.ScriptCalls;
import io.holdfast.redis.script.ScriptCalls.Outcome;
import io.holdfast.redis.script.ScriptReply;
import io.holdfast.redis.script.TicketAnswer;
import io.holdfast.redis.server.Topology;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.Tokens;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Keeps tickets at the server, many with one script, and tells each what the server says of it. Thread-safe. */
final class Renewals {

    /** A script that renews this many locks keeps the server from others for about a millisecond. */
    private static final int TICKETS_PER_SCRIPT = 250;
    /** So that a check does not come a hair before the expiry it is for. */
    private static final Duration CHECK_SLACK = Duration.ofMillis(5);

    private static final Duration CHECK_AGAIN = Duration.ofMillis(200);

    private final RedisConfig config;
    private final StoreContext context;
    private final Topology topology;
    private final ScriptCalls calls;
    private final ClientChannels channels;
    private final LiveTickets tickets;

    Renewals(
            RedisConfig config,
            StoreContext context,
            Topology topology,
            ScriptCalls calls,
            ClientChannels channels,
            LiveTickets tickets) {
        this.config = config;
        this.context = context;
        this.topology = topology;
        this.calls = calls;
        this.channels = channels;
        this.tickets = tickets;
    }

    /** For their ttl from now on. */
    void renew(List<Ticket> all, Deadline deadline) {
        renew(all, Ticket::ttl, deadline, Ticket::failing);
    }

    void extend(Ticket ticket, Duration ttl, Deadline deadline) {
        renew(List.of(ticket), any -> ttl, deadline, (failed, cause) -> {
            throw cause;
        });
    }

    /**
     * Asks what became of queued tickets, and takes the lock for one that is next. Keeps none of them: whether a ticket lives on
     * is for the engine to say, and a store that kept tickets by itself would keep those of a client that has given them up.
     */
    void check(List<Ticket> queued) {
        renew(queued, any -> Duration.ZERO, Deadline.after(context.time(), config.timeout()), this::checkAgain);
    }

    /** Takes a grant the server has announced once the replicas have it too: renewed and waited for on one connection. */
    void confirm(Ticket announced) {
        Deadline deadline = Deadline.after(context.time(), config.timeout());
        renew(List.of(announced), Ticket::ttl, deadline, this::checkAgain);
    }

    private void checkAgain(Ticket ticket, LockException cause) {
        checkIn(ticket, CHECK_AGAIN);
    }

    /** Checks after that time at the latest, for a message said so. */
    void checkIn(Ticket ticket, Duration pause) {
        long nowNanos = context.time().nanoTime();
        long atNanos = nowNanos + pause.plus(CHECK_SLACK).toNanos();
        HolderCheck.of(ticket).ifPresent(check -> check.planAsTold(nowNanos, atNanos));
    }

    /** Plans the check of a ticket that is to watch the holder: the first few in the queue who live. */
    void watchHolder(Ticket ticket, TicketAnswer answer, ScriptReply reply) {
        answer.time().ifPresent(left -> {
            long atNanos = context.time().nanoTime() + left.plus(CHECK_SLACK).toNanos();
            HolderCheck.of(ticket).ifPresent(check -> check.planAsAnswered(reply.baseNanos(), atNanos));
        });
    }

    private void renew(
            List<Ticket> all,
            Function<Ticket, Duration> ttl,
            Deadline deadline,
            BiConsumer<Ticket, LockException> failing) {
        List<List<Ticket>> batches = batches(all);
        List<ScriptCall> scripts =
                batches.stream().map(batch -> call(batch, ttl)).toList();
        List<Outcome> outcomes = topology.spansSlots()
                ? scripts.stream()
                        .map(script -> calls.outcome(script, deadline))
                        .toList()
                : calls.runAll(scripts, deadline);
        for (int i = 0; i < batches.size(); i++) {
            List<Ticket> batch = batches.get(i);
            for (int k = 0; k < batch.size(); k++) {
                Ticket ticket = batch.get(k);
                LockException failure = tell(ticket, ttl.apply(ticket), outcomes.get(i), k);
                if (failure != null) {
                    failing.accept(ticket, failure);
                }
            }
        }
    }

    /** What one script may renew. */
    private List<List<Ticket>> batches(List<Ticket> all) {
        Collection<List<Ticket>> together = topology.spansSlots()
                ? List.of(all)
                : all.stream()
                        .collect(Collectors.groupingBy(ticket -> keys(ticket).slot()))
                        .values();
        return together.stream()
                .flatMap(some -> ScriptCalls.chunks(some, TICKETS_PER_SCRIPT).stream())
                .toList();
    }

    private ScriptCall call(List<Ticket> batch, Function<Ticket, Duration> ttl) {
        List<String> keys = new ArrayList<>(4 * batch.size());
        List<String> arguments = new ArrayList<>(3 * batch.size());
        for (Ticket ticket : batch) {
            keys.addAll(keys(ticket).all());
            arguments.add(ticket.owner().toString());
            arguments.add(Micros.text(ttl.apply(ticket)));
            arguments.add(channels.nameForScripts());
        }
        Ticket first = batch.get(0);
        return new ScriptCall(Script.RENEW, keys(first).slot(), first.name(), keys, arguments);
    }

    /** Returns the failure if the server said nothing of the ticket. */
    private @Nullable LockException tell(Ticket ticket, Duration ttl, Outcome outcome, int index) {
        if (outcome instanceof Outcome.Failed failed) {
            return failed.cause();
        }
        ScriptReply reply = outcome.replyOrThrow();
        TicketAnswer answer = reply.ticket(index);
        switch (answer.kind()) {
            case HELD -> {
                if (reply.replicas() < config.replicas()) {
                    return new UnknownOutcomeException(
                            ticket.name(), "only " + reply.replicas() + " replicas confirmed the renewal");
                }
                tellHeld(ticket, ttl, answer.token(), reply.baseNanos());
            }
            case WAITING -> {
                if (!ttl.isZero()) {
                    ticket.waiting(ttl, reply.baseNanos());
                }
                watchHolder(ticket, answer, reply);
            }
            case GONE -> {
                tickets.forget(ticket);
                ticket.gone(LossReason.GONE, "the server no longer knows it");
                return null;
            }
            default -> {
                return new StoreUnavailableException(
                        ticket.name(), answer.detail().orElse(""));
            }
        }
        channels.listen(topology.serverOf(keys(ticket).slot()));
        return null;
    }

    private static void tellHeld(Ticket ticket, Duration ttl, long token, long baseNanos) {
        if (ttl.isZero()) {
            // The check itself extended nothing.
            ticket.granted(token);
        } else if (ticket.storeToken() == Tokens.NONE) {
            ticket.granted(token, ttl, baseNanos);
        } else {
            ticket.extended(ttl, baseNanos);
        }
        HolderCheck.of(ticket).ifPresent(HolderCheck::cancel);
    }

    private LockKeys keys(Ticket ticket) {
        return LockKeys.of(config.prefix(), ticket.name());
    }
}
