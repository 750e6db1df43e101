package io.holdfast.torture.mutant;

import io.holdfast.Demand;
import io.holdfast.LockView;
import io.holdfast.spi.Admission;
import io.holdfast.spi.LockStore.Mode;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.Tokens;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * The server side of a small store for one lock: a line of holders and waiters, correct but for one flaw. Clients reach it over
 * a {@link Wire}.
 */
final class FlawedStore implements AutoCloseable {

    private static final Duration TICK = Duration.ofMillis(5);
    private static final long FOR_EVER = Duration.ofHours(1).toNanos();

    private final Flaw flaw;
    private final ReentrantLock mutex = new ReentrantLock();
    private final List<Place> line = new ArrayList<>();
    private final CountDownLatch withdrawal = new CountDownLatch(1);
    private final List<OwnerId> forgotten = new ArrayList<>();
    private final ScheduledExecutorService clock =
            Executors.newSingleThreadScheduledExecutor(task -> new Thread(task, "flawed-store"));
    private long lastToken;

    FlawedStore(Flaw flaw) {
        this.flaw = flaw;
        clock.scheduleAtFixedRate(() -> step(() -> 0), TICK.toNanos(), TICK.toNanos(), TimeUnit.NANOSECONDS);
    }

    StoreFactory over(Wire wire) {
        return context -> new FlawedStoreClient(this, wire, flaw);
    }

    /** The token of its grant; empty if it was refused, or waits in line. */
    Optional<Long> request(Ticket ticket, Mode mode) {
        return step(() -> {
            Place place = new Place(ticket);
            if (admits(ticket.demand())) {
                line.add(place);
                return Optional.of(grant(place));
            }
            if (mode == Mode.QUEUE) {
                queue(place);
            }
            return Optional.empty();
        });
    }

    private void queue(Place place) {
        if (flaw == Flaw.WAITER_FORGOTTEN && forgotten.isEmpty()) {
            forgotten.add(place.ticket.owner());
        } else {
            line.add(flaw == Flaw.LAST_COME_FIRST_SERVED ? holders() : line.size(), place);
        }
    }

    /** What has become of a ticket by the time it is renewed. */
    enum Renewed {
        WAITING,
        HELD,
        GONE
    }

    Renewed renew(Ticket ticket, Duration ttl) {
        return step(() -> {
            Optional<Place> found = find(ticket.owner());
            if (flaw == Flaw.RENEWAL_WITHOUT_OWNER_CHECK && found.isEmpty() && !line.isEmpty()) {
                Place taken = new Place(ticket);
                taken.token = line.get(0).token;
                line.set(0, taken);
                return Renewed.HELD;
            }
            if (found.isEmpty()) {
                return forgotten.contains(ticket.owner()) ? Renewed.WAITING : Renewed.GONE;
            }
            found.get().extend(ttl);
            return found.get().isHolder() ? Renewed.HELD : Renewed.WAITING;
        });
    }

    /** Whether it was held. */
    boolean release(OwnerId owner) {
        return step(() -> {
            if (flaw == Flaw.RELEASE_WITHOUT_OWNER_CHECK && holders() > 0) {
                line.remove(0);
                return true;
            }
            return line.removeIf(place -> place.isOf(owner) && place.isHolder());
        });
    }

    boolean withdraw(OwnerId owner) {
        boolean withdrawn = step(() -> {
            if (flaw == Flaw.TICKETS_LEFT_BEHIND) {
                find(owner).ifPresent(Place::abandon);
                return true;
            }
            return line.removeIf(place -> place.isOf(owner));
        });
        withdrawal.countDown();
        return withdrawn;
    }

    /** Those who give up leave the line in the background. */
    void awaitWithdrawal() throws InterruptedException {
        if (!withdrawal.await(30, TimeUnit.SECONDS)) {
            throw new IllegalStateException("nobody left the line");
        }
    }

    void restart() {
        step(() -> {
            if (flaw == Flaw.TOKENS_RESET_BY_RESTART) {
                lastToken = 0;
            }
            return flaw == Flaw.LEASES_FORGOTTEN_BY_RESTART && line.removeIf(Place::isHolder);
        });
    }

