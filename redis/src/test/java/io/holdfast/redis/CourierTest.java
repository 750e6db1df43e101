package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.UnknownOutcomeException;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Connection;

@DisplayName("An error between borrowing a connection and reading the answer")
class CourierTest {

    /** Lends connections that nobody gets to use, and counts those that come back. */
    private static final class Lender implements Node {
        private final List<Line> lent = new ArrayList<>();
        private final List<Line> dropped = new ArrayList<>();

        @Override
        public String id() {
            return "lender";
        }

        @Override
        public Line borrow(Urgency urgency, Deadline deadline) {
            Line line = new Line(new Connection(), urgency);
            lent.add(line);
            return line;
        }

        @Override
        public void giveBack(Line line) {
            throw new AssertionError("it was not used");
        }

        @Override
        public void drop(Line line) {
            dropped.add(line);
        }

        @Override
        public void forgetIdle() {}

        @Override
        public Line open(Deadline deadline) {
            return borrow(Urgency.EXTRA, deadline);
        }

        @Override
        public void close() {}
    }

    private final Lender lender = new Lender();
    private final TimeSource time = TimeSource.system();
    private final StoreContext context = new StoreContext(
            new OwnerId.Source().client(),
            "test",
            time,
            (nanos, task) -> {
                throw new Error("no memory for an alarm");
            },
            Runnable::run);
    private final Courier courier = new Courier(new SingleServer(lender), context, Duration.ofSeconds(5), 0);

    /** So large that an alarm guards it. */
    private static Courier.Call call() {
        List<String> keys = LockKeys.of("holdfast:", "lock").all();
        return new Courier.Call(Script.RENEW, 0, "lock", keys, Collections.nCopies(300, "x"));
    }

    private Deadline soon() {
        return Deadline.after(time, Duration.ofSeconds(5));
    }

    @Test
    void costsNoConnectionAndLeavesTheOutcomeUnknown() {
        assertThatThrownBy(() -> courier.run(call(), soon()))
                .isInstanceOf(UnknownOutcomeException.class)
                .hasRootCauseInstanceOf(Error.class);

        assertThat(lender.dropped).hasSize(1).isEqualTo(lender.lent);
    }

    @Test
    void costsNoConnectionOfSeveralCallsAndLeavesTheirOutcomesUnknown() {
        List<Courier.Outcome> outcomes = courier.runAll(List.of(call(), call()), soon());

        assertThat(outcomes).hasSize(2).allMatch(outcome -> outcome.failure() instanceof UnknownOutcomeException);
        assertThat(lender.dropped).hasSize(1).isEqualTo(lender.lent);
    }
}
