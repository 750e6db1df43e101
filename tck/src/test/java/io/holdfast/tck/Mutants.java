package io.holdfast.tck;

import io.holdfast.Demand;
import io.holdfast.LossReason;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.Withdrawal;
import io.holdfast.tck.StoreTap.Operation;
import io.holdfast.tck.StoreTap.Report.Kind;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** The deliberately broken stores. What each does wrong is its name. */
final class Mutants {

    private Mutants() {}

    /** The tickets the store granted last, by lock. */
    private static Map<String, Ticket> remembersGrants(Mutant mutant) {
        Map<String, Ticket> held = new ConcurrentHashMap<>();
        mutant.breaksReports(report -> {
            if (report.kind() == Kind.GRANTED) {
                held.put(report.ticket().name(), report.storesTicket());
            }
            report.deliver();
        });
        return held;
    }

    static class ReleasesForAnybody extends Mutant {

        ReleasesForAnybody() {
            Map<String, Ticket> held = remembersGrants(this);
            breaks(Operation.RELEASE, call -> {
                call.arguments()[0] = held.getOrDefault(call.lockName(), (Ticket) call.arguments()[0]);
                return call.proceed();
            });
        }
    }

    static class RenewsForAnybody extends Mutant {

        RenewsForAnybody() {
            breaksReports(report -> {
                if (report.kind() == Kind.GONE) {
                    report.ticket().extended(report.ticket().ttl(), System.nanoTime());
                } else {
                    report.deliver();
                }
            });
        }
    }

    static class WithdrawsForAnybody extends Mutant {

        WithdrawsForAnybody() {
            Map<String, Ticket> held = remembersGrants(this);
            breaks(Operation.WITHDRAW, call -> {
                call.arguments()[0] = held.getOrDefault(call.lockName(), (Ticket) call.arguments()[0]);
                return call.proceed();
            });
        }
    }

    /** Grants what the store has refused. */
    private static @Nullable Object grantedAnyway(StoreTap.Call call, AtomicLong lastToken) {
        Ticket ticket = call.tickets().get(0);
        Object answer = call.proceed();
        if (answer instanceof Optional<?> refusal && refusal.isPresent()) {
            ticket.granted(lastToken.incrementAndGet(), ticket.ttl(), System.nanoTime());
            return Optional.empty();
        }
        return answer;
    }

    static class GrantsTwice extends Mutant {

        private final AtomicLong lastToken = new AtomicLong(1_000_000);

        GrantsTwice() {
            breaks(Operation.TRY, call -> grantedAnyway(call, lastToken));
        }
    }

    /** Now and then, so that only contention shows it. */
    static class SometimesGrantsTwice extends Mutant {

        private final AtomicInteger queued = new AtomicInteger();
        private final AtomicLong lastToken = new AtomicLong(1_000_000);

        SometimesGrantsTwice() {
            changesGrants((engines, stores) ->
                    engines.granted(lastToken.incrementAndGet(), stores.givenTtl(), stores.baseNanos()));
            breaks(Operation.QUEUE, call -> {
                Object answer = call.proceed();
                Ticket ticket = call.tickets().get(0);
                if (((Ticket) call.arguments()[0]).isQueued() && queued.incrementAndGet() % 2 == 0) {
                    ticket.granted(lastToken.incrementAndGet(), ticket.ttl(), System.nanoTime());
                }
                return answer;
            });
        }
    }

    static class LetsWritersInAsReaders extends Mutant {

        LetsWritersInAsReaders() {
            breaks(Operation.TRY, LetsWritersInAsReaders::shared);
            breaks(Operation.QUEUE, LetsWritersInAsReaders::shared);
        }

        private static @Nullable Object shared(StoreTap.Call call) {
            return call.proceedAs(call.lockName(), Demand.shared(), call.tickets().get(0).ttl());
        }
    }

    static class CountsPermitsOfOneTakerOnly extends Mutant {

        CountsPermitsOfOneTakerOnly() {
            breaks(Operation.QUEUE, call -> {
                Ticket ticket = call.tickets().get(0);
                Demand demand = ticket.demand() instanceof Demand.Permits permits
                        ? Demand.permits(1, permits.total() + 3)
                        : ticket.demand();
                return call.proceedAs(ticket.name(), demand, ticket.ttl());
            });
        }
    }

    static class CountsFromTheReply extends Mutant {

        CountsFromTheReply() {
            breaksReports(report -> {
                Ticket engines = report.ticket();
                Ticket stores = report.storesTicket();
                switch (report.kind()) {
                    case GRANTED -> engines.granted(stores.storeToken(), stores.givenTtl(), System.nanoTime());
                    case EXTENDED -> engines.extended(stores.givenTtl(), System.nanoTime());
                    default -> report.deliver();
                }
            });
        }
    }

    static class CountsPushesFromTheirArrival extends Mutant {

        CountsPushesFromTheirArrival() {
            breaksReports(report -> {
                if (report.isPush() && report.kind() == Kind.GRANTED) {
                    Ticket stores = report.storesTicket();
                    report.ticket().granted(stores.storeToken(), stores.givenTtl(), System.nanoTime());
                } else {
                    report.deliver();
                }
            });
        }
    }

    static class PassesOnTooSoon extends Mutant {

