package io.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("Connecting")
class ConnectTest {

    private static final String CANARY = "c4n4ry";

    @Test
    void namedMemoryStoresAreSharedAndUnnamedOnesAreNot() {
        try (Holdfast a = Holdfast.connect("memory:shared-one");
                Holdfast b = Holdfast.connect("memory:shared-one");
                Holdfast c = Holdfast.connect("memory:")) {
            assertThat(a.lock("x").tryAcquire()).isPresent();
            assertThat(b.lock("x").tryAcquire()).isEmpty();
            assertThat(c.lock("x").tryAcquire()).isPresent();
        }
    }

    @Test
    void unknownSchemeNamesWhatThereIsAndHidesCredentials() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Holdfast.connect("nosuch://joe:" + CANARY + "@localhost?password=" + CANARY))
                .withMessageContaining("nosuch")
                .withMessageContaining("memory:")
                .satisfies(e -> assertThat(e.getMessage()).doesNotContain(CANARY));
    }

    @ParameterizedTest
    @CsvSource({
        "redis://h, holdfast-redis",
        "rediss://h, holdfast-redis",
        "redis-sentinel://h/m, holdfast-redis",
        "redis-cluster://h, holdfast-redis",
        "redlock://a, holdfast-redis",
        "etcd://h, holdfast-etcd",
        "etcds://h, holdfast-etcd",
        "zookeeper://h, holdfast-zookeeper",
        "zookeepers://h, holdfast-zookeeper",
        "jdbc:postgresql://h/d, holdfast-jdbc"
    })
    void aStoreThatIsNotOnTheClassPathIsNamedWithItsModule(String uri, String module) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Holdfast.connect(uri))
                .withMessageContaining("io.holdfast:" + module + " ")
                .satisfies(
                        e -> assertThat(e.getMessage().split("holdfast-", -1)).hasSize(2));
    }

    @Test
    void aSchemeNobodyKnowsIsNotBlamedOnAModule() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Holdfast.connect("carrier-pigeon://loft"))
                .withMessageContaining("redis://")
                .withMessageContaining("file:")
                .satisfies(e -> assertThat(e.getMessage()).doesNotContain("holdfast-"));
    }

    @Test
    void permitsOfASemaphoreAreToldAsTheyWereGiven() {
        try (Holdfast holdfast = Holdfast.connect("memory:")) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> holdfast.semaphore("x", 0))
                    .withMessage("permits must be at least 1, not 0");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> holdfast.semaphore("x", -3))
                    .withMessage("permits must be at least 1, not -3");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> Demand.permits(4, 3))
                    .withMessage("permits must be between 1 and the total of 3, not 4");
        }
    }

    @Test
    void timesAreWrittenAsPeopleWriteThem() {
        try (Holdfast holdfast = Holdfast.connect("memory:")) {
            LockOptions options = LockOptions.defaults();
            assertThatExceptionOfType(UnsupportedLockException.class)
                    .isThrownBy(() -> holdfast.lock("x", options.withTtl(Duration.ofNanos(1000))))
                    .withMessageContaining("a ttl of 1 \u00b5s")
                    .withMessageNotContaining("PT");
            assertThatExceptionOfType(UnsupportedLockException.class)
                    .isThrownBy(() -> holdfast.lock(
                            "x", options.withMinHold(Duration.ofMinutes(90)).withMaxHold(Duration.ofSeconds(30))))
                    .withMessageContaining("maxHold 30 s is shorter than minHold 1 h 30 min")
                    .withMessageNotContaining("PT");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> options.withTtl(Duration.ofSeconds(-1)))
                    .withMessageContaining("-1 s")
                    .withMessageNotContaining("PT");
        }
    }

    @Test
    void misspelledParameterIsAnError() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Holdfast.connect("memory:x?tll=3s"))
                .withMessageContaining("tll");
    }

    @Test
    void optionsTheStoreCannotKeepAreRejectedWithTheReason() {
        try (Holdfast holdfast = Holdfast.connect("memory:")) {
            LockOptions options = LockOptions.defaults();
            assertThatExceptionOfType(UnsupportedLockException.class)
                    .isThrownBy(() -> holdfast.lock("x", options.withTtl(Duration.ofNanos(1))))
                    .withMessageContaining("'x'")
                    .withMessageContaining("ttl");
            assertThatExceptionOfType(UnsupportedLockException.class)
                    .isThrownBy(() -> holdfast.lock(
                            "x", options.withMinHold(Duration.ofHours(1)).withMaxHold(Duration.ofMinutes(1))))
                    .withMessageContaining("maxHold");
            assertThatExceptionOfType(UnsupportedLockException.class)
                    .isThrownBy(() -> holdfast.lock(
                            "x", options.withFairness(Fairness.FIFO).withWaiting(Waiting.poll())))
                    .withMessageContaining("FIFO");
            assertThatIllegalArgumentException().isThrownBy(() -> holdfast.lock(""));
            assertThatIllegalArgumentException().isThrownBy(() -> holdfast.semaphore("x", 0));
            assertThatIllegalArgumentException().isThrownBy(holdfast::lockAll);
        }
    }

    @Test
    void closedClientSaysSoAndClosesTwice() {
        Holdfast holdfast = Holdfast.builder().store("memory:").name("gone").connect();
        DistributedLock lock = holdfast.lock("x");
        holdfast.close();
        holdfast.close();

        assertThatExceptionOfType(ClientClosedException.class)
                .isThrownBy(lock::tryAcquire)
                .withMessageContaining("'gone'");
        assertThatExceptionOfType(ClientClosedException.class).isThrownBy(() -> holdfast.lock("y"));
    }
}
