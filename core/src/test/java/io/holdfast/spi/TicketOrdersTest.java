package io.holdfast.spi;

import static org.assertj.core.api.Assertions.assertThat;

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
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Stores report in any order, any number of times. All short stories are tried, and after every step the promises are checked. */
@DisplayName("A ticket, over all orders of what may happen to it")
class TicketOrdersTest {

    private static final Duration TTL = Duration.ofSeconds(10);
    private static final Duration SHORTER = Duration.ofSeconds(4);
    private static final OwnerId OWNER = new OwnerId("client", 1);
    private static final Origin ORIGIN = new Origin("client", "host", 1, "main");
    private static final LockException FAILURE = new StoreUnavailableException("orders", "away");

    /** Of answers the base is when their request was sent: now, or at the beginning for those that were overtaken. */
    private enum Step {
        PUSHED,
        GRANTED,
        GRANTED_LONG_AGO,
        WAITING,
        WAITING_FOR_LESS,
        EXTENDED,
        EXTENDED_LONG_AGO,
        FAILING,
        GONE,
        ENDED_BY_OWNER,
        ASKED_IF_VALID,
        ASKED_IF_EXPIRED,
        TIME_PASSES,
        MUCH_TIME_PASSES;

        boolean isGrant() {
            return this == PUSHED || this == GRANTED || this == GRANTED_LONG_AGO;
        }

        boolean isAnswer() {
            return switch (this) {
                case GRANTED, GRANTED_LONG_AGO, WAITING, WAITING_FOR_LESS, EXTENDED, EXTENDED_LONG_AGO -> true;
                default -> false;
            };
        }
    }

    @Test
    void keepsItsPromisesInAllStoriesOfFiveSteps() {
        assertThat(tellAll(5)).isEqualTo((long) Math.pow(Step.values().length, 5));
    }

    @Test
    @Tag("full")
    void keepsItsPromisesInAllStoriesOfSixSteps() {
        assertThat(tellAll(6)).isEqualTo((long) Math.pow(Step.values().length, 6));
    }

    /** Returns how many there were. */
    private static long tellAll(int length) {
        Step[] all = Step.values();
        int[] digits = new int[length];
        long stories = 0;
        while (true) {
            Story story = new Story();
            for (int digit : digits) {
                story.tell(all[digit]);
            }
            stories++;
            int last = length - 1;
            while (last >= 0 && ++digits[last] == all.length) {
                digits[last--] = 0;
            }
            if (last < 0) {
                return stories;
            }
        }
    }

    private static final class Story implements Ticket.Listener {

        private final ManualTime time = new ManualTime();
        private final Validity validity = new Validity(time, Duration.ZERO);
        private final long start = time.nanoTime();
        private final Ticket ticket = new Ticket("orders", OWNER, Demand.exclusive(), TTL, ORIGIN, validity, this);
        private final List<Step> steps = new ArrayList<>(6);

        private int granted;
        private int kept;
        private int failing;
        private int ended;
        private int unwanted;

        private boolean answered;
        private long latestReported = Long.MIN_VALUE;
        private boolean wasValid;
        private boolean wasInvalidAfterwards;

