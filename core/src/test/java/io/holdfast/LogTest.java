package io.holdfast;

import static io.holdfast.ManualClient.TTL;
import static io.holdfast.ManualClient.awaitQuietly;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.LockStatistics.StoreOperation;
import io.holdfast.spi.Ticket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("The log")
@Timeout(60)
class LogTest {

    private final CapturedLog log = new CapturedLog();
    private final ManualClient client = new ManualClient(builder -> builder.longWait(Duration.ofMinutes(1)));

    @AfterEach
    void close() {
        client.close();
        log.close();
    }

    @Test
    @DisplayName("P5 says as an error that a lease is lost, though nobody listens")
    void saysAsAnErrorThatALeaseIsLost() throws InterruptedException {
        Lease lease = client.lock("lost-orders").acquire();
        client.store.network = FaultyStore.Network.DOWN;

        client.time.advance(TTL);

        await().untilAsserted(() -> assertThat(errors("lost-orders"))
                .singleElement()
                .asString()
                .contains("token " + lease.token())
                .contains("memory")
                .contains("not renewed in time")
                .contains("must stop"));
    }

    @Test
    @DisplayName("P5 says as an error that a lease was found lost when it was released")
    void saysAsAnErrorThatALeaseWasFoundLostWhenItWasReleased() throws InterruptedException {
        Lease lease = client.lock("gone-orders").acquire();
        client.holdfast.administration().forceRelease("gone-orders");

        assertThat(lease.release()).isEqualTo(ReleaseResult.ALREADY_LOST);

        await().untilAsserted(() -> assertThat(errors("gone-orders")).hasSize(1));
    }

    @Test
    @DisplayName("P5 says nothing of a lease that is released")
    void saysNothingOfALeaseThatIsReleased() throws InterruptedException {
        client.lock("released-orders").acquire().release();

        assertThat(log.about("released-orders")).isEmpty();
    }

    @Test
    @DisplayName("P5 warns of the first renewal that fails in an outage, and not of the others")
    void warnsOfTheFirstRenewalThatFailsInAnOutage() throws InterruptedException {
        Lease lease = client.lock("failing-orders").acquire();
        client.holdElsewhere("taken");
        // Whose heartbeats fail too, at other times.
        CompletableFuture<Lease> waiting = client.holdfast
                .lock("taken", ManualClient.OPTIONS.withTtl(TTL.dividedBy(2)))
                .acquireAsync();
        await().until(() -> !client.lock("taken").inspect().waiters().isEmpty());
        client.store.network = FaultyStore.Network.DOWN;

        client.passUntil(TTL.dividedBy(60), () -> failedRenewals() >= 6);

        await().untilAsserted(() -> assertThat(warnings("failing-orders"))
                .singleElement()
                .asString()
                .contains("token " + lease.token())
                .contains("still valid for")
                .contains("memory")
                .contains("check the store"));
        assertThat(warnings("failing-orders").get(0)).doesNotContain("do not hold", "1 lease");
        assertThat(lease.isValid()).isTrue();
        waiting.cancel(true);
    }

    @Test
    @DisplayName("P5 says of how many leases the renewals fail, and ends each sentence once")
    void saysOfHowManyLeasesTheRenewalsFail() throws InterruptedException {
        Lease one = client.lock("some-orders").acquire();
        Lease other = client.lock("more-orders").acquire();
        client.store.beforeRenewal = tickets -> {
            throw new UnknownOutcomeException(tickets.get(0).name(), "unexpected end of stream.");
        };

        client.time.advance(TTL.dividedBy(3));

        await().untilAsserted(() -> assertThat(Stream.of(one, other).flatMap(lease -> warnings(lease.name()).stream()))
                .singleElement()
                .asString()
                .contains("one of 2 leases", "end of stream. You still hold")
                .doesNotContain(".."));
    }

    @Test
    @DisplayName("P5 warns again of the next outage")
    void warnsAgainOfTheNextOutage() throws InterruptedException {
        Lease lease = client.lock("twice-orders").acquire();
        for (int outage = 1; outage <= 2; outage++) {
            int warned = outage;
            client.store.network = FaultyStore.Network.DOWN;
            client.passUntil(TTL.dividedBy(60), () -> warnings("twice-orders").size() == warned);
            client.store.network = FaultyStore.Network.UP;
            client.passUntil(
                    TTL.dividedBy(60),
                    () -> lease.remaining().compareTo(TTL.multipliedBy(9).dividedBy(10)) > 0);
        }
        assertThat(lease.isValid()).isTrue();
    }

