package io.holdfast.internal.ticket;

import io.holdfast.internal.work.Callbacks;
import io.holdfast.internal.work.ServerThreads;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.StoreContext.Timer;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TimeSource;
import io.holdfast.spi.support.EarliestAlarm;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;

/*
 * Keeps this client's tickets alive at the store, and notices when it cannot.
 *
 * All of them sit in one map. The timer thread walks it when something is due, sorts what is due into one batch per server,
 * hands each batch to that server's renewal thread, and ends what has reached its local deadline. It does no I/O, so a hanging
 * server never delays the news that a lease is over.
 *
 * A lock that is taken and released at once must not pay for this: keep and drop are one map operation each, and the alarm is
 * set only if the new due time lies before the next planned walk. Walks are bunched (slackNanos), so ten thousand leases cost
 * some ten walks per renewal period, not ten thousand.
 *
 * Whether a ticket has ended is the ticket's own decision, made in one step with the look at its deadline. The walk asks it: an
 * ended ticket has told its user and leaves the map, any other is planned for again. There is nothing between the two.
 */

/** Renews what is due and ends what is over. Thread-safe. */
public final class Keeper {

    private static final Logger LOG = System.getLogger(Keeper.class.getName());

    private final StoreRequests requests;
    private final TimeSource time;
    private final ServerThreads threads;
    private final Callbacks callbacks;
    private final Runnable afterWalk;
    private final EarliestAlarm alarm;
    private final BiConsumer<String, List<KeptTicket>> submission = this::submit; // made while there is memory for it
    /** Servers at which the last batch of renewals failed. */
    private final Set<String> serversAway = ConcurrentHashMap.newKeySet();

    private final ConcurrentHashMap<OwnerId, KeptTicket> kept = new ConcurrentHashMap<>();

    /** @param callbacks where it logs, since a log may block */
    public Keeper(
            StoreRequests requests,
            TimeSource time,
            Timer timer,
            ServerThreads threads,
            Callbacks callbacks,
            Runnable afterWalk) {
        this.requests = requests;
        this.time = time;
        this.threads = threads;
        this.callbacks = callbacks;
        this.afterWalk = afterWalk;
        this.alarm = new EarliestAlarm(timer, this::walk);
    }

    void keep(KeptTicket ticket) {
        kept.put(ticket.ticket().owner(), ticket);
        plan(ticket);
    }

    void drop(KeptTicket ticket) {
        kept.remove(ticket.ticket().owner(), ticket);
    }

    public boolean isEmpty() {
        return kept.isEmpty();
    }

    /** How much of its ttl the held ticket has left that is nearest to its end; 1 if none is held. */
    public double leastShareLeft() {
        return kept.values().stream()
                .filter(ticket -> ticket.ticket().state() == Ticket.State.HELD)
                .mapToDouble(KeptTicket::shareLeft)
                .min()
                .orElse(1);
    }

    /** The client closes: what is in use ends, what lies at a gate goes back. */
    public void closeAll() {
        kept.values().forEach(KeptTicket::closeWithClient);
    }

    /** Those whose lease the store does not know by its token and thread. */
    List<KeptTicket> handedOn() {
        return kept.values().stream().filter(KeptTicket::wasHandedOn).toList();
    }

    /** Looks at the ticket when it is due or over; to be called when that has changed. */
    void plan(KeptTicket ticket) {
        alarm.at(earlier(ticket.dueNanos(), ticket.endNanos()));
    }

    private void walk() {
        long now = time.nanoTime();
        Map<String, List<KeptTicket>> due = new HashMap<>();
        try {
            for (KeptTicket ticket : kept.values()) {
                try {
                    look(ticket, now, due);
                } catch (RuntimeException | Error e) {
                    lookAgainAfter(e, ticket);
                }
            }
        } finally {
            // What is reserved is renewed, whatever happens: it could not be reserved again.
            due.forEach(submission);
        }
        afterWalk.run();
    }

    private void look(KeptTicket ticket, long now, Map<String, List<KeptTicket>> due) {
        if (ticket.ticket().state() == Ticket.State.ENDED) {
            return; // its lease or acquisition, which ended it, drops it
        }
        if (ticket.endNanos() - now <= 0 && ticket.endIfOver()) {
            drop(ticket);
            return;
        }
        if (ticket.dueNanos() - now <= ticket.slackNanos()) {
            List<KeptTicket> batch =
                    due.computeIfAbsent(requests.server(ticket.ticket().name()), none -> new ArrayList<>());
            // Into the batch first: nothing that fails may come between reserving a ticket and renewing it.
            batch.add(ticket);
            if (ticket.beginRenewal()) {
                alarm.at(endOrSoon(ticket, now));
                return;
            }
            batch.remove(batch.size() - 1);
        }
        // One with a request under way may be overdue: looking again sooner than its slack would spin.
        alarm.at(earlier(later(ticket.dueNanos(), now + ticket.slackNanos()), endOrSoon(ticket, now)));
    }