        void tell(Step step) {
            steps.add(step);
            State before = ticket.state();
            long endBefore = ticket.endNanos();
            long tokenBefore = ticket.storeToken();
            int grantedBefore = granted;
            int keptBefore = kept;
            int failingBefore = failing;
            int unwantedBefore = unwanted;

            take(step, before);

            State after = ticket.state();
            check(after.compareTo(before) >= 0, "its state only moves on");
            check(granted <= 1, "it is granted once");
            check(ended <= 1, "it ends once");
            check((ended == 1) == ticket.ending().isPresent(), "it tells the listener why it ended, and only then");
            check(granted - grantedBefore == (before == State.WAITING && after == State.HELD ? 1 : 0), "HELD is told");
            boolean lateGrant = step.isGrant() && after == State.ENDED && tokenBefore == Tokens.NONE;
            check(unwanted - unwantedBefore == (lateGrant ? 1 : 0), "a grant is unwanted if the end came before it");
            check(kept == keptBefore || after != State.ENDED, "nothing is kept that has ended");
            check(failing == failingBefore || before != State.ENDED, "nobody hears of trouble after the end");
            if (step.isAnswer() && before != State.ENDED) {
                boolean heard = kept + granted > keptBefore + grantedBefore || after == State.ENDED;
                check(heard, "every answer is heard");
            }
            if (step.isGrant()) {
                check(ticket.storeToken() != Tokens.NONE, "a grant leaves its token, to give it back");
            }
            check(tokenBefore == Tokens.NONE || ticket.storeToken() == tokenBefore, "its token never changes");
            checkDeadline(step, before, endBefore);
        }

        private void take(Step step, State before) {
            long now = time.nanoTime();
            switch (step) {
                case PUSHED -> ticket.granted(7);
                case GRANTED -> ticket.granted(7, reported(before, TTL, now), now);
                case GRANTED_LONG_AGO -> ticket.granted(7, reported(before, TTL, start), start);
                case WAITING -> ticket.waiting(reported(before, TTL, now), now);
                case WAITING_FOR_LESS -> ticket.waiting(reported(before, SHORTER, now), now);
                case EXTENDED -> ticket.extended(reported(before, TTL, now), now);
                case EXTENDED_LONG_AGO -> ticket.extended(reported(before, TTL, start), start);
                case FAILING -> ticket.failing(FAILURE);
                case GONE -> ticket.gone(LossReason.GONE, "test");
                case ENDED_BY_OWNER -> check(ticket.end() == before, "who ends it learns how far it had come");
                case ASKED_IF_VALID -> check(ticket.isValid() == isValid(), "it is valid until its deadline");
                case ASKED_IF_EXPIRED ->
                    check(ticket.endIfExpired() == (ticket.state() == State.ENDED), "it has ended if it expired");
                case TIME_PASSES -> time.advance(SHORTER);
                case MUCH_TIME_PASSES -> time.advance(TTL);
            }
        }

        private Duration reported(State before, Duration ttl, long base) {
            if (before != State.ENDED) {
                latestReported = Math.max(latestReported, validity.endNanos(base, ttl));
            }
            return ttl;
        }

        private void checkDeadline(Step step, State before, long endBefore) {
            long end = ticket.endNanos();
            boolean firstAnswer = step.isAnswer() && !answered;
            check(end >= endBefore || firstAnswer && before != State.ENDED, "only the first answer brings it forward");
            check(end == endBefore || step.isAnswer() && before != State.ENDED, "only an answer moves it");
            answered |= step.isAnswer() && before != State.ENDED;
            if (answered) {
                check(end <= latestReported, "P1: never valid for longer than the store has said");
            }
            boolean valid = isValid();
            check(!valid || !wasInvalidAfterwards, "once invalid it stays so");
            wasInvalidAfterwards |= wasValid && !valid;
            wasValid |= valid;
        }

        /** Without looking, which would end an expired one. */
        private boolean isValid() {
            return ticket.state() == State.HELD && ticket.endNanos() - time.nanoTime() > 0;
        }

        private void check(boolean promise, String what) {
            if (!promise) {
                throw new AssertionError("broken: " + what + ", after " + steps + ": " + ticket + ", granted " + granted
                        + ", kept " + kept + ", ended " + ended + ", unwanted " + unwanted);
            }
        }

        @Override
        public void granted() {
            granted++;
        }

        @Override
        public void kept() {
            kept++;
        }

        @Override
        public void failing(LockException cause) {
            failing++;
        }

        @Override
        public void ended(Ticket.Ending why) {
            ended++;
        }

        @Override
        public void unwanted() {
            unwanted++;
        }
    }
}