    @Test
    @DisplayName("P5 warns of renewals that fail though a clean-up at the same server hangs")
    void warnsOfRenewalsThatFailThoughACleanUpHangs() throws InterruptedException {
        CountDownLatch hanging = new CountDownLatch(1);
        CountDownLatch answer = new CountDownLatch(1);
        client.lock("failing-orders").acquire();
        client.holdElsewhere("taken");
        CompletableFuture<Lease> waiting = client.lock("taken").acquireAsync();
        await().until(() -> !client.lock("taken").inspect().waiters().isEmpty());
        client.store.beforeWithdrawal = () -> {
            hanging.countDown();
            awaitQuietly(answer);
        };
        waiting.cancel(true);
        awaitQuietly(hanging);
        client.store.network = FaultyStore.Network.DOWN;

        client.time.advance(TTL.dividedBy(3));

        try {
            await().atMost(Duration.ofSeconds(10))
                    .untilAsserted(() -> assertThat(warnings("failing-orders"))
                            .singleElement()
                            .asString()
                            .contains("Renewals at", "still valid for"));
        } finally {
            answer.countDown();
        }
    }

    @Test
    void tellsAThreadAtOnceThatItWaitsForItself() throws Exception {
        Background<Lease> forgetful = Background.run(() -> {
            client.lock("mine").acquire();
            return client.lock("mine").tryAcquire(Duration.ofDays(1)).orElse(null);
        });

        await().untilAsserted(() -> assertThat(warnings("mine"))
                .singleElement()
                .asString()
                .contains("holds itself")
                .contains("asReentrantLock()"));
        client.time.advance(Duration.ofDays(2));
        forgetful.get(10, TimeUnit.SECONDS);
    }

    @Test
    void doesNotTakeOneThreadForAnother() throws Exception {
        Lease mine = client.lock("ours").acquire();
        Background<Lease> other = Background.run(() -> client.lock("ours").acquire());
        await().until(other::isParked);
        mine.release();
        other.get(10, TimeUnit.SECONDS);
        Ticket elsewhere = client.holdElsewhere("theirs");
        CompletableFuture<Lease> first = client.lock("theirs").acquireAsync();
        await().until(() -> !client.lock("theirs").inspect().waiters().isEmpty());
        client.releaseElsewhere(elsewhere);
        first.get(10, TimeUnit.SECONDS);

        assertThat(client.lock("ours").tryAcquireAsync(Duration.ofMillis(1))).isNotCompleted();

        client.time.advance(Duration.ofMillis(2));
        assertThat(warnings("ours")).isEmpty();
        assertThat(warnings("theirs")).isEmpty();
    }

    @Test
    @DisplayName("P9 warns once of a lock that many wait for, and looks once")
    void warnsOnceOfALockThatManyWaitFor() {
        int many = 200;
        client.holdElsewhere("crowded");
        List<CompletableFuture<Lease>> waiting = new ArrayList<>();
        for (int i = 0; i < many; i++) {
            waiting.add(client.lock("crowded").acquireAsync());
        }
        await().until(() -> client.holdfast.statistics().waiting() == many);
        await().until(() -> !client.lock("crowded").inspect().waiters().isEmpty());
        long looks = views();

        client.time.advance(Duration.ofMinutes(1));

        await().untilAsserted(() -> assertThat(warnings("crowded")).isNotEmpty());
        await().during(Duration.ofMillis(300)).until(() -> views() - looks <= 1);
        assertThat(warnings("crowded"))
                .singleElement()
                .asString()
                .contains(many + " of its")
                .contains("another-client");
        waiting.forEach(future -> future.cancel(true));
        await().until(() -> client.holdfast.statistics().waiting() == 0);
    }

    private List<String> errors(String lock) {
        return texts(lock, Level.SEVERE);
    }

    private List<String> warnings(String lock) {
        return texts(lock, Level.WARNING);
    }

    private List<String> texts(String lock, Level level) {
        return log.about(lock).stream()
                .filter(line -> line.level() == level)
                .map(CapturedLog.Line::text)
                .toList();
    }

    private long failedRenewals() {
        return client.holdfast.statistics().renewalsFailed();
    }

    private long views() {
        return client.holdfast.statistics().requests().get(StoreOperation.VIEW).answered();
    }
}
