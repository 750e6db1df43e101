package io.holdfast.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.holdfast.Demand;
import io.holdfast.LockException;
import io.holdfast.LockView.Origin;
import io.holdfast.LossReason;
import io.holdfast.ManualTime;
import io.holdfast.StoreUnavailableException;
import io.holdfast.spi.Ticket.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

@DisplayName("A ticket")
class TicketTest {

    private static final Duration TTL = Duration.ofSeconds(10);
    private static final Duration SHORTER = Duration.ofSeconds(4);
    private static final Origin ORIGIN = new Origin("client", "host", 1, "main");

    private final ManualTime time = new ManualTime();
    private final Validity validity = new Validity(time, Duration.ZERO);
    private final long start = time.nanoTime();
    private final List<String> heard = new ArrayList<>();
    private final Ticket ticket = ticket(heard);

    @Test
    void tellsWhatItAsksFor() {
        assertThat(ticket.name()).isEqualTo("orders");
        assertThat(ticket.owner()).isEqualTo(new OwnerId("client", 1));
        assertThat(ticket.demand()).isEqualTo(Demand.exclusive());
        assertThat(ticket.ttl()).isEqualTo(TTL);
        assertThat(ticket.origin()).isEqualTo(ORIGIN);
        assertThat(ticket).hasToString("Ticket[orders, " + ticket.owner() + ", " + Demand.exclusive() + ", WAITING]");
    }

    @Test
    void keepsWhatTheStoreAttached() {
        assertThat(ticket.handle(String.class)).isEmpty();

        ticket.attach("a key");

        assertThat(ticket.handle(String.class)).contains("a key");
        assertThat(ticket.handle(Integer.class)).isEmpty();
    }

    @Test
    void ofOneNodeAsksForTheSameAndHasALifeOfItsOwn() {
        List<String> heardAtNode = new ArrayList<>();
        ticket.attach("a key");
        Ticket atNode = ticket.forNode(recorder(heardAtNode));

        atNode.granted(7, TTL, start);

        assertThat(atNode.owner()).isEqualTo(ticket.owner());
        assertThat(atNode.demand()).isEqualTo(ticket.demand());
        assertThat(atNode.ttl()).isEqualTo(TTL);
        assertThat(atNode.origin()).isEqualTo(ORIGIN);
        assertThat(atNode.handle(Object.class)).isEmpty();
        assertThat(heardAtNode).containsExactly("granted");
        assertThat(heard).isEmpty();
        assertThat(ticket.state()).isEqualTo(State.WAITING);
    }

    @Test
    void ofANodeMadeAfterADowngradeIsShared() {
        ticket.granted(7, TTL, start);
        ticket.downgraded();

        assertThat(ticket.forNode(recorder(heard)).demand()).isEqualTo(Demand.shared());
    }

