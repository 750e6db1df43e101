package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Demand;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.TimeSource;
import java.sql.Connection;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("A connection that comes at the last moment")
class LateConnectionTest {

    /** Contention is no trouble, also if connecting took all the time there was. By a clock that stands still between statements. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void leavesTimeToHearThatTheLockIsTaken(boolean shared) {
        String name = Database.unique("late");
        Clock clock = new Clock();
        Thread requester = Thread.currentThread();
        Deadline deadline = Deadline.after(clock, Duration.ofMinutes(1));
        DataSource late = WatchedConnections.of(
                () -> {
                    Connection connection = Database.H2.connect();
                    // Else it finds that no time is left to wait for a connection.
                    await().until(() -> requester.getState() == Thread.State.TIMED_WAITING);
                    clock.nanos.set(deadline.atNanos() - 1);
                    return connection;
                },
                new WatchedConnections.Watcher() {
                    @Override
                    public void after(Connection connection) {
                        clock.nanos.addAndGet(Duration.ofMillis(1).toNanos());
                    }
                });
        try (OpenStore holder = new OpenStore(Database.H2.storeUrl());
                OpenStore client = new OpenStore(JdbcStores.using(late), clock, Runnable::run)) {
            holder.hold(name);

            Demand demand = shared ? Demand.shared() : Demand.exclusive();
            assertThat(client.refusal(name, demand, Duration.ofSeconds(30), deadline))
                    .isPresent();
        }
    }

    private static final class Clock implements TimeSource {

        private final AtomicLong nanos = new AtomicLong();

        @Override
        public long nanoTime() {
            return nanos.get();
        }

        @Override
        public void parkUntil(Object blocker, long untilNanos) {
            throw new UnsupportedOperationException("nobody waits by this clock");
        }
    }
}
