package io.holdfast.torture.mutant;

import io.holdfast.Demand;
import io.holdfast.LockView;
import io.holdfast.spi.Admission;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Grant;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.Request;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TicketListener;
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
import org.jspecify.annotations.Nullable;

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

    Answer attempt(Request request, long sentNanos) {
        return step(() -> {
            if (!admits(request.demand())) {
                return new Answer.Refused("it is taken");
            }
            Place place = new Place(request, null, sentNanos);
            line.add(place);
            return new Answer.Granted(grant(place));
        });
    }

    Answer enqueue(Request request, TicketListener listener, long sentNanos) {
        return step(() -> {
            Place place = new Place(request, listener, sentNanos);
            if (admits(request.demand())) {
                line.add(place);
                return new Answer.Granted(grant(place));
            }
            if (flaw == Flaw.WAITER_FORGOTTEN && forgotten.isEmpty()) {
                forgotten.add(request.owner());
            } else {
                line.add(flaw == Flaw.LAST_COME_FIRST_SERVED ? holders() : line.size(), place);
            }
            return new Answer.Queued(new Ticket(request, request.ttl(), sentNanos));
        });
    }

    /** Whether it is kept. */
    boolean renew(Request request, Duration ttl, long sentNanos) {
        return step(() -> {
            Optional<Place> found = find(request.owner());
            if (flaw == Flaw.RENEWAL_WITHOUT_OWNER_CHECK && found.isEmpty() && !line.isEmpty()) {
                Place taken = new Place(request, null, sentNanos);
                taken.token = line.get(0).token;
                line.set(0, taken);
                return true;
            }
            found.ifPresent(place -> place.extend(ttl, sentNanos));
            return found.isPresent() || forgotten.contains(request.owner());
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
                line.replaceAll(place -> place.isOf(owner) ? new Place(place.request, null, place.heardNanos) : place);
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
                Demand demand = place.request.demand();
                if (place.isHolder()) {
                    holders.add(new LockView.Holder(
                            Optional.empty(), demand, place.token << 10, Optional.empty(), Optional.empty()));
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
            if (!admission.admit(admitted(place.request.demand()))) {
                return;
            }
            TicketListener listener = place.listener;
            if (!place.isHolder() && listener != null) {
                Grant grant = grant(place);
                pushes.add(() -> listener.granted(grant));
            }
        }
    }

    private boolean admits(Demand newcomer) {
        if (flaw == Flaw.GRANTED_THOUGH_HELD
                || flaw == Flaw.READERS_BESIDE_A_WRITER && newcomer instanceof Demand.Shared) {
            return true;
        }
        Admission admission = new Admission();
        return line.stream().allMatch(place -> admission.admit(admitted(place.request.demand())))
                && admission.admit(admitted(newcomer));
    }

    private Demand admitted(Demand demand) {
        return flaw == Flaw.ONE_PERMIT_TOO_MANY && demand instanceof Demand.Permits permits
                ? Demand.permits(permits.count(), permits.total() + 1)
                : demand;
    }

    private Grant grant(Place place) {
        boolean sharesToken = flaw == Flaw.ONE_TOKEN_FOR_ALL_READERS && place.request.demand() instanceof Demand.Shared;
        place.token = sharesToken && lastToken > 0 ? lastToken : ++lastToken;
        place.expiresNanos = System.nanoTime() + place.ttl(place.request.ttl());
        return new Grant(place.request, place.token, place.request.ttl(), place.heardNanos);
    }

    private int holders() {
        return (int) line.stream().filter(Place::isHolder).count();
    }

    private Optional<Place> find(OwnerId owner) {
        return line.stream().filter(place -> place.isOf(owner)).findFirst();
    }

    /** One holder or waiter. */
    private final class Place {

        private final Request request;
        private final @Nullable TicketListener listener;
        private long token;
        private long heardNanos;
        private long expiresNanos;

        Place(Request request, @Nullable TicketListener listener, long sentNanos) {
            this.request = request;
            this.listener = listener;
            this.heardNanos = sentNanos;
            this.expiresNanos = System.nanoTime() + ttl(request.ttl());
        }

        boolean isHolder() {
            return token > 0;
        }

        boolean isOf(OwnerId owner) {
            return request.owner().equals(owner);
        }

        void extend(Duration ttl, long sentNanos) {
            heardNanos = sentNanos;
            expiresNanos = Math.max(expiresNanos, System.nanoTime() + ttl(ttl));
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
