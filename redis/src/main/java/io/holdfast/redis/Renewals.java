package io.holdfast.redis;

import io.holdfast.LockException;
import io.holdfast.LossReason;
import io.holdfast.StoreUnavailableException;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.redis.channel.ClientChannels;
import io.holdfast.redis.script.KnownKeys;
import io.holdfast.redis.script.ScriptCall;
import io.holdfast.redis.script.ScriptCalls;
import io.holdfast.redis.script.ScriptCalls.Outcome;
import io.holdfast.redis.script.ScriptReply;
import io.holdfast.redis.script.TicketAnswer;
import io.holdfast.redis.script.TicketCalls;
import io.holdfast.redis.server.Topology;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.Tokens;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Keeps tickets at the server, many with one script, and tells each what the server says of it. Thread-safe. */
final class Renewals {

    /** A script that keeps this many tickets keeps the server from others for about a millisecond. */
    private static final int TICKETS_PER_SCRIPT = 250;
    /** So that a check does not come a hair before the expiry it is for. */
    private static final Duration CHECK_SLACK = Duration.ofMillis(5);

    private static final Duration CHECK_AGAIN = Duration.ofMillis(200);
    /** A holder that is gone is told soon, even if the server does not say why. */
    private static final Duration ASK_WHY = Duration.ofMillis(500);

    private final RedisConfig config;
    private final StoreContext context;
    private final Topology topology;
    private final ScriptCalls calls;
    private final KnownKeys knownKeys;
    private final TicketCalls ticketCalls;
    private final ClientChannels channels;
    private final LiveTickets tickets;
    private final Map<String, DueChecks> dueChecks = new ConcurrentHashMap<>();

    Renewals(
            RedisConfig config,
            StoreContext context,
            Topology topology,
            ScriptCalls calls,
            KnownKeys knownKeys,
            ClientChannels channels,
            LiveTickets tickets) {
        this.config = config;
        this.context = context;
        this.topology = topology;
        this.calls = calls;
        this.knownKeys = knownKeys;
        this.ticketCalls = new TicketCalls(knownKeys, channels.nameForScripts(), config.counterLife());
        this.channels = channels;
        this.tickets = tickets;
    }

    /** For their ttl from now on. */
    void renew(List<Ticket> all, Deadline deadline) {
        new Round(Ticket::ttl, deadline, Ticket::failing).keep(all);
    }

    void extend(Ticket ticket, Duration ttl, Deadline deadline) {
        Round round = new Round(any -> ttl, deadline, (failed, cause) -> {
            throw cause;
        });
        round.keep(List.of(ticket));
    }

    /**
     * Asks what became of tickets, and takes the lock for one that is next. Keeps none of them: whether a ticket lives on
     * is for the engine to say, and a store that kept tickets by itself would keep those of a client that has given them up.
     */
    void check(List<Ticket> some) {
        new Round(any -> Duration.ZERO, Deadline.after(context.time(), config.timeout()), this::checkAgain).keep(some);
    }

