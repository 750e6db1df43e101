package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.DistributedLock;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.spi.TimeSource;
import java.sql.Connection;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("Being told of one's turn")
class PostgresBellTest {

    private static final Duration SOON = Duration.ofSeconds(20);
    /** Those who have heard nothing for a while ask whether the server is still there. */
    private static final String LISTENERS =
            "FROM pg_stat_activity WHERE (query LIKE 'LISTEN holdfast_%' OR query = 'SELECT 1')"
                    + " AND pid <> pg_backend_pid()";

    private static long listeners() {
        return Database.POSTGRESQL.number("SELECT COUNT(*) " + LISTENERS);
    }

    @Test
    void takesOneConnectionPerClientHoweverManyLocksAreWaitedFor() throws Exception {
        await().atMost(SOON).until(() -> listeners() == 0);
        try (Holdfast holder = Holdfast.connect(Database.POSTGRESQL.storeUrl());
                Holdfast waiter = Holdfast.connect(Database.POSTGRESQL.storeUrl())) {
            for (int i = 0; i < 5; i++) {
                String name = Database.unique("many");
                holder.lock(name).acquire();
                waiter.lock(name).acquireAsync();
            }

            await().atMost(SOON).until(() -> listeners() == 1);
            await().during(Duration.ofMillis(500)).atMost(SOON).until(() -> listeners() == 1);
        }
        await().atMost(SOON).until(() -> listeners() == 0);
    }

    @Test
    void comesBackAfterItsConnectionWasKilledAndIsMissedByNobody() throws Exception {
        String name = Database.unique("killed");
        try (Holdfast one = Holdfast.connect(Database.POSTGRESQL.storeUrl());
                Holdfast two = Holdfast.connect(Database.POSTGRESQL.storeUrl())) {
            Lease held = one.lock(name).acquire();
            CompletableFuture<Lease> waiting = two.lock(name).acquireAsync();
            await().atMost(SOON).until(() -> listeners() > 0);

            Database.POSTGRESQL.execute("SELECT pg_terminate_backend(pid) " + LISTENERS);
            long start = System.nanoTime();
            held.release();
            Lease next = await().atMost(SOON).until(() -> waiting.getNow(null), lease -> lease != null);

            // A poll period by rights; the rest is for a busy machine.
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(10));
            CompletableFuture<Lease> again = one.lock(name).acquireAsync();
            await().atMost(SOON).until(() -> listeners() > 0);
            next.release();
            await().atMost(SOON).until(again::isDone);
        }
    }

    @Test
    void isTriedAgainAfterAnError() {
        AtomicInteger tries = new AtomicInteger();
        TimeSource time = TimeSource.system();
        Bells bells = new Bells(time, name -> {}, baton -> {});
        Callable<Connection> connect = () -> {
            tries.incrementAndGet();
            throw new Error("as when memory runs out");
        };
        try (PostgresBell bell = new PostgresBell("client", "test-bell", connect, bells, time)) {
            bell.wanted();

            await().atMost(SOON).until(() -> tries.get() > 1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void isNotNeeded(Database database) throws Exception {
        String url = database.storeUrl() + "&listen=false";
        try (Holdfast one = Holdfast.connect(url);
                Holdfast two = Holdfast.connect(url)) {
            DistributedLock ours = one.lock(Database.unique("deaf"));
            DistributedLock theirs = two.lock(ours.name());
            for (int i = 0; i < 10; i++) {
                Lease held = ours.acquire();
                CompletableFuture<Lease> waiting = theirs.acquireAsync();
                held.release();
                await().atMost(SOON).until(waiting::isDone);
                waiting.get().release();
            }
        }
    }
}
