package io.holdfast.redis.script;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.UnknownOutcomeException;
import io.holdfast.redis.script.ScriptCalls.Outcome;
import io.holdfast.redis.server.FailoverPause;
import io.holdfast.redis.server.Node;
import io.holdfast.redis.server.SingleServer;
import io.holdfast.redis.server.Topology;
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
import redis.clients.jedis.args.Rawable;

@DisplayName("An error between borrowing a connection and reading the answer")
class ScriptCallsTest {

    /** Lends connections that nobody gets to use, and counts those that come back. */
    private static final class Lender implements Node {
        private final List<LentConnection> lent = new ArrayList<>();
        private final List<LentConnection> dropped = new ArrayList<>();

        @Override
        public String id() {
            return "lender";
        }

        @Override
        public LentConnection borrow(Urgency urgency, Deadline deadline) {
            LentConnection one = new LentConnection(new Connection(), () -> {});
            lent.add(one);
            return one;
        }

        @Override
        public void giveBack(LentConnection connection) {
            throw new AssertionError("it was not used");
        }

        @Override
        public void drop(LentConnection connection) {
            dropped.add(connection);
        }

        @Override
        public void closeIdle() {}

        @Override
        public LentConnection open(Deadline deadline) {
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
    private final Topology servers = new SingleServer(lender);
    private final ScriptCalls calls = new ScriptCalls(
            servers,
            new FailoverPause(servers, time),
            context,
            Duration.ofSeconds(5),
            0,
            Duration.ofDays(7),
            demoted -> {});

    /** So large that an alarm guards it. */
    private static ScriptCall call() {
        List<Rawable> keys = LockKeys.of("holdfast:", "lock").encoded();
        return new ScriptCall(Script.RENEW, 0, "lock", keys, 0, Collections.nCopies(300, "x"));
    }

    private Deadline soon() {
        return Deadline.after(time, Duration.ofSeconds(5));
    }

    @Test
    void costsNoConnectionAndLeavesTheOutcomeUnknown() {
        assertThatThrownBy(() -> calls.run(call(), soon()))
                .isInstanceOf(UnknownOutcomeException.class)
                .hasRootCauseInstanceOf(Error.class);

        assertThat(lender.dropped).hasSize(1).isEqualTo(lender.lent);
    }

    @Test
    void costsNoConnectionOfSeveralCallsAndLeavesTheirOutcomesUnknown() {
        List<Outcome> outcomes = new ArrayList<>();

        calls.runAll(List.of(call(), call()), soon(), (number, outcome) -> outcomes.add(outcome));

        assertThat(outcomes)
                .hasSize(2)
                .allMatch(outcome ->
                        outcome instanceof Outcome.Failed failed && failed.cause() instanceof UnknownOutcomeException);
        assertThat(lender.dropped).hasSize(1).isEqualTo(lender.lent);
    }
}
