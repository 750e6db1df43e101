package io.holdfast.memory;

import io.holdfast.Demand;
import io.holdfast.LockView;
import io.holdfast.LossReason;
import io.holdfast.spi.Admission;
import io.holdfast.spi.Grant;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.Request;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TicketListener;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The holders and waiters of one lock in order of arrival; the holders are those the rule admits, so a prefix.
 *
 * <p>Not thread-safe: used inside one atomic step of {@link MemorySpace}.
 */
final class MemoryLine {

    private final AtomicLong lastToken;
    private final List<Place> places = new ArrayList<>(2);
    private Set<String> watchers = Set.of();

    MemoryLine(AtomicLong lastToken) {
        this.lastToken = lastToken;
    }

    boolean isEmpty() {
        return places.isEmpty();
    }

    /** Whether a newcomer would be admitted at once. */
    boolean admits(Demand newcomer) {
        Admission admission = new Admission();
        for (Place place : places) {
            if (!admission.admit(place.request.demand())) {
                return false;
            }
        }
        return admission.admit(newcomer);
    }

    Grant grantNow(Request request, StoreContext context, long now) {
        Place place = new Place(request, null, context, now);
        places.add(place);
        return place.grant(lastToken.incrementAndGet(), now);
    }

    void append(Request request, TicketListener listener, StoreContext context, long now) {
        places.add(new Place(request, listener, context, now));
    }

    /** Drops what has expired and grants to whoever the rule admits now; {@code pushes} takes what tells them. */
    void letIn(long now, Consumer<Runnable> pushes) {
        for (int i = places.size() - 1; i >= 0; i--) {
            if (places.get(i).expiresNanos - now <= 0) {
                places.remove(i);
            }
        }
        Admission admission = new Admission();
        for (Place place : places) {
            if (!admission.admit(place.request.demand())) {
                return;
            }
            TicketListener listener = place.listener;
            if (!place.isHolder() && listener != null) {
                // The base is the waiter's last answered request, not this moment: it may hear of it much later.
                long base = place.heardNanos;
                Grant grant = place.grant(lastToken.incrementAndGet(), now);
                Grant pushed = new Grant(grant.request(), grant.token(), grant.ttl(), base);
                pushes.accept(() -> listener.granted(pushed));
            }
        }
    }

    boolean extend(OwnerId owner, long now, Duration ttl) {
        Place place = find(owner);
        if (place == null) {
            return false;
        }
        place.lastAtLeast(now + ttl.toNanos());
        place.heardNanos = now;
        return true;
    }

    boolean release(OwnerId owner, Duration linger, long now) {
        Place place = find(owner);
        if (place == null || !place.isHolder()) {
            return false;
        }
        if (linger.isZero()) {
            places.remove(place);
        } else {
            place.lingers(now + linger.toNanos());
        }
        return true;
    }

    boolean remove(OwnerId owner) {
        return places.removeIf(place -> place.isOf(owner));
    }

    boolean downgrade(Request shared, long now) {
        Place place = find(shared.owner());
        if (place == null || !place.isHolder()) {
            return false;
        }
        place.request = shared;
        place.lastAtLeast(now + shared.ttl().toNanos());
        return true;
    }

    /** Returns how many there were; {@code losses} tells them. */
    int removeHolders(List<Runnable> losses) {
        Iterator<Place> each = places.iterator();
        while (each.hasNext()) {
            Place place = each.next();
            if (place.isHolder()) {
                each.remove();
                losses.add(() -> place.context
                        .losses()
                        .lost(place.request.owner(), LossReason.FORCED, "an administrator released it by force"));
            }
        }
        return losses.size();
    }

    /** Whether this client has to start looking; false if it does already. */
    boolean startWatch(StoreContext context) {
        if (watchers.isEmpty()) {
            watchers = new HashSet<>();
        }
        return watchers.add(context.clientId());
    }

    /** When a client's alarm is to go off next; empty, and the watch is over, once it has no waiter here. */
    Optional<Duration> watch(StoreContext context, long now) {
        if (places.stream().noneMatch(place -> !place.isHolder() && place.context == context)) {
            if (!watchers.isEmpty()) { // none if the line it watched has gone and this is a new one
                watchers.remove(context.clientId());
            }
            return Optional.empty();
        }
        return timeLeftOfFirst(now);
    }

    /** Until the first place, holder or waiter, expires unless renewed. */
    Optional<Duration> timeLeftOfFirst(long now) {
        return places.stream()
                .map(place -> place.expiresNanos - now)
                .min(Long::compare)
                .map(left -> Duration.ofNanos(Math.max(0, left)));
    }

    LockView view(String name, long now) {
        List<LockView.Holder> holders = new ArrayList<>();
        List<LockView.Waiter> waiters = new ArrayList<>();
        for (Place place : places) {
            Request request = place.request;
            Optional<Instant> since = Optional.of(Instant.now().minusNanos(now - place.sinceNanos));
            if (place.isHolder()) {
                Optional<Duration> left = Optional.of(Duration.ofNanos(place.expiresNanos - now));
                LockView.Holder holder = new LockView.Holder(
                        Optional.of(request.origin()), request.demand(), place.token << 10, since, left);
                holders.add(place.standing == Standing.LINGERING ? holder.lingering() : holder);
            } else {
                waiters.add(new LockView.Waiter(Optional.of(request.origin()), request.demand(), since));
            }
        }
        return new LockView(name, holders, waiters);
    }

    private @Nullable Place find(OwnerId owner) {
        for (Place place : places) {
            if (place.isOf(owner)) {
                return place;
            }
        }
        return null;
    }

    /** One holder or waiter. */
    private static final class Place {

        private final @Nullable TicketListener listener;
        private final StoreContext context;
        private Request request;
        private Standing standing = Standing.WAITING;
        private long token;
        private long sinceNanos;
        private long heardNanos;
        private long expiresNanos;

        Place(Request request, @Nullable TicketListener listener, StoreContext context, long now) {
            this.request = request;
            this.listener = listener;
            this.context = context;
            this.sinceNanos = now;
            this.heardNanos = now;
            this.expiresNanos = now + request.ttl().toNanos();
        }

        boolean isHolder() {
            return standing != Standing.WAITING;
        }

        boolean isOf(OwnerId owner) {
            return standing != Standing.LINGERING && request.owner().equals(owner);
        }

        Grant grant(long newToken, long now) {
            standing = Standing.HOLDING;
            token = newToken;
            sinceNanos = now;
            lastAtLeast(now + request.ttl().toNanos());
            return new Grant(request, newToken, request.ttl(), now);
        }

        /** Never shortens: another request may have extended it whose clock was read later. */
        void lastAtLeast(long untilNanos) {
            if (untilNanos - expiresNanos > 0) {
                expiresNanos = untilNanos;
            }
        }

        /** Taken by nobody until then. */
        void lingers(long untilNanos) {
            standing = Standing.LINGERING;
            expiresNanos = untilNanos;
        }
    }

    private enum Standing {
        WAITING,
        HOLDING,
        LINGERING
    }
}
