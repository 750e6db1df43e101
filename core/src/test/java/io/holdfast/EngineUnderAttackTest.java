package io.holdfast;

import static io.holdfast.ManualClient.OPTIONS;
import static io.holdfast.ManualClient.TTL;
import static io.holdfast.ManualClient.awaitQuietly;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.holdfast.memory.MemoryStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreContext.Alarm;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What an attack on the engine found, where it fits nowhere else. */
@DisplayName("The engine")
@Timeout(60)
class EngineUnderAttackTest {

    @Test
    @DisplayName("P9 rests between two requests to a store that loses every ticket at once")
    void restsBetweenTwoRequestsToAStoreThatLosesEveryTicket() {
        try (ManualClient client = new ManualClient()) {
            client.holdElsewhere("orders");
            client.store.afterAsk = ticket -> ticket.gone(LossReason.GONE, "lost by the test");

            CompletableFuture<Lease> waiting = client.lock("orders").acquireAsync();

            await().until(() -> client.store.asks.get() >= 2);
            await().during(Duration.ofMillis(200)).until(() -> client.store.asks.get() == 2);
            client.passUntil(Duration.ofMillis(10), () -> client.store.asks.get() >= 4);
            client.store.afterAsk = ticket -> {};
            waiting.cancel(true);
        }
    }

    @Test
    @DisplayName("P4 renews a short lease though a batch of others hangs at the same server")
    void renewsAShortLeaseThoughABatchOfOthersHangs() throws Exception {
        CountDownLatch answer = new CountDownLatch(1);
        CountDownLatch hangs = new CountDownLatch(1);
        try (ManualClient client = new ManualClient()) {
            client.store.beforeRenewal = tickets -> {
                if (tickets.stream().anyMatch(ticket -> ticket.name().equals("slow"))) {
                    hangs.countDown();
                    awaitQuietly(answer);
                }
            };
            Lease slow = client.lock("slow").acquire();
            client.passUntil(TTL.dividedBy(60), () -> hangs.getCount() == 0);
            Lease quick = client.holdfast
                    .lock("quick", OPTIONS.withTtl(TTL.dividedBy(10)))
                    .acquire();

            for (int i = 1; i <= 6; i++) {
                int renewed = i;
                client.passUntil(
                        TTL.dividedBy(1000), () -> client.holdfast.statistics().renewed() >= renewed);
            }

            assertThat(quick.isValid()).isTrue();
            assertThat(slow.isValid()).isTrue();
            answer.countDown();
        } finally {
            answer.countDown();
        }
    }

    @Test
    void leavesNoThreadBehindWhenConnectingFails() {
        for (Throwable failure : new Throwable[] {new IllegalStateException("a bug"), new NoClassDefFoundError("x")}) {
            assertThatExceptionOfType(Throwable.class)
                    .isThrownBy(() -> Holdfast.builder()
                            .name("fails-to-connect")
                            .store(context -> {
                                CompletableFuture.runAsync(() -> {}, context.background())
                                        .join();
                                return sneak(failure);
                            })
                            .connect())
                    .isSameAs(failure);
        }
        await().until(() -> Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().startsWith("holdfast-fails-to-connect-timer")));
    }

    @SuppressWarnings("unchecked")
    private static <T, X extends Throwable> T sneak(Throwable failure) throws X {
        throw (X) failure;
    }

    @Test
    void refusesATtlThatMemoryCannotKeep() {
        try (Holdfast holdfast = Holdfast.connect("memory:")) {
            assertThatExceptionOfType(UnsupportedLockException.class)
                    .isThrownBy(
                            () -> holdfast.lock("orders", LockOptions.defaults().withTtl(Duration.ofMillis(1))))
                    .withMessageContaining("1 ms");
        }
    }

    @Test
    @DisplayName("P9 sets few alarms however much is waited for in memory")
    void setsFewAlarmsHoweverMuchIsWaitedForInMemory() throws Exception {
        Set<Object> alarms = ConcurrentHashMap.newKeySet();
        ManualTime time = new ManualTime();
        Holdfast holdfast = Holdfast.builder()
                .store(context -> MemoryStore.unnamed().open(counting(context, alarms)))
                .defaults(OPTIONS)
                .time(time)
                .connect();
        try {
            LockOptions shorter = OPTIONS.withTtl(Duration.ofMillis(100)).withRenewal(Renewal.NONE);
            holdfast.lock("long").acquire();
            CompletableFuture<Lease> endless =
                    holdfast.lock("long", OPTIONS.withFairness(Fairness.FIFO)).acquireAsync();
            await().until(() -> !holdfast.lock("long").inspect().waiters().isEmpty());
            for (int i = 0; i < 50; i++) {
                Lease held = holdfast.lock("short-" + i, shorter).acquire();
                CompletableFuture<Lease> next = holdfast.lock("short-" + i, shorter.withFairness(Fairness.FIFO))
                        .acquireAsync();
                await().pollInterval(Duration.ofMillis(1)).until(() -> {
                    time.advance(Duration.ofMillis(10));
                    return next.isDone() && !held.isValid();
                });
                next.get(10, TimeUnit.SECONDS).release();
            }

            assertThat(alarms).as("alarms that have not gone off").hasSizeLessThan(10);
            endless.cancel(true);
        } finally {
            ManualClient.close(holdfast, time);
        }
    }

    private static StoreContext counting(StoreContext context, Set<Object> alarms) {
        return new StoreContext(
                context.clientId(),
                context.clientName(),
                context.time(),
                (nanos, task) -> {
                    Object open = new Object();
                    alarms.add(open);
                    Alarm alarm = context.timer().at(nanos, () -> {
                        alarms.remove(open);
                        task.run();
                    });
                    return () -> {
                        alarms.remove(open);
                        alarm.cancel();
                    };
                },
                context.background());
    }
}
