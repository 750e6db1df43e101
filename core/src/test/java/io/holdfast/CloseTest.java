package io.holdfast;

import static io.holdfast.ManualClient.awaitQuietly;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("Closing a client")
@Timeout(60)
class CloseTest {

    @ParameterizedTest(name = "in {0}()")
    @ValueSource(strings = {"takeOverInherited", "acquired"})
    @DisplayName("P1 closing during a local handoff leaves no valid lease without a lock")
    void closingDuringALocalHandoffLeavesNoValidLeaseWithoutALock(String method) throws Exception {
        String space = "memory:close-in-" + method;
        TimeWithin moment = new TimeWithin(method);
        try (Holdfast other = Holdfast.connect(space);
                Holdfast client = Holdfast.builder()
                        .store(space)
                        .time(moment)
                        .listener(event -> {}) // of what is acquired, which looks at the clock for it
                        .localHandoff(64, Duration.ofMinutes(1))
                        .closeTimeout(Duration.ofMinutes(1))
                        .connect()) {
            DistributedLock lock = client.lock("orders");
            Lease first = lock.acquire();
            Background<Lease> second = Background.run(lock::acquire);
            await().until(second::isParked);

            CompletableFuture<CompletableFuture<Void>> closing = new CompletableFuture<>();
            moment.onNextLook(() -> {
                closing.complete(CompletableFuture.runAsync(client::close));
                await().until(() -> !other.lock("orders").inspect().isHeld());
            });
            first.release();
            Optional<Lease> inherited = unlessClosed(second);
            Optional<Lease> elsewhere = other.lock("orders").tryAcquire();

            assertThat(inherited.filter(Lease::isValid).isPresent() && elsewhere.isPresent())
                    .as("two clients have a valid lease on one lock")
                    .isFalse();
            closing.get(30, TimeUnit.SECONDS).get(30, TimeUnit.SECONDS);
            assertThat(inherited.filter(Lease::isValid))
                    .as("a valid lease of a closed client")
                    .isEmpty();
        }
    }

    /** The lease, or nothing if the client was closed before there was one. */
    private static Optional<Lease> unlessClosed(Background<Lease> acquisition) throws Exception {
        try {
            return Optional.of(acquisition.get(30, TimeUnit.SECONDS));
        } catch (ExecutionException e) {
            assertThat(e).hasCauseInstanceOf(ClientClosedException.class);
            return Optional.empty();
        }
    }

    @Test
    @DisplayName("P7 the store stays open for a release that is under way")
    void storeStaysOpenForAReleaseThatIsUnderWay() throws Exception {
        try (ManualClient client = new ManualClient()) {
            CountDownLatch releasing = new CountDownLatch(1);
            CountDownLatch answer = new CountDownLatch(1);
            AtomicBoolean closedTooEarly = new AtomicBoolean();
            client.store.beforeClose = () -> closedTooEarly.set(answer.getCount() > 0);
            Lease lease = client.lock("orders").acquire();
            client.store.beforeRelease = () -> {
                releasing.countDown();
                awaitQuietly(answer);
            };
            Background<ReleaseResult> release = Background.run(lease::release);
            assertThat(releasing.await(10, TimeUnit.SECONDS)).isTrue();

            Background<?> closing = Background.run(() -> {
                client.holdfast.close();
                return true;
            });
            await().until(() -> closing.isDone() || closing.isParked());
            answer.countDown();

            assertThat(release.get(10, TimeUnit.SECONDS)).isEqualTo(ReleaseResult.RELEASED);
            closing.get(10, TimeUnit.SECONDS);
            assertThat(closedTooEarly).isFalse();
        }
    }

    @Test
    @DisplayName("P7 a request that arrives after it was first looked for leaves nothing held")
    void aRequestThatArrivesAfterItWasFirstLookedForLeavesNothingHeld() {
        AtomicBoolean heldAtTheEnd = new AtomicBoolean();
        AtomicBoolean wasHeld = new AtomicBoolean();
        try (ManualClient client = new ManualClient(settings -> settings.closeTimeout(Duration.ofMinutes(1)))) {
            client.store.beforeClose = () -> heldAtTheEnd.set(client.isHeldAtTheStore("orders"));
            client.store.network = FaultyStore.Network.REQUESTS_LATE;
            // Called with the answer to the first look.
            client.store.beforeAnswer = () -> {
                client.store.deliver();
                wasHeld.compareAndSet(false, client.isHeldAtTheStore("orders"));
            };
            assertThatThrownBy(() -> client.lock("orders").tryAcquire()).isInstanceOf(UnknownOutcomeException.class);
        }
        assertThat(wasHeld).isTrue();
        assertThat(heldAtTheEnd).isFalse();
    }

    @ParameterizedTest(name = "after {0}")
    @EnumSource(names = {"MAX_HOLD", "EXPIRED"})
    @DisplayName("P7 closing in onLost leaves nothing held")
    void closingInOnLostLeavesNothingHeld(LossReason reason) throws Exception {
        String space = "memory:close-in-on-lost-" + reason;
        Duration ttl = Duration.ofMinutes(1);
        LockOptions options = LockOptions.defaults().withTtl(ttl);
        CompletableFuture<Loss> lost = new CompletableFuture<>();
        ManualTime time = new ManualTime();
        try (Holdfast other = Holdfast.builder().store(space).time(time).connect()) {
            Holdfast client = Holdfast.builder()
                    .store(space)
                    .name("closing")
                    .time(time)
                    .executor(CloseTest::runAsFarAsItGets)
                    .connect();
            Lease lease = client.lock(
                            "orders",
                            reason == LossReason.MAX_HOLD
                                    ? options.withMaxHold(ttl.dividedBy(6))
                                    : options.withRenewal(Renewal.NONE))
                    .acquire();
            lease.onLost(loss -> {
                client.close();
                lost.complete(loss);
            });

            // To the end as the client reckons it; the store would keep the lock for longer.
            time.advance(reason == LossReason.MAX_HOLD ? ttl.dividedBy(6) : ttl.minus(ttl.dividedBy(200)));

            assertThat(lost.get(30, TimeUnit.SECONDS).reason()).isEqualTo(reason);
            assertThat(other.lock("orders").inspect().isHeld()).isFalse();
            await().until(() -> threadsOf("closing") == 0);
        }
    }

    /** On a thread of its own, and returns when that has nothing more to do but wait. */
    private static void runAsFarAsItGets(Runnable task) {
        Background<Boolean> running = Background.run(() -> {
            task.run();
            return true;
        });
        await().pollInterval(Duration.ofMillis(1)).until(() -> running.isDone() || running.isParked());
    }

    @Test
    void threadsEndEvenIfTheStoreCannotBeClosed() {
        try (ManualClient client = new ManualClient(builder -> builder.name("stubborn"))) {
            client.store.beforeClose = () -> {
                throw new IllegalStateException("a socket did not like it");
            };
            assertThat(threadsOf("stubborn")).isPositive();

            assertThatIllegalStateException().isThrownBy(client.holdfast::close);

            await().until(() -> threadsOf("stubborn") == 0);
        }
    }

    private static long threadsOf(String client) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("holdfast-" + client))
                .count();
    }
}
