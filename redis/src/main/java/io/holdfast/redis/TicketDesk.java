package io.holdfast.redis;

import io.holdfast.spi.Grant;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.Request;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TicketListener;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/** Remembers who of this client waits in Redis, and whose grants have been handed out. Thread-safe. */
final class TicketDesk {

    /*
     * A grant reaches its waiter on one of three ways: as a message, in the answer to a heartbeat, or in the answer to a check
     * (after a resubscription, or at the holder's deadline). They race, and messages may be late: a message can lie in a
     * socket while the heartbeat that overtook it has long delivered the grant. So:
     *
     * - Whoever removes the ticket from `waiting` delivers; the others find nothing.
     * - A message for nobody in `waiting` means one of two things. Either its waiter gave up, and the grant must be released
     *   at once; or the grant was delivered on another way, and must not be touched. `delivered` tells them apart. An owner is
     *   put there before it leaves `waiting`, and stays while its lease is renewed: forgotten when it is released, withdrawn
     *   or found gone, and swept when two ttls have passed since its last renewal, when nothing of it can be left to harm.
     * - A ticket is added before its enqueue is sent, for the message may come before the answer. Until that answer it must not
     *   be checked: the check might overtake the enqueue, find nothing and declare the ticket lost. If a subscription comes up
     *   meanwhile, whose check left this ticket out, the enqueue itself notices afterwards and checks (see Mailbox.round).
     * - After withdraw() has returned the listener must not be called: ending a ticket and delivering it exclude each other
     *   through the ticket's own monitor. Listeners only record and unpark, so nothing waits inside it.
     */

    /** When a ticket looks after the holder. */
    private record Check(long atNanos, StoreContext.Alarm alarm) {}

    /** A request in line. */
    static final class Waiting {
        private final Request request;
        private final LockKeys keys;
        private final TicketListener listener;
        private long baseNanos;
        private boolean confirmed;
        private boolean ended;
        private @Nullable Check check;
        private @Nullable Long newestNanos;

        Waiting(Request request, LockKeys keys, TicketListener listener, long baseNanos) {
            this.request = request;
            this.keys = keys;
            this.listener = listener;
            this.baseNanos = baseNanos;
        }

        Request request() {
            return request;
        }

        LockKeys keys() {
            return keys;
        }

        /** The store answered "still waiting" to a request sent then. */
        synchronized void extended(long newBaseNanos) {
            confirmed = true;
            if (newBaseNanos - baseNanos > 0) {
                baseNanos = newBaseNanos;
            }
        }

        private synchronized boolean isConfirmed() {
            return confirmed;
        }

        private synchronized boolean end() {
            boolean first = !ended;
            ended = true;
            replaceCheck(null);
            return first;
        }

        private void replaceCheck(@Nullable Check next) {
            if (check != null) {
                check.alarm.cancel();
            }
            check = next;
        }

        private synchronized void checkAsAnswered(long sentNanos, long atNanos, LongFunction<Check> arm) {
            boolean mayBeOlder = newestNanos != null && newestNanos - sentNanos > 0;
            if (!mayBeOlder) {
                newestNanos = sentNanos;
            }
            if (!ended && !(mayBeOlder && isCheckedBefore(atNanos))) {
                replaceCheck(arm.apply(atNanos));
            }
        }

        private synchronized void checkAsTold(long heardNanos, long atNanos, LongFunction<Check> arm) {
            newestNanos = heardNanos;
            if (!ended && !isCheckedBefore(atNanos)) {
                replaceCheck(arm.apply(atNanos));
            }
        }

        private boolean isCheckedBefore(long nanos) {
            return check != null && check.atNanos - nanos < 0;
        }

        private synchronized void wentOff(long atNanos) {
            if (check != null && check.atNanos == atNanos) {
                check = null;
            }
        }

        private synchronized void deliver(long token) {
            if (end()) {
                listener.granted(new Grant(request, token, request.ttl(), baseNanos));
            }
        }

        private synchronized void lose(String reason) {
            if (end()) {
                listener.lost(reason);
            }
        }
    }

    private static final int SWEEP_EVERY = 512;

    private final StoreContext context;
    private final Map<OwnerId, Waiting> waiting = new ConcurrentHashMap<>();
    /** Owner to the time after which nothing of it can be left. */
    private final Map<OwnerId, Long> delivered = new ConcurrentHashMap<>();

    private final AtomicInteger deliveredSinceSweep = new AtomicInteger();

    TicketDesk(StoreContext context) {
        this.context = context;
    }

    Waiting add(Request request, LockKeys keys, TicketListener listener, long baseNanos) {
        Waiting added = new Waiting(request, keys, listener, baseNanos);
        waiting.put(request.owner(), added);
        return added;
    }

    @Nullable
    Waiting find(OwnerId owner) {
        return waiting.get(owner);
    }

    /** Those whose place the store has confirmed. */
    List<Waiting> confirmed() {
        return waiting.values().stream().filter(Waiting::isConfirmed).toList();
    }

    boolean knows(OwnerId owner) {
        return waiting.containsKey(owner) || delivered.containsKey(owner);
    }

    boolean hasDelivered(OwnerId owner) {
        return delivered.containsKey(owner);
    }

    /** Hands a grant to its waiter, unless that has been done or it has given up. */
    void deliver(OwnerId owner, long token) {
        Waiting found = waiting.get(owner);
        if (found != null) {
            remember(owner, found.request);
            if (waiting.remove(owner, found)) {
                found.deliver(token);
            }
        }
    }

    void lose(OwnerId owner, String reason) {
        Waiting found = waiting.remove(owner);
        if (found != null) {
            found.lose(reason);
        }
    }

    /** The lease of a delivered grant was renewed. */
    void renewed(Request request) {
        delivered.computeIfPresent(request.owner(), (owner, old) -> horizon(request));
    }

    /** The request itself brought the grant, after a first try that may have been granted by a message still under way. */
    void claimed(Request request) {
        remember(request.owner(), request);
        Waiting found = waiting.remove(request.owner());
        if (found != null) {
            found.end();
        }
    }

    /** Nothing of this owner is wanted any more; its listener is not called after this. */
    void forget(OwnerId owner) {
        Waiting found = waiting.remove(owner);
        if (found != null) {
            found.end();
        }
        delivered.remove(owner);
    }

    /** Checks then and not when it was said before, unless we know something from after the request was sent. */
    void checkAsAnswered(Waiting ticket, long sentNanos, long atNanos, Consumer<Waiting> check) {
        ticket.checkAsAnswered(sentNanos, atNanos, at -> arm(ticket, at, check));
    }

    /** Checks then at the latest: a message may be older than an answer we have, so it does not put a check off. */
    void checkAsTold(Waiting ticket, long heardNanos, long atNanos, Consumer<Waiting> check) {
        ticket.checkAsTold(heardNanos, atNanos, at -> arm(ticket, at, check));
    }

    private Check arm(Waiting ticket, long atNanos, Consumer<Waiting> check) {
        Runnable task = () -> {
            ticket.wentOff(atNanos);
            check.accept(ticket);
        };
        return new Check(
                atNanos, context.timer().at(atNanos, () -> context.background().execute(task)));
    }

    private void remember(OwnerId owner, Request request) {
        delivered.put(owner, horizon(request));
        if (deliveredSinceSweep.incrementAndGet() % SWEEP_EVERY == 0) {
            long now = context.time().nanoTime();
            delivered.values().removeIf(horizon -> now - horizon > 0);
        }
    }

    private long horizon(Request request) {
        return context.time().nanoTime() + 2 * request.ttl().toNanos();
    }
}