    /** Whether anybody ever held the lock. */
    boolean hasGranted() {
        return step(() -> lastToken > 0);
    }

    LockView view(String name) {
        return step(() -> {
            List<LockView.Holder> holders = new ArrayList<>();
            List<LockView.Waiter> waiters = new ArrayList<>();
            for (Place place : line) {
                Demand demand = place.ticket.demand();
                if (place.isHolder()) {
                    holders.add(new LockView.Holder(
                            Optional.empty(), demand, Optional.of(place.token), Optional.empty(), Optional.empty()));
                } else {
                    waiters.add(new LockView.Waiter(Optional.empty(), demand, Optional.empty()));
                }
            }
            return new LockView(name, holders, waiters);
        });
    }

    @Override
    public void close() {
        clock.shutdownNow();
    }

    /** One atomic step, before and after which the line is brought up to date. Pushes follow outside the mutex. */
    private <T> T step(Supplier<T> operation) {
        List<Runnable> pushes = new ArrayList<>();
        mutex.lock();
        try {
            bringUpToDate(pushes);
            T result = operation.get();
            bringUpToDate(pushes);
            return result;
        } finally {
            mutex.unlock();
            pushes.forEach(Runnable::run);
        }
    }

    private void bringUpToDate(List<Runnable> pushes) {
        long now = System.nanoTime();
        line.removeIf(place -> place.expiresNanos - now <= 0);
        Admission admission = new Admission();
        for (Place place : line) {
            if (!admission.admit(admitted(place.ticket.demand()))) {
                return;
            }
            if (!place.isHolder() && !place.abandoned) {
                long token = grant(place);
                pushes.add(() -> place.ticket.granted(token));
            }
        }
    }

    private boolean admits(Demand newcomer) {
        if (flaw == Flaw.GRANTED_THOUGH_HELD
                || flaw == Flaw.READERS_BESIDE_A_WRITER && newcomer instanceof Demand.Shared) {
            return true;
        }
        Admission admission = new Admission();
        return line.stream().allMatch(place -> admission.admit(admitted(place.ticket.demand())))
                && admission.admit(admitted(newcomer));
    }

    private Demand admitted(Demand demand) {
        return flaw == Flaw.ONE_PERMIT_TOO_MANY && demand instanceof Demand.Permits permits
                ? Demand.permits(permits.count(), permits.total() + 1)
                : demand;
    }

    private long grant(Place place) {
        boolean sharesToken = flaw == Flaw.ONE_TOKEN_FOR_ALL_READERS && place.ticket.demand() instanceof Demand.Shared;
        place.token = sharesToken && lastToken > 0 ? lastToken : ++lastToken;
        place.expiresNanos = System.nanoTime() + place.ttl(place.ticket.ttl());
        return place.token;
    }

    private int holders() {
        return (int) line.stream().filter(Place::isHolder).count();
    }

    private Optional<Place> find(OwnerId owner) {
        return line.stream().filter(place -> place.isOf(owner)).findFirst();
    }

    /** One holder or waiter. */
    private final class Place {

        private final Ticket ticket;
        private long token = Tokens.NONE;
        private long expiresNanos;
        /** Its owner has withdrawn it, so it is never granted. */
        private boolean abandoned;

        Place(Ticket ticket) {
            this.ticket = ticket;
            this.expiresNanos = System.nanoTime() + ttl(ticket.ttl());
        }

        boolean isHolder() {
            return token != Tokens.NONE;
        }

        boolean isOf(OwnerId owner) {
            return ticket.owner().equals(owner);
        }

        void extend(Duration ttl) {
            expiresNanos = Math.max(expiresNanos, System.nanoTime() + ttl(ttl));
        }

        void abandon() {
            abandoned = true;
        }

        long ttl(Duration asked) {
            return switch (flaw) {
                case EXPIRES_TOO_SOON -> asked.toNanos() / 10;
                case NEVER_EXPIRES, TICKETS_LEFT_BEHIND -> FOR_EVER;
                default -> asked.toNanos();
            };
        }
    }
}