        PassesOnTooSoon() {
            breaks(Operation.TRY, PassesOnTooSoon::halved);
            breaks(Operation.QUEUE, PassesOnTooSoon::halved);
        }

        /** Long enough that a busy machine hides the fault neither by a renewal nor by looking late. */
        @Override
        public Duration shortTtl() {
            return Duration.ofSeconds(3);
        }

        private static @Nullable Object halved(StoreTap.Call call) {
            Ticket ticket = call.tickets().get(0);
            return call.proceedAs(ticket.name(), ticket.demand(), ticket.ttl().dividedBy(2));
        }
    }

    static class NeverExpires extends Mutant {

        NeverExpires() {
            breaks(Operation.TRY, NeverExpires::forAges);
            breaks(Operation.QUEUE, NeverExpires::forAges);
        }

        @Override
        public Duration patience() {
            return Duration.ofSeconds(1);
        }

        private static @Nullable Object forAges(StoreTap.Call call) {
            return call.proceedAs(call.lockName(), call.tickets().get(0).demand(), Duration.ofHours(1));
        }
    }

    /** Every second waiter never hears that it was granted. */
    static class ForgetsAWaiter extends Mutant {

        private final AtomicInteger pushed = new AtomicInteger();

        ForgetsAWaiter() {
            breaksReports(report -> {
                boolean forgets =
                        report.isPush() && report.kind() == Kind.GRANTED && pushed.incrementAndGet() % 2 == 0;
                if (!forgets) {
                    report.deliver();
                }
            });
        }
    }

    /** Two neighbours in the queue change places: each hears of the other's grant. */
    static class SwapsNeighbours extends Mutant {

        private final List<Ticket> queue = new CopyOnWriteArrayList<>();

        SwapsNeighbours() {
            breaks(Operation.QUEUE, call -> {
                Object answer = call.proceed();
                if (((Ticket) call.arguments()[0]).isQueued()) {
                    queue.add(call.tickets().get(0));
                }
                return answer;
            });
            breaksReports(report -> {
                int place = queue.indexOf(report.ticket());
                if (report.isPush() && report.kind() == Kind.GRANTED && place >= 0 && (place ^ 1) < queue.size()) {
                    Ticket stores = report.storesTicket();
                    queue.get(place ^ 1).granted(stores.storeToken(), stores.givenTtl(), stores.baseNanos());
                } else {
                    report.deliver();
                }
            });
        }
    }

    /** A release makes every waiter ask again. */
    static class WakesTheHerd extends Mutant {

        private final ConcurrentLinkedQueue<Ticket> queue = new ConcurrentLinkedQueue<>();

        WakesTheHerd() {
            breaks(Operation.QUEUE, call -> {
                queue.add(call.tickets().get(0));
                return call.proceed();
            });
            breaks(Operation.RELEASE, call -> {
                Object answer = call.proceed();
                queue.stream()
                        .filter(ticket -> ticket.state() == Ticket.State.WAITING)
                        .forEach(ticket -> ticket.gone(LossReason.GONE, "somebody released"));
                return answer;
            });
        }
    }

    static class LetsTriesOvertake extends Mutant {

        private final AtomicLong lastToken = new AtomicLong(1_000_000);

        LetsTriesOvertake() {
            breaks(
                    Operation.TRY,
                    call -> call.tickets().get(0).demand() instanceof Demand.Shared
                            ? grantedAnyway(call, lastToken)
                            : call.proceed());
        }
    }

    /** Every client starts to count anew. */
    static class ResetsItsTokens extends Mutant {

        private final Map<String, AtomicLong> counters = new ConcurrentHashMap<>();

        ResetsItsTokens() {
            changesGrants((engines, stores) -> engines.granted(
                    counters.computeIfAbsent(engines.owner().client(), client -> new AtomicLong())
                            .incrementAndGet(),
                    stores.givenTtl(),
                    stores.baseNanos()));
        }
    }

    static class GivesReadersOneToken extends Mutant {

        GivesReadersOneToken() {
            changesGrants((engines, stores) -> engines.granted(
                    engines.demand() instanceof Demand.Exclusive ? stores.storeToken() : 1_000_000,
                    stores.givenTtl(),
                    stores.baseNanos()));
        }
    }

    static class IgnoresWithdrawals extends Mutant {

        IgnoresWithdrawals() {
            breaks(Operation.WITHDRAW, call -> Withdrawal.REMOVED);
        }
    }

    static class SaysReleasedAndKeepsIt extends Mutant {

        SaysReleasedAndKeepsIt() {
            breaks(Operation.RELEASE, call -> ReleaseAnswer.RELEASED);
        }

        @Override
        public Duration patience() {
            return Duration.ofMillis(500);
        }
    }

    static class ForgetsToLinger extends Mutant {

        ForgetsToLinger() {
            breaks(Operation.RELEASE, call -> {
                call.arguments()[1] = Duration.ZERO;
                return call.proceed();
            });
        }
    }

    static class FoldsNames extends Mutant {

        FoldsNames() {
            breaks(Operation.TRY, call -> {
                Ticket ticket = call.tickets().get(0);
                return call.proceedAs(ticket.name().toLowerCase(Locale.ROOT), ticket.demand(), ticket.ttl());
            });
        }
    }

    /** Answers an expired lease's renewal as if nothing had happened: the holder never hears that it is gone. */
    static class HidesThatAClaimIsGone extends RenewsForAnybody {}
}
