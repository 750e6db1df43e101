package io.holdfast.spring.adapter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LeaseLostException;
import io.holdfast.testing.HoldfastExtension;
import io.holdfast.testing.TestLocks;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.integration.support.locks.DistributedLock;

@DisplayName("adapters for other libraries")
@ExtendWith(HoldfastExtension.class)
class AdaptersTest {

    private static LockConfiguration configuration(Duration atMost, Duration atLeast) {
        return new LockConfiguration(Instant.now(), "job", atMost, atLeast);
    }

    @Test
    void shedLockGetsALockOnceAndKeepsItForTheLeastTime(TestLocks locks) {
        HoldfastLockProvider provider = new HoldfastLockProvider(locks.holdfast());
        LockConfiguration hour = configuration(Duration.ofHours(1), Duration.ofMinutes(5));

        SimpleLock lock = provider.lock(hour).orElseThrow();
        assertThat(provider.lock(hour)).isEmpty();
        lock.unlock();

        assertThat(provider.lock(hour)).isEmpty();
        locks.advance(Duration.ofMinutes(6));
        provider.lock(hour).orElseThrow().unlock();
    }

    @Test
    void aJobOfShedLockThatRunsTooLongLosesItsLock(TestLocks locks) {
        HoldfastLockProvider provider = new HoldfastLockProvider(locks.holdfast());
        SimpleLock lock = provider.lock(configuration(Duration.ofMinutes(2), Duration.ZERO))
                .orElseThrow();

        locks.advance(Duration.ofMinutes(1));
        assertThat(locks.holdfast().lock("job").inspect().isHeld()).isTrue();
        locks.advance(Duration.ofMinutes(2));

        assertThat(locks.holdfast().lock("job").tryRun(() -> {})).isTrue();
        assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
    }

    @Test
    void aRegistryOfSpringIntegrationGivesReentrantLocks(TestLocks locks) throws Exception {
        HoldfastLockRegistry registry = new HoldfastLockRegistry(locks.holdfast(), "files/");
        DistributedLock lock = registry.obtain("a.txt");

        lock.lock();
        assertThat(registry.obtain("a.txt").tryLock()).isTrue();
        assertThat(CompletableFuture.supplyAsync(() -> registry.obtain("a.txt").tryLock())
                        .get(10, TimeUnit.SECONDS))
                .isFalse();
        assertThat(locks.holdfast().lock("files/a.txt").inspect().isHeld()).isTrue();
        lock.unlock();
        lock.unlock();

        assertThat(locks.holdfast().lock("files/a.txt").inspect().isHeld()).isFalse();
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
        registry.executeLocked("a.txt", () -> assertThat(locks.openLeases()).hasSize(1));
    }

    @Test
    void aRegistryRenewsForAsLongAsItIsAsked(TestLocks locks) throws Exception {
        HoldfastLockRegistry registry = new HoldfastLockRegistry(locks.holdfast());
        DistributedLock lock = registry.obtain("a.txt");

        assertThat(lock.tryLock(Duration.ofSeconds(1), Duration.ofSeconds(5))).isTrue();
        registry.renewLock("a.txt", Duration.ofMinutes(2));
        locks.storeDown();
        locks.advance(Duration.ofSeconds(100));
        locks.storeUp();
        lock.unlock();

        assertThatThrownBy(() -> registry.renewLock("a.txt")).isInstanceOf(IllegalStateException.class);
        registry.expireUnusedOlderThan(0);
    }
}
