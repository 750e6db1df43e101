package io.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

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
                    .isThrownBy(() -> holdfast.lock("x", options.withMinHold(Duration.ofHours(1))))
                    .withMessageContaining("longer ttl");
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