    /**
     * Its end; or a moment from now if that has passed and it has not ended, as when its user's time is over during a downgrade: an
     * alarm for a time that has passed would make the timer spin.
     */
    private static long endOrSoon(KeptTicket ticket, long now) {
        long end = ticket.endNanos();
        return end - now > 0 ? end : now + ticket.slackNanos();
    }

    /** Never throws: one ticket's trouble, be it a bug of a store or too little memory for a thread, is not that of the others. */
    private void lookAgainAfter(Throwable trouble, KeptTicket ticket) {
        try {
            long now = time.nanoTime();
            alarm.at(earlier(now + ticket.slackNanos(), endOrSoon(ticket, now)));
            LOG.log(Level.ERROR, "A ticket could not be looked after, trying again", trouble);
        } catch (RuntimeException | Error noMemoryForThatEither) {
            // The next walk, for whatever ticket, looks at all of them.
        }
    }

    private void submit(String server, List<KeptTicket> batch) {
        try {
            threads.renewals(server).execute(() -> renew(server, batch));
        } catch (RuntimeException | Error e) {
            settle(server, batch, e);
        }
    }

    private void renew(String server, List<KeptTicket> batch) {
        Throwable unheard;
        try {
            requests.renew(leastTimeLeftFirst(batch));
            unheard = new IllegalStateException("the store said nothing");
        } catch (RuntimeException | Error e) {
            // Also what a store should not throw: whatever happens, the tickets are renewed again.
            unheard = e;
        }
        settle(server, batch, unheard);
    }

    /** If the time of one request is not enough for all of them, others have another try. */
    private List<Ticket> leastTimeLeftFirst(List<KeptTicket> batch) {
        long now = time.nanoTime();
        // Ends move on meanwhile, so each is looked at once.
        return batch.stream()
                .map(kept -> new TimeLeft(kept.ticket(), kept.ticket().endNanos() - now))
                .sorted(Comparator.comparingLong(TimeLeft::nanos))
                .map(TimeLeft::ticket)
                .toList();
    }

    private record TimeLeft(Ticket ticket, long nanos) {}

    /** @param unheard why tickets of the batch to which the store reported nothing were not renewed */
    private void settle(String server, List<KeptTicket> batch, Throwable unheard) {
        for (KeptTicket ticket : batch) {
            try {
                ticket.finishRenewal(unheard);
                plan(ticket);
            } catch (RuntimeException | Error e) {
                lookAgainAfter(e, ticket);
            }
        }
        try {
            warnOfOutage(server, batch);
        } catch (RuntimeException | Error e) {
            // Too little memory for a message must not keep the next batch from being renewed.
            LOG.log(Level.DEBUG, "Could not warn of failing renewals", e);
        }
    }

    /** The first renewal that fails is worth a warning, those that fail after it are not, until one succeeds. */
    private void warnOfOutage(String server, List<KeptTicket> batch) {
        if (batch.stream().noneMatch(KeptTicket::isFailing)) {
            serversAway.remove(server);
            return;
        }
        List<KeptTicket> failing =
                batch.stream().filter(KeptTicket::isHeldAndFailing).toList();
        if (!failing.isEmpty() && serversAway.add(server)) {
            // Not on this thread, which renews. How long the lease is valid is told as of now, whenever it is logged.
            callbacks.complete(this::logOutage, OutageWarning.of(server, failing));
        }
    }

    private void logOutage(OutageWarning warning) {
        String server = warning.server;
        LOG.log(
                Level.WARNING,
                "Renewals at {0} fail. The lease on lock ''{1}'' with token {2} is still valid for {3} ms{4}. They"
                        + " are tried again until then; check the store: {5}",
                requests.traits().store() + (server.isEmpty() ? "" : " (" + server + ")"),
                warning.lock,
                Long.toString(warning.token),
                Long.toString(warning.leftMillis),
                warning.concerned == 1 ? "" : ", one of " + warning.concerned + " leases that are concerned",
                warning.failure);
    }

    private record OutageWarning(
            String server, String lock, long token, long leftMillis, int concerned, String failure) {

        static OutageWarning of(String server, List<KeptTicket> failing) {
            KeptTicket first = failing.get(0);
            return new OutageWarning(
                    server,
                    first.ticket().name(),
                    first.usersToken(),
                    first.left().toMillis(),
                    failing.size(),
                    first.failureText());
        }
    }

    private static long earlier(long a, long b) {
        return a - b < 0 ? a : b;
    }

    private static long later(long a, long b) {
        return a - b < 0 ? b : a;
    }
}
