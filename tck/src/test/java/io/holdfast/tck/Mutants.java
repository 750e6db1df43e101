package io.holdfast.tck;

import io.holdfast.Demand;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Grant;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.RenewalAnswer;
import io.holdfast.spi.RenewalRequest;
import io.holdfast.spi.Request;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TicketListener;
import io.holdfast.spi.Withdrawal;
import io.holdfast.tck.StoreTap.Operation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** The deliberately broken stores. What each does wrong is its name. */
final class Mutants {

    private Mutants() {}

    static class ReleasesForAnybody extends Mutant {

        private final Map<String, Grant> held = new ConcurrentHashMap<>();

        ReleasesForAnybody() {
            changesGrants(grant -> {
                held.put(grant.request().name(), grant);
                return grant;
            });
            breaks(Operation.RELEASE, call -> {
                call.arguments()[0] = held.getOrDefault(call.lockName(), (Grant) call.arguments()[0]);
                return call.proceed();
            });
        }
    }

    static class RenewsForAnybody extends Mutant {

        RenewsForAnybody() {
            breaks(Operation.RENEW, call -> {
                call.proceed();
                return ((List<?>) call.arguments()[0])
                        .stream()
                                .map(renewal ->
                                        new RenewalAnswer.Extended(System.nanoTime(), ((RenewalRequest) renewal).ttl()))
                                .toList();
            });
        }
    }

    static class WithdrawsForAnybody extends Mutant {

        private final Map<String, Grant> held = new ConcurrentHashMap<>();

        WithdrawsForAnybody() {
            changesGrants(grant -> {
                held.put(grant.request().name(), grant);
                return grant;
            });
            breaks(Operation.WITHDRAW, call -> {
                Grant grant = held.get(call.lockName());
                call.arguments()[0] = grant == null ? call.arguments()[0] : grant.request();
                return call.proceed();
            });
        }
    }

    static class GrantsTwice extends Mutant {

        private final AtomicLong lastToken = new AtomicLong(1_000_000);

        GrantsTwice() {
            breaks(Operation.ATTEMPT, call -> {
                Request request = (Request) call.arguments()[0];
                Object answer = call.proceed();
                return answer instanceof Answer.Refused
                        ? new Answer.Granted(
                                new Grant(request, lastToken.incrementAndGet(), request.ttl(), System.nanoTime()))
                        : answer;
            });
        }
    }

    /** Now and then, so that only contention shows it. */
    static class SometimesGrantsTwice extends Mutant {

        private final AtomicInteger queued = new AtomicInteger();
        private final AtomicLong lastToken = new AtomicLong(1_000_000);

        SometimesGrantsTwice() {
            changesGrants(grant -> new Grant(
                    grant.request(), lastToken.incrementAndGet(), grant.ttl(), grant.baseNanos(), grant.handle()));
            breaks(Operation.ENQUEUE, call -> {
                Request request = (Request) call.arguments()[0];
                Object answer = call.proceed();
                return answer instanceof Answer.Queued && queued.incrementAndGet() % 2 == 0
                        ? new Answer.Granted(
                                new Grant(request, lastToken.incrementAndGet(), request.ttl(), System.nanoTime()))
                        : changed(answer, grant -> grant);
            });
        }
    }

    static class LetsWritersInAsReaders extends Mutant {

        LetsWritersInAsReaders() {
            breaks(Operation.ATTEMPT, LetsWritersInAsReaders::shared);
            breaks(Operation.ENQUEUE, LetsWritersInAsReaders::shared);
        }

        private static Object shared(StoreTap.Call call) {
            Request r = (Request) call.arguments()[0];
            call.arguments()[0] = new Request(r.name(), r.owner(), Demand.shared(), r.ttl(), r.origin());
            return call.proceed();
        }
    }

    static class CountsPermitsOfOneTakerOnly extends Mutant {

        CountsPermitsOfOneTakerOnly() {
            breaks(Operation.ENQUEUE, call -> {
                Request r = (Request) call.arguments()[0];
                Demand demand = r.demand() instanceof Demand.Permits p ? Demand.permits(1, p.total() + 3) : r.demand();
                call.arguments()[0] = new Request(r.name(), r.owner(), demand, r.ttl(), r.origin());
                return call.proceed();
            });
        }
    }

    static class CountsFromTheReply extends Mutant {

        CountsFromTheReply() {
            changesGrants(CountsPushesFromTheirArrival::countedFromNow);
            breaks(Operation.RENEW, call -> {
                List<RenewalAnswer> answers = new ArrayList<>();
                for (Object answer : (List<?>) call.proceed()) {
                    answers.add(
                            answer instanceof RenewalAnswer.Extended extended
                                    ? new RenewalAnswer.Extended(System.nanoTime(), extended.ttl())
                                    : (RenewalAnswer) answer);
                }
                return answers;
            });
        }
    }

    static class CountsPushesFromTheirArrival extends Mutant {

        CountsPushesFromTheirArrival() {
            breaks(Operation.ENQUEUE, call -> {
                changePush(call, CountsPushesFromTheirArrival::countedFromNow);
                return call.proceed();
            });
        }

        static Grant countedFromNow(Grant grant) {
            return new Grant(grant.request(), grant.token(), grant.ttl(), System.nanoTime(), grant.handle());
        }
    }

    static class PassesOnTooSoon extends Mutant {

        PassesOnTooSoon() {
            breaks(Operation.ATTEMPT, call -> halved(call.arguments(), call));
            breaks(Operation.ENQUEUE, call -> halved(call.arguments(), call));
        }