    @Test
    void refusesATokenThatIsNone() {
        for (long token : List.of(Tokens.NONE, -1L, 1L << 53, Long.MAX_VALUE)) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> ticket.granted(token))
                    .withMessageContaining("orders");
            assertThatIllegalArgumentException().isThrownBy(() -> ticket.granted(token, TTL, start));
        }
        assertThat(ticket.state()).isEqualTo(State.WAITING);
        assertThat(heard).isEmpty();
        ticket.granted((1L << 53) - 1);
        assertThat(ticket.isValid()).isTrue();
    }

    @Nested
    @DisplayName("that waits")
    class Waiting {

        @Test
        void isNeitherQueuedNorValidBeforeAnyAnswer() {
            assertThat(ticket.state()).isEqualTo(State.WAITING);
            assertThat(ticket.isQueued()).isFalse();
            assertThat(ticket.isValid()).isFalse();
            assertThat(ticket.storeToken()).isEqualTo(Tokens.NONE);
            assertThat(ticket.ending()).isEmpty();
            assertThat(ticket.endNanos()).isEqualTo(endOf(start, TTL));
        }

        @Test
        void isHeldOnceGranted() {
            ticket.granted(7, TTL, start);

            assertThat(heard).containsExactly("granted");
            assertThat(ticket.state()).isEqualTo(State.HELD);
            assertThat(ticket.isValid()).isTrue();
            assertThat(ticket.storeToken()).isEqualTo(7);
            assertThat(ticket.baseNanos()).isEqualTo(start);
            assertThat(ticket.endNanos()).isEqualTo(endOf(start, TTL));
        }

        @Test
        void isQueuedOnceTheStoreSaysSo() {
            ticket.waiting(TTL, start);

            assertThat(heard).containsExactly("kept");
            assertThat(ticket.state()).isEqualTo(State.WAITING);
            assertThat(ticket.isQueued()).isTrue();
            assertThat(ticket.isValid()).isFalse();
        }

        @Test
        void isNotHeldByAnExtensionAlone() {
            ticket.extended(TTL, start);

            assertThat(heard).containsExactly("kept");
            assertThat(ticket.state()).isEqualTo(State.WAITING);
            assertThat(ticket.isQueued()).isFalse();
        }

        @Test
        void hearsThatItsStoreFails() {
            ticket.failing(failure());

            assertThat(heard).containsExactly("failing: " + failure().getMessage());
            assertThat(ticket.state()).isEqualTo(State.WAITING);
        }

        @Test
        void endsWhenTheStoreHasLostIt() {
            ticket.waiting(TTL, start);
            ticket.gone(LossReason.GONE, "its session ended");

            assertThat(heard).containsExactly("kept", "ended: GONE");
            assertThat(ticket.state()).isEqualTo(State.ENDED);
            assertThat(ticket.isQueued()).isFalse();
            assertThat(ticket.ending()).contains(new Ticket.Ending(LossReason.GONE, "its session ended"));
        }

        @Test
        void endsSilentlyForItsOwner() {
            assertThat(ticket.end()).isEqualTo(State.WAITING);

            assertThat(heard).isEmpty();
            assertThat(ticket.state()).isEqualTo(State.ENDED);
            assertThat(ticket.ending()).isEmpty();
        }

        @Test
        void endsAtItsDeadlineOnlyIfAsked() {
            ticket.waiting(TTL, start);
            time.advance(TTL);

            assertThat(ticket.isValid()).isFalse();
            assertThat(ticket.state()).isEqualTo(State.WAITING);
            assertThat(ticket.endIfExpired()).isTrue();

            assertThat(ticket.state()).isEqualTo(State.ENDED);
            assertThat(heard).containsExactly("kept", "ended: EXPIRED");
        }

        @Test
        void isNotEndedBeforeItsDeadline() {
            assertThat(ticket.endIfExpired()).isFalse();
            assertThat(ticket.state()).isEqualTo(State.WAITING);
        }

        @Test
        @DisplayName(
                "has the time of the request that was answered, though its first connection took longer than a ttl")
        void isGrantedByAnAnswerThatComesAfterTheProvisionalDeadline() {
            time.advance(TTL.multipliedBy(2));
            long sent = time.nanoTime();

            ticket.granted(7, TTL, sent);

            assertThat(ticket.isValid()).isTrue();
            assertThat(ticket.endNanos()).isEqualTo(endOf(sent, TTL));
        }

        @Test
        void isEndedByAnAnswerThatTookLongerThanItsTtl() {
            time.advance(TTL);

            ticket.granted(7, TTL, start);

            assertThat(heard).containsExactly("ended: EXPIRED", "unwanted");
            assertThat(ticket.isValid()).isFalse();
            assertThat(ticket.storeToken()).isEqualTo(7);
        }

        @Test
        void isEndedByAPushThatLayInASocketThroughALongPause() {
            ticket.waiting(TTL, start);
            time.advance(TTL);

            ticket.granted(7);

            assertThat(heard).containsExactly("kept", "ended: EXPIRED", "unwanted");
            assertThat(ticket.storeToken()).isEqualTo(7);
        }
    }

    @Nested
    @DisplayName("and its deadline")
    class DeadlineOfATicket {

        @Test
        void firstAnswerReplacesTheProvisionalDeadline() {
            ticket.waiting(SHORTER, start);

            assertThat(ticket.endNanos()).isEqualTo(endOf(start, SHORTER));
            assertThat(ticket.givenTtl()).isEqualTo(SHORTER);
        }

        @Test
        void firstAnswerReplacesTheProvisionalDeadlineAlsoAfterAPush() {
            ticket.granted(7);
            assertThat(ticket.endNanos()).isEqualTo(endOf(start, TTL));

            ticket.waiting(SHORTER, start);

            assertThat(ticket.state()).isEqualTo(State.HELD);
            assertThat(ticket.endNanos())
                    .as("the store gives less than was asked for")
                    .isEqualTo(endOf(start, SHORTER));
        }

        @Test
        void grantWithABaseIsTheFirstAnswerToo() {
            ticket.granted(7, SHORTER, start);

            assertThat(ticket.endNanos()).isEqualTo(endOf(start, SHORTER));
        }

        @Test
        void laterAnswersOnlyMoveItOn() {
            ticket.waiting(TTL, later(3));
            ticket.waiting(TTL, later(1));
            ticket.waiting(SHORTER, later(4));

            assertThat(ticket.endNanos()).isEqualTo(endOf(later(3), TTL));
            assertThat(ticket.baseNanos()).isEqualTo(later(3));
            assertThat(ticket.givenTtl()).isEqualTo(TTL);
            assertThat(heard).containsExactly("kept", "kept", "kept");
        }

        @Test
        void pushHasThatOfTheLastAnsweredRequest() {
            ticket.waiting(TTL, later(1));
            time.advance(Duration.ofSeconds(5));

            ticket.granted(7);

            assertThat(ticket.endNanos()).isEqualTo(endOf(later(1), TTL));
        }

        @Test
        void pushWithABaseOfItsSessionMovesItOn() {
            ticket.waiting(TTL, later(1));

            ticket.granted(7, TTL, later(3));

            assertThat(ticket.endNanos()).isEqualTo(endOf(later(3), TTL));
        }

        @Test
        void grantWithAnOlderBaseDoesNotMoveItBack() {
            ticket.waiting(TTL, later(3));

            ticket.granted(7, TTL, later(1));

            assertThat(ticket.endNanos()).isEqualTo(endOf(later(3), TTL));
        }

        @Test
        void reachesItInTime() {
            ticket.granted(7, TTL, start);
            time.advance(Duration.ofNanos(endOf(start, TTL) - start - 1));
            assertThat(ticket.isValid()).isTrue();

            time.advance(Duration.ofNanos(1));
            assertThat(ticket.isValid()).isFalse();
        }
    }

    @Nested
    @DisplayName("that is held")
    class Held {

        @Test
        void isExtended() {
            hold();

            ticket.extended(TTL, later(2));

            assertThat(heard).containsExactly("kept");
            assertThat(ticket.endNanos()).isEqualTo(endOf(later(2), TTL));
            assertThat(ticket.isValid()).isTrue();
        }

        @Test
        void stayingInTheQueueIsTakenForAnExtension() {
            hold();

            ticket.waiting(TTL, later(2));

            assertThat(heard).containsExactly("kept");
            assertThat(ticket.state()).isEqualTo(State.HELD);
            assertThat(ticket.isQueued()).isFalse();
            assertThat(ticket.endNanos()).isEqualTo(endOf(later(2), TTL));
        }

        @Test
        void isGrantedOnceThoughThePushComesAfterTheAnswer() {
            hold();

            ticket.granted(7);

            assertThat(heard).containsExactly("kept");
            assertThat(ticket.isValid()).isTrue();
            assertThat(ticket.storeToken()).isEqualTo(7);
            assertThat(ticket.endNanos()).isEqualTo(endOf(start, TTL));
        }

        @Test
        void secondGrantWithABaseIsTakenForAnExtension() {
            hold();

            ticket.granted(7, TTL, later(2));

            assertThat(heard).as("who asked to keep it must hear an answer").containsExactly("kept");
            assertThat(ticket.endNanos()).isEqualTo(endOf(later(2), TTL));
        }

        @Test
        void neverTakesAnotherToken() {
            hold();

            ticket.granted(8, TTL, later(2));

            assertThat(ticket.storeToken()).isEqualTo(7);
        }

        @Test
        void hearsThatItsStoreFails() {
            hold();

            ticket.failing(failure());

            assertThat(heard).containsExactly("failing: " + failure().getMessage());
            assertThat(ticket.isValid()).isTrue();
        }

        @Test
        void endsWhenTheStoreHasLostIt() {
            hold();

            ticket.gone(LossReason.FORCED, "by force");
            ticket.gone(LossReason.GONE, "told again");

            assertThat(heard).containsExactly("ended: FORCED");
            assertThat(ticket.isValid()).isFalse();
            assertThat(ticket.ending()).contains(new Ticket.Ending(LossReason.FORCED, "by force"));
            assertThat(ticket.storeToken()).as("to give it back").isEqualTo(7);
        }

        @Test
        void endsSilentlyForItsOwnerAndOnce() {
            hold();

            assertThat(ticket.end()).isEqualTo(State.HELD);
            assertThat(ticket.end()).isEqualTo(State.ENDED);

            assertThat(heard).isEmpty();
            assertThat(ticket.ending()).isEmpty();
            assertThat(ticket.storeToken()).isEqualTo(7);
        }

        @Test
        void goesOnAsSharedWithItsTokenAndDeadline() {
            hold();

            ticket.downgraded();

            assertThat(ticket.demand()).isEqualTo(Demand.shared());
            assertThat(ticket.isValid()).isTrue();
            assertThat(ticket.storeToken()).isEqualTo(7);
            assertThat(ticket.endNanos()).isEqualTo(endOf(start, TTL));
        }

        @Test
        void endsForWhoeverFirstMeetsItsPassedDeadline() {
            for (Consumer<Ticket> look : List.<Consumer<Ticket>>of(
                    Ticket::isValid,
                    Ticket::endIfExpired,
                    late -> late.extended(TTL, time.nanoTime()),
                    late -> late.waiting(TTL, time.nanoTime()),
                    late -> late.granted(7),
                    late -> late.granted(7, TTL, time.nanoTime()))) {
                List<String> told = new ArrayList<>();
                Ticket late = ticket(told);
                late.granted(7, TTL, time.nanoTime());
                told.clear();
                time.advance(TTL);

                look.accept(late);

                assertThat(late.state()).isEqualTo(State.ENDED);
                assertThat(told).first().isEqualTo("ended: EXPIRED");
                assertThat(told).filteredOn(word -> word.startsWith("ended")).hasSize(1);
                assertThat(told).as("its deadline did not move on").doesNotContain("kept");
            }
        }

        private void hold() {
            ticket.granted(7, TTL, start);
            heard.clear();
        }
    }

    @Nested
    @DisplayName("that has ended")
    class Ended {

        @Test
        void isNotRevivedByLateAnswers() {
            ticket.granted(7, TTL, start);
            ticket.gone(LossReason.GONE, "first");
            heard.clear();

            ticket.extended(TTL, later(5));
            ticket.waiting(TTL, later(5));
            ticket.failing(failure());
            ticket.gone(LossReason.FORCED, "second");
            assertThat(ticket.endIfExpired()).isTrue();

            assertThat(heard).isEmpty();
            assertThat(ticket.isValid()).isFalse();
            assertThat(ticket.state()).isEqualTo(State.ENDED);
            assertThat(ticket.endNanos()).isEqualTo(endOf(start, TTL));
            assertThat(ticket.ending()).map(Ticket.Ending::reason).contains(LossReason.GONE);
        }

        @Test
        void makesAGrantThatItsLossOvertookUnwanted() {
            ticket.waiting(TTL, start);
            ticket.gone(LossReason.FORCED, "by force");
            heard.clear();

            ticket.granted(7);

            assertThat(heard).containsExactly("unwanted");
            assertThat(ticket.storeToken()).as("to give it back").isEqualTo(7);
            assertThat(ticket.isValid()).isFalse();
        }

        @Test
        void makesAGrantForOneWhoGaveUpUnwanted() {
            ticket.end();

            ticket.granted(7, TTL, start);

            assertThat(heard).containsExactly("unwanted");
            assertThat(ticket.storeToken()).isEqualTo(7);
        }

        @Test
        void saysOnceThatAGrantIsUnwanted() {
            ticket.end();

            ticket.granted(7);
            ticket.granted(7, TTL, start);

            assertThat(heard).containsExactly("unwanted");
        }

        @Test
        void leavesAGrantItHadToWhoeverEndedIt() {
            ticket.granted(7, TTL, start);
            ticket.end();
            heard.clear();

            ticket.granted(7);

            assertThat(heard).isEmpty();
        }
    }

    private Ticket ticket(List<String> words) {
        return new Ticket(
                "orders", new OwnerId("client", 1), Demand.exclusive(), TTL, ORIGIN, validity, recorder(words));
    }

    private long endOf(long base, Duration ttl) {
        return validity.endNanos(base, ttl);
    }

    private long later(int seconds) {
        return start + Duration.ofSeconds(seconds).toNanos();
    }

    private static LockException failure() {
        return new StoreUnavailableException("orders", "away");
    }

    private static Ticket.Listener recorder(List<String> words) {
        return new Ticket.Listener() {
            @Override
            public void granted() {
                words.add("granted");
            }

            @Override
            public void kept() {
                words.add("kept");
            }

            @Override
            public void failing(LockException cause) {
                words.add("failing: " + cause.getMessage());
            }

            @Override
            public void ended(Ticket.Ending why) {
                words.add("ended: " + why.reason());
            }

            @Override
            public void unwanted() {
                words.add("unwanted");
            }
        };
    }
}
