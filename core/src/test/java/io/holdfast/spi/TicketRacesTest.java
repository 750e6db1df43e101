package io.holdfast.spi;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Demand;
import io.holdfast.LockView.Origin;
import io.holdfast.LossReason;
import io.holdfast.ManualTime;
import io.holdfast.spi.Ticket.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

@DisplayName("Two things happen to a ticket at once")
class TicketRacesTest {

    private static final int TICKETS = 20_000;
    private static final Duration TTL = Duration.ofSeconds(10);

    private enum Event {
        PUSHED(claim -> claim.ticket.granted(7)),
        GRANTED(claim -> claim.ticket.granted(7, TTL, claim.ticket.baseNanos())),
        EXTENDED(claim -> claim.ticket.extended(TTL, claim.ticket.baseNanos())),
        LOST(claim -> claim.ticket.gone(LossReason.GONE, "test")),
        ENDED(Claim::end),
        LOOKED_AT(claim -> claim.ticket.isValid()),
        CLEARED_AWAY(claim -> claim.ticket.endIfExpired());

        private final Consumer<Claim> happens;

        Event(Consumer<Claim> happens) {
            this.happens = happens;
        }
    }

    static Stream<Arguments> pairs() {
        return Stream.of(State.WAITING, State.HELD)
                .flatMap(state -> Stream.of(Event.values()).flatMap(one -> Stream.of(Event.values())
                        .filter(other -> one.compareTo(other) <= 0)
                        .map(other -> Arguments.of(state, one, other))));
    }

    @ParameterizedTest(name = "{1} and {2} while {0}")
    @MethodSource("pairs")
    void everyGrantHasATakerAndEveryEndIsToldOnce(State before, Event one, Event other) {
        ManualTime time = new ManualTime();
        List<Claim> claims = new ArrayList<>(TICKETS);
        for (int i = 0; i < TICKETS; i++) {
            Claim claim = new Claim(time);
            if (before == State.HELD) {
                claim.ticket.granted(7, TTL, time.nanoTime());
            }
            claims.add(claim);
        }
        CyclicBarrier start = new CyclicBarrier(2);

        CompletableFuture<Void> beside = CompletableFuture.runAsync(() -> happen(other, claims, start));
        happen(one, claims, start);
        beside.join();

        claims.forEach(Claim::assertConsistent);
    }

    private static void happen(Event event, List<Claim> claims, CyclicBarrier start) {
        try {
            start.await();
        } catch (InterruptedException | BrokenBarrierException e) {
            throw new IllegalStateException(e);
        }
        claims.forEach(event.happens);
    }

    private static final class Claim implements Ticket.Listener {

        private final AtomicInteger granted = new AtomicInteger();
        private final AtomicInteger unwanted = new AtomicInteger();
        private final AtomicInteger ended = new AtomicInteger();
        private final AtomicInteger endedWaiting = new AtomicInteger();
        private final AtomicInteger endedHeld = new AtomicInteger();
        private final Ticket ticket;

        Claim(TimeSource time) {
            this.ticket = new Ticket(
                    "orders",
                    new OwnerId("client", 1),
                    Demand.exclusive(),
                    TTL,
                    new Origin("client", "host", 1, "main"),
                    new Validity(time, Duration.ZERO),
                    this);
        }

        void end() {
            switch (ticket.end()) {
                case WAITING -> endedWaiting.incrementAndGet();
                case HELD -> endedHeld.incrementAndGet();
                default -> {}
            }
        }

        void assertConsistent() {
            boolean over = ticket.state() == State.ENDED;
            boolean hasToken = ticket.storeToken() != Tokens.NONE;
            assertThat(ended.get() + endedWaiting.get() + endedHeld.get()).as("ends").isEqualTo(over ? 1 : 0);
            assertThat(granted.get() + unwanted.get()).as("takers of its grant").isEqualTo(hasToken ? 1 : 0);
            assertThat(endedWaiting.get() == 0 || granted.get() == 0)
                    .as("who ended it before it was granted need not give back what it was told of")
                    .isTrue();
            assertThat(endedHeld.get() == 0 || granted.get() == 1).as("held, so told").isTrue();
            assertThat(ticket.isValid()).isEqualTo(!over && hasToken);
        }

        @Override
        public void granted() {
            granted.incrementAndGet();
        }

        @Override
        public void ended(Ticket.Ending why) {
            ended.incrementAndGet();
        }

        @Override
        public void unwanted() {
            unwanted.incrementAndGet();
        }
    }
}
