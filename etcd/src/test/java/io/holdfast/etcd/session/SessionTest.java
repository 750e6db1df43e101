package io.holdfast.etcd.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.holdfast.Demand;
import io.holdfast.LockView.Origin;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TimeSource;
import io.holdfast.spi.Validity;
import java.time.Duration;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A session nobody uses")
class SessionTest {

    private static final long LONG_AGO = 0;
    private static final long NOW = Duration.ofHours(1).toNanos();
    private static final long LONGEST_IDLE = Duration.ofMinutes(5).toNanos();

    private static Session session() {
        return new Session(1, Duration.ofSeconds(10), Session.Kind.COMMON, LONG_AGO, ByteString.EMPTY);
    }

    private static TicketKey key(Session session) {
        Ticket ticket = new Ticket(
                "orders",
                new OwnerId.Source().next(),
                Demand.exclusive(),
                Duration.ofSeconds(10),
                new Origin("test", "here", 1, "main"),
                new Validity(TimeSource.system(), Duration.ZERO),
                new Ticket.Listener() {});
        return new TicketKey(ticket, session);
    }

    @Test
    void endsAndTakesNobodyInAnyMore() {
        Session session = session();

        assertThat(session.endIfIdle(NOW, LONGEST_IDLE)).isTrue();
        assertThat(session.enter(key(session))).isFalse();
    }

    @Test
    void doesNotEndOnceSomebodyIsIn() {
        Session session = session();

        assertThat(session.enter(key(session))).isTrue();
        assertThat(session.endIfIdle(NOW, LONGEST_IDLE)).isFalse();
    }

    @Test
    void p5DoesNotEndWhileSomebodyIsAboutToEnter() throws Exception {
        Session session = session();
        FutureTask<Boolean> ends = new FutureTask<>(() -> session.endIfIdle(NOW, LONGEST_IDLE));
        Thread sweeper = new Thread(ends);
        synchronized (session) {
            sweeper.start();
            await().until(() -> sweeper.getState() != Thread.State.RUNNABLE);
            assertThat(session.enter(key(session))).isTrue();
        }

        assertThat(ends.get()).isFalse();
    }
}
