package io.holdfast.tck.promise;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Acquirable;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.spi.AdministeredStore;
import io.holdfast.tck.Mortal;
import io.holdfast.tck.tap.StoreTap;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What is over leaves nothing in the store but a fencing counter. Every other contract checks its views after each test. */
@DisplayName("P8 clean")
public abstract class CleanContract extends StoreContract {

    @ParameterizedTest
    @EnumSource
    void aReleasedLockLeavesNothing(Kind kind) throws Exception {
        assumeSupports(kind.needs());
        for (int i = 0; i < 3; i++) {
            try (Hold hold = kind.of(client(), name(), longLived())
                    .tryAcquire(patience())
                    .orElseThrow()) {
                assertThat(hold.isValid()).isTrue();
            }
        }

        awaitNothingLeft();
    }

    @ParameterizedTest
    @EnumSource
    void waitersThatWereServedOrGaveUpLeaveNothing(Kind kind) throws Exception {
        assumeSupports(kind.needs());
        Lease holder = client().lock(name(), longLived()).acquire();
        var served = kind.of(client(), name(), longLived()).acquireAsync();
        var cancelled = kind.of(client(), name(), longLived()).acquireAsync();
        Acquirable<? extends Hold> impatient = kind.of(client(), name(), longLived());
        assertThat(impatient.tryAcquire()).isEmpty();
        assertThat(impatient.tryAcquire(briefly())).isEmpty();

        cancelled.cancel(true);
        holder.release();
        get(served).release();

        awaitNothingLeft();
    }

    @Test
    void theDeadLeaveNothing() throws Exception {
        Mortal mortal = mortal();
        Holdfast doomed = client(mortal);
        doomed.lock(name(), renewed()).acquire();
        CompletableFuture<Lease> waiter = doomed.lock(name(), shortLived()).acquireAsync();

        mortal.die();

        awaitNothingLeft();
        assertThat(waiter.isCompletedExceptionally() || !waiter.isDone()).isTrue();
    }

    @Test
    void pruningTouchesNoHeldLockAndLowersNoToken() throws Exception {
        assumeCan(AdministeredStore.class, "prune");
        Holdfast client = client();
        Lease before = client.lock(name("idle"), longLived()).acquire();
        before.release();
        try (Lease held = client.lock(name(), longLived()).acquire()) {
            StoreTap.pause(Duration.ofMillis(20));

            client.administration().prune(Duration.ofMillis(10));

            assertThat(view(name()).holders()).hasSize(1);
            held.extend(longTtl());
        }
        try (Lease after = client.lock(name("idle"), longLived()).acquire()) {
            assertThat(after.token()).isGreaterThan(before.token());
        }
    }

    private void awaitNothingLeft() {
        for (String name : List.of(name(), name() + "-too")) {
            awaitFree(name);
            soon().untilAsserted(() -> assertThat(subject().leftovers(name).orElse(List.of()))
                    .as("what the server keeps of '%s'", name)
                    .isEmpty());
        }
        Holdfast looking = client();
        soon().untilAsserted(() -> assertThat(looking.locks(name())).isEmpty());
    }
}