    /** Takes a grant the server has announced once the replicas have it too: renewed and waited for on one connection. */
    void confirm(Ticket announced) {
        new Round(Ticket::ttl, Deadline.after(context.time(), config.timeout()), this::checkAgain)
                .keep(List.of(announced));
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

    /** Checks a queued ticket in the background, together with others that are due. */
    void checkSoon(Ticket ticket) {
        String server = topology.serverOf(knownKeys.of(ticket).slot());
        dueChecks
                .computeIfAbsent(server, any -> new DueChecks(context.background(), this::checkDue))
                .add(ticket);
    }

    /** One ticket of a lock is enough: the script lets in whoever is next. */
    private void checkDue(List<Ticket> due) {
        List<Ticket> oldest = new ArrayList<>();
        for (Ticket ticket : due) {
            if (!ticket.isQueued()) {
                continue;
            }
            if (tickets.isOldestWaiting(ticket)) {
                oldest.add(ticket);
            } else {
                HolderCheck.of(ticket).ifPresent(HolderCheck::skip);
                if (tickets.isOldestWaiting(ticket)) {
                    // The older one left meanwhile.
                    oldest.add(ticket);
                }
            }
        }
        check(oldest);
    }

    /** Plans when a waiting ticket looks again. */
    void watchHolder(Ticket ticket, TicketAnswer answer, ScriptReply reply) {
        answer.time().ifPresent(left -> {
            long atNanos = context.time().nanoTime() + left.plus(CHECK_SLACK).toNanos();
            HolderCheck.of(ticket).ifPresent(check -> check.planAsAnswered(reply.baseNanos(), atNanos));
        });
    }

    /** One go at keeping tickets. */
    private final class Round {

        private final Function<Ticket, Duration> ttl;
        private final Deadline deadline;
        private final BiConsumer<Ticket, LockException> failing;

        /** Holders the server does not know, and does not say why. */
        private final Set<Ticket> lost = new LinkedHashSet<>();

        Round(Function<Ticket, Duration> ttl, Deadline deadline, BiConsumer<Ticket, LockException> failing) {
            this.ttl = ttl;
            this.deadline = deadline;
            this.failing = failing;
        }

        /** Holders first: a heartbeat that comes late costs less. */
        void keep(List<Ticket> all) {
            Map<Boolean, List<Ticket>> byHeld =
                    all.stream().collect(Collectors.partitioningBy(ticket -> ticket.state() == Ticket.State.HELD));
            send(byHeld.get(true), ticketCalls::renew, deadline);
            if (!lost.isEmpty()) {
                askWhy();
            }
            send(byHeld.get(false), ticketCalls::heartbeat, deadline);
        }

        private void send(
                List<Ticket> some,
                BiFunction<List<Ticket>, Function<Ticket, Duration>, TicketCalls.Batch> call,
                Deadline until) {
            List<TicketCalls.Batch> batches =
                    batches(some).stream().map(part -> call.apply(part, ttl)).toList();
            if (topology.spansSlots()) {
                batches.forEach(batch -> tell(batch, calls.outcome(batch.call(), until)));
            } else if (!batches.isEmpty()) {
                List<ScriptCall> scripts =
                        batches.stream().map(TicketCalls.Batch::call).toList();
                calls.runAll(scripts, until, (number, outcome) -> tell(batches.get(number), outcome));
            }
        }

        private void tell(TicketCalls.Batch batch, Outcome outcome) {
            for (int i = 0; i < batch.tickets().size(); i++) {
                Ticket ticket = batch.tickets().get(i);
                if (outcome instanceof Outcome.Failed failed) {
                    failing.accept(ticket, failed.cause());
                } else {
                    ScriptReply reply = outcome.replyOrThrow();
                    tell(ticket, reply, reply.ticket(i));
                }
            }
            channels.listen(topology.serverOf(batch.call().slot()));
        }

        private void tell(Ticket ticket, ScriptReply reply, TicketAnswer answer) {
            switch (answer.kind()) {
                case HELD -> tellHeld(ticket, reply, answer);
                case WAITING -> {
                    if (!ttl.apply(ticket).isZero()) {
                        ticket.waiting(ttl.apply(ticket), reply.baseNanos());
                    }
                    watchHolder(ticket, answer, reply);
                }
                case FORCED -> lose(ticket, LossReason.FORCED, "an administrator released it by force");
                case GONE -> {
                    if (ticket.state() != Ticket.State.HELD || !lost.add(ticket)) {
                        lose(ticket, LossReason.GONE, "the server no longer knows it");
                    }
                }
                default ->
                    failing.accept(
                            ticket,
                            new StoreUnavailableException(
                                    ticket.name(), answer.detail().orElse("")));
            }
        }

        private void tellHeld(Ticket ticket, ScriptReply reply, TicketAnswer answer) {
            if (reply.replicas() < config.replicas()) {
                failing.accept(
                        ticket,
                        new UnknownOutcomeException(
                                ticket.name(), "only " + reply.replicas() + " replicas confirmed the renewal"));
                return;
            }
            Duration given = ttl.apply(ticket);
            if (ticket.storeToken() == Tokens.NONE && answer.detail().isPresent()) {
                if (given.isZero()) {
                    // The check itself extended nothing.
                    ticket.granted(answer.token());
                } else {
                    ticket.granted(answer.token(), given, reply.baseNanos());
                }
            } else if (!given.isZero()) {
                ticket.extended(given, reply.baseNanos());
            }
            tickets.waitsNoLonger(ticket);
        }

        /** By the script that knows more than the lock key. If it cannot be asked, they are lost all the same. */
        private void askWhy() {
            new Round(any -> Duration.ZERO, deadline, (ticket, cause) -> {}).askWhy(lost);
            lost.forEach(ticket -> lose(ticket, LossReason.GONE, "the server no longer knows it"));
        }

        private void askWhy(Collection<Ticket> unknown) {
            lost.addAll(unknown);
            send(List.copyOf(unknown), ticketCalls::heartbeat, deadline.within(ASK_WHY));
        }
    }

    private void lose(Ticket ticket, LossReason reason, String detail) {
        tickets.forget(ticket);
        ticket.gone(reason, detail);
    }

    /** What one script may keep: in a cluster one lock only, for two of a slot on its way may be at different servers. */
    private List<List<Ticket>> batches(List<Ticket> all) {
        Collection<List<Ticket>> together = topology.spansSlots()
                ? List.of(all)
                : all.stream()
                        .collect(Collectors.groupingBy(knownKeys::of, LinkedHashMap::new, Collectors.toList()))
                        .values();
        return together.stream()
                .flatMap(some -> ScriptCalls.chunks(some, TICKETS_PER_SCRIPT).stream())
                .toList();
    }
}
