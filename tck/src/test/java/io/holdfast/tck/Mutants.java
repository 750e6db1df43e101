package io.holdfast.tck;

import io.holdfast.Demand;
import io.holdfast.LossReason;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.Withdrawal;
import io.holdfast.tck.tap.Report;
import io.holdfast.tck.tap.StoreTap.Asked;
import io.holdfast.tck.tap.StoreTap.Call;
import io.holdfast.tck.tap.StoreTap.Operation;
import io.holdfast.tck.tap.TappedTicket;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** The deliberately broken stores. What each does wrong is its name. */
final class Mutants {

    private Mutants() {}

    /** By lock, the last holder's ticket as the store knows it. */
    private static Map<String, Ticket> watchHolders(Mutant mutant) {
        Map<String, Ticket> holders = new ConcurrentHashMap<>();
        mutant.changesGrants(granted -> {
            Ticket atStore = granted.ticket()
                    .handle(TappedTicket.class)
                    .map(TappedTicket::atStore)
                    .orElseThrow();
            holders.put(granted.ticket().name(), atStore);
            return granted;
        });
        return holders;
    }

    static class ReleasesForAnybody extends Mutant {

        ReleasesForAnybody() {
            Map<String, Ticket> holders = watchHolders(this);
            breaks(Operation.RELEASE, call -> {
                call.arguments()[0] = holders.getOrDefault(call.lockName(), call.ticket());
                return call.proceed();
            });
        }
    }

    static class RenewsForAnybody extends Mutant {

        RenewsForAnybody() {
            reports(report -> {
                if (report instanceof Report.Gone gone) {
                    gone.ticket().extended(gone.ticket().ttl(), System.nanoTime());
                } else {
                    report.deliver();
                }
            });
        }
    }

    static class WithdrawsForAnybody extends Mutant {

        WithdrawsForAnybody() {
            Map<String, Ticket> holders = watchHolders(this);
            breaks(Operation.WITHDRAW, call -> {
                call.arguments()[0] = holders.getOrDefault(call.lockName(), call.ticket());
                return call.proceed();
            });
        }
    }

    private static Object grantedAnyway(Call call, AtomicLong lastToken) {
        call.ticket().granted(lastToken.incrementAndGet(), call.ticket().ttl(), System.nanoTime());
        return Optional.empty();
    }

    static class GrantsTwice extends Mutant {

        private final AtomicLong lastToken = new AtomicLong(1_000_000);

        GrantsTwice() {
            breaks(Operation.TRY, call -> {
                Object refusal = call.proceed();
                return Optional.empty().equals(refusal) ? refusal : grantedAnyway(call, lastToken);
            });
        }
    }

    /** Now and then, so that only contention shows it. */
    static class SometimesGrantsTwice extends Mutant {

        private final AtomicInteger queued = new AtomicInteger();
        private final AtomicLong lastToken = new AtomicLong(1_000_000);

        SometimesGrantsTwice() {
            changesGrants(granted -> granted.withToken(lastToken.incrementAndGet()));
            breaks(Operation.QUEUE, call -> {
                Object refusal = call.proceed();
                boolean waits = call.arguments()[0] instanceof Ticket atStore && atStore.isQueued();
                return waits && queued.incrementAndGet() % 2 == 0 ? grantedAnyway(call, lastToken) : refusal;
            });
        }
    }

    static class LetsWritersInAsReaders extends Mutant {

        LetsWritersInAsReaders() {
            asks(asked -> new Asked(asked.name(), Demand.shared(), asked.ttl()));
        }
    }

    static class CountsPermitsOfOneTakerOnly extends Mutant {

        CountsPermitsOfOneTakerOnly() {
            asks(asked -> asked.demand() instanceof Demand.Permits permits
                    ? new Asked(asked.name(), Demand.permits(1, permits.total() + 3), asked.ttl())
                    : asked);
        }
    }

    static class CountsFromTheReply extends Mutant {

        CountsFromTheReply() {
            reports(report -> {
                if (report instanceof Report.Granted granted) {
                    granted.withBase(System.nanoTime()).deliver();
                } else if (report instanceof Report.Extended extended) {
                    extended.ticket().extended(extended.ttl(), System.nanoTime());
                } else {
                    report.deliver();
                }
            });
        }
    }

    static class CountsPushesFromTheirArrival extends Mutant {

        CountsPushesFromTheirArrival() {
            changesGrants(granted -> granted.toWaiter() ? granted.withBase(System.nanoTime()) : granted);
        }
    }

    /** Keeps a ticket for another time than it says. */
    private static void keepsFor(Duration otherTtl, Mutant mutant) {
        mutant.asks(asked -> new Asked(asked.name(), asked.demand(), otherTtl));
        mutant.reports(report -> {
            Duration promised = report.ticket().ttl();
            if (report instanceof Report.Granted granted) {
                granted.withTtl(promised).deliver();
            } else if (report instanceof Report.Waiting waiting) {
                waiting.ticket().waiting(promised, waiting.baseNanos());
            } else if (report instanceof Report.Extended extended) {
                extended.ticket().extended(promised, extended.baseNanos());
            } else {
                report.deliver();
            }
        });
    }