        /** Long enough that a busy machine hides the fault neither by a renewal nor by looking late. */
        @Override
        public Duration shortTtl() {
            return Duration.ofSeconds(3);
        }

        private static Object halved(Object[] arguments, StoreTap.Call call) {
            Request r = (Request) arguments[0];
            arguments[0] = new Request(r.name(), r.owner(), r.demand(), r.ttl().dividedBy(2), r.origin());
            Object answer = call.proceed();
            if (answer instanceof Answer.Queued queued) {
                return new Answer.Queued(new Ticket(r, r.ttl(), queued.ticket().baseNanos()));
            }
            return changed(answer, grant -> new Grant(r, grant.token(), r.ttl(), grant.baseNanos()));
        }
    }

    static class NeverExpires extends Mutant {

        NeverExpires() {
            breaks(Operation.ATTEMPT, NeverExpires::forAges);
            breaks(Operation.ENQUEUE, NeverExpires::forAges);
        }

        @Override
        public Duration patience() {
            return Duration.ofSeconds(1);
        }

        private static Object forAges(StoreTap.Call call) {
            Request r = (Request) call.arguments()[0];
            call.arguments()[0] = new Request(r.name(), r.owner(), r.demand(), Duration.ofHours(1), r.origin());
            Object answer = call.proceed();
            if (answer instanceof Answer.Queued queued) {
                return new Answer.Queued(new Ticket(r, r.ttl(), queued.ticket().baseNanos()));
            }
            return changed(answer, grant -> new Grant(r, grant.token(), r.ttl(), grant.baseNanos()));
        }
    }

    /** Every second waiter never hears that it was granted. */
    static class ForgetsAWaiter extends Mutant {

        private final AtomicInteger queued = new AtomicInteger();

        ForgetsAWaiter() {
            breaks(Operation.ENQUEUE, call -> {
                boolean forgets = queued.incrementAndGet() % 2 == 0;
                TicketListener listener = (TicketListener) call.arguments()[1];
                if (forgets) {
                    call.arguments()[1] = new TicketListener() {
                        @Override
                        public void granted(Grant grant) {}

                        @Override
                        public void lost(String reason) {
                            listener.lost(reason);
                        }
                    };
                }
                return call.proceed();
            });
        }
    }

    /** Two neighbours in line change places: each hears of the other's grant. */
    static class SwapsNeighbours extends Mutant {

        private final List<TicketListener> line = new CopyOnWriteArrayList<>();

        SwapsNeighbours() {
            breaks(Operation.ENQUEUE, call -> {
                TicketListener mine = (TicketListener) call.arguments()[1];
                int place = line.size();
                line.add(mine);
                call.arguments()[1] = new TicketListener() {
                    @Override
                    public void granted(Grant grant) {
                        int neighbour = place ^ 1;
                        line.get(neighbour < line.size() ? neighbour : place).granted(grant);
                    }

                    @Override
                    public void lost(String reason) {
                        mine.lost(reason);
                    }
                };
                Object answer = call.proceed();
                if (!(answer instanceof Answer.Queued)) {
                    line.remove(mine);
                }
                return answer;
            });
        }
    }

    /** A release makes every waiter ask again. */
    static class WakesTheHerd extends Mutant {

        private final ConcurrentLinkedQueue<TicketListener> line = new ConcurrentLinkedQueue<>();

        WakesTheHerd() {
            breaks(Operation.ENQUEUE, call -> {
                line.add((TicketListener) call.arguments()[1]);
                return call.proceed();
            });
            breaks(Operation.RELEASE, call -> {
                Object answer = call.proceed();
                line.forEach(listener -> listener.lost("somebody released"));
                return answer;
            });
        }
    }

    static class LetsTriesOvertake extends Mutant {

        private final AtomicLong lastToken = new AtomicLong(1_000_000);

        LetsTriesOvertake() {
            breaks(Operation.ATTEMPT, call -> {
                Request request = (Request) call.arguments()[0];
                Object answer = call.proceed();
                return request.demand() instanceof Demand.Shared && answer instanceof Answer.Refused
                        ? new Answer.Granted(
                                new Grant(request, lastToken.incrementAndGet(), request.ttl(), System.nanoTime()))
                        : answer;
            });
        }
    }

    /** Every client starts to count anew. */
    static class ResetsItsTokens extends Mutant {

        private final Map<String, AtomicLong> counters = new ConcurrentHashMap<>();

        ResetsItsTokens() {
            changesGrants(grant -> new Grant(
                    grant.request(),
                    counters.computeIfAbsent(grant.request().owner().client(), client -> new AtomicLong())
                            .incrementAndGet(),
                    grant.ttl(),
                    grant.baseNanos()));
        }
    }

    static class GivesReadersOneToken extends Mutant {

        GivesReadersOneToken() {
            changesGrants(grant -> new Grant(
                    grant.request(),
                    grant.request().demand() instanceof Demand.Exclusive ? grant.token() : 1_000_000,
                    grant.ttl(),
                    grant.baseNanos()));
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
            breaks(Operation.ATTEMPT, call -> {
                Request r = (Request) call.arguments()[0];
                call.arguments()[0] =
                        new Request(r.name().toLowerCase(Locale.ROOT), r.owner(), r.demand(), r.ttl(), r.origin());
                return call.proceed();
            });
        }
    }

    /** Answers an expired lease's renewal as if nothing had happened: the holder never hears that it is gone. */
    static class HidesThatAClaimIsGone extends RenewsForAnybody {}
}