    static class PassesOnTooSoon extends Mutant {

        /** Long enough that a busy machine hides the fault neither by a renewal nor by looking late. */
        private static final Duration TTL = Duration.ofSeconds(3);

        PassesOnTooSoon() {
            keepsFor(TTL.dividedBy(2), this);
        }

        @Override
        public Duration shortTtl() {
            return TTL;
        }
    }

    static class NeverExpires extends Mutant {

        NeverExpires() {
            keepsFor(Duration.ofHours(1), this);
        }

        @Override
        public Duration patience() {
            return Duration.ofSeconds(1);
        }
    }

    /** Every second waiter never hears that it was granted. */
    static class ForgetsAWaiter extends Mutant {

        private final AtomicInteger queued = new AtomicInteger();
        private final Set<Ticket> forgotten = ConcurrentHashMap.newKeySet();

        ForgetsAWaiter() {
            breaks(Operation.QUEUE, call -> {
                if (queued.incrementAndGet() % 2 == 0) {
                    forgotten.add(call.ticket());
                }
                return call.proceed();
            });
            reports(report -> {
                if (!(report instanceof Report.Granted && forgotten.contains(report.ticket()))) {
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
                Object refusal = call.proceed();
                if (call.arguments()[0] instanceof Ticket atStore && atStore.isQueued()) {
                    queue.add(call.ticket());
                }
                return refusal;
            });
            changesGrants(granted -> {
                int neighbour = queue.indexOf(granted.ticket()) ^ 1;
                boolean alone = !granted.toWaiter() || neighbour >= queue.size();
                Ticket hears = alone ? granted.ticket() : queue.get(neighbour);
                return new Report.Granted(
                        hears, granted.storeToken(), granted.ttl(), granted.baseNanos(), granted.toWaiter());
            });
        }
    }

    /** A release makes every waiter ask again. */
    static class WakesTheHerd extends Mutant {

        private final ConcurrentLinkedQueue<Ticket> queue = new ConcurrentLinkedQueue<>();

        WakesTheHerd() {
            breaks(Operation.QUEUE, call -> {
                queue.add(call.ticket());
                return call.proceed();
            });
            breaks(Operation.RELEASE, call -> {
                Object answer = call.proceed();
                queue.stream()
                        .filter(Ticket::isQueued)
                        .forEach(ticket -> ticket.gone(LossReason.GONE, "somebody released"));
                return answer;
            });
        }
    }

    static class LetsTriesOvertake extends Mutant {

        private final AtomicLong lastToken = new AtomicLong(1_000_000);

        LetsTriesOvertake() {
            breaks(Operation.TRY, call -> {
                Object refusal = call.proceed();
                boolean refusedReader =
                        !Optional.empty().equals(refusal) && call.ticket().demand() instanceof Demand.Shared;
                return refusedReader ? grantedAnyway(call, lastToken) : refusal;
            });
        }
    }

    /** Every client starts to count anew. */
    static class ResetsItsTokens extends Mutant {

        private final Map<String, AtomicLong> counters = new ConcurrentHashMap<>();

        ResetsItsTokens() {
            changesGrants(granted -> granted.withToken(
                    counters.computeIfAbsent(granted.ticket().owner().client(), client -> new AtomicLong())
                            .incrementAndGet()));
        }
    }

    static class GivesReadersOneToken extends Mutant {

        GivesReadersOneToken() {
            changesGrants(granted ->
                    granted.ticket().demand() instanceof Demand.Exclusive ? granted : granted.withToken(1_000_000));
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
            asks(asked -> new Asked(asked.name().toLowerCase(Locale.ROOT), asked.demand(), asked.ttl()));
        }
    }

    /** Answers an expired lease's renewal as if nothing had happened: the holder never hears that it is gone. */
    static class HidesThatAClaimIsGone extends RenewsForAnybody {}

    static class ListsEverythingAtOnce extends Mutant {

        ListsEverythingAtOnce() {
            breaks(Operation.VIEWS, call -> {
                call.arguments()[2] = Integer.MAX_VALUE;
                return call.proceed();
            });
        }
    }

    /** The first lock of every page but the first is missing. */
    static class LosesALockBetweenPages extends Mutant {

        LosesALockBetweenPages() {
            breaks(Operation.VIEWS, call -> {
                LockStore.Page page = (LockStore.Page) call.proceed();
                boolean later = !Optional.empty().equals(call.arguments()[1]);
                return later && page != null && !page.locks().isEmpty()
                        ? new LockStore.Page(
                                page.locks().subList(1, page.locks().size()), page.next())
                        : page;
            });
        }
    }

    static class AnswersPingsWithoutAsking extends Mutant {

        AnswersPingsWithoutAsking() {
            breaks(Operation.PING, call -> null);
        }
    }
}
