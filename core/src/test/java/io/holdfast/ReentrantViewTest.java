package io.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("A read-write lock as re-entrant locks")
@Timeout(60)
class ReentrantViewTest {

    private final ManualClient client = new ManualClient();
    private final DistributedReadWriteLock lock = client.holdfast.readWriteLock("catalogue");
    private final Lock read = lock.readLock().asReentrantLock();
    private final Lock write = lock.writeLock().asReentrantLock();

    @AfterEach
    void close() {
        client.close();
    }

    @Test
    @DisplayName("P1 a reader does not become a writer")
    void readerDoesNotBecomeAWriter() {
        read.lock();

        assertThatIllegalStateException().isThrownBy(write::tryLock).withMessageContaining("catalogue");

        assertThat(lock.inspect().holders()).extracting(LockView.Holder::demand).containsExactly(Demand.shared());
    }

    @Test
    void readerMayReadAgainAndFreesTheLockWithItsLastUnlock() {
        read.lock();
        read.lock();

        read.unlock();
        assertThat(lock.inspect().isHeld()).isTrue();

        read.unlock();
        assertThat(lock.inspect().isHeld()).isFalse();
    }

    @Test
    void interruptThatCameBeforeIsHonouredWhenLockingAgain() {
        write.lock();

        assertInterrupted(write::lockInterruptibly);
        assertInterrupted(() -> write.tryLock(1, TimeUnit.SECONDS));

        write.unlock();
        assertThat(lock.inspect().isHeld()).isFalse();
    }

    @Test
    void interruptThatCameBeforeIsHonouredWithoutAnyTimeToWait() {
        assertInterrupted(() -> write.tryLock(0, TimeUnit.SECONDS));

        assertThat(lock.inspect().isHeld()).isFalse();
    }

    private static void assertInterrupted(ThrowingCallable locking) {
        Thread.currentThread().interrupt();
        try {
            assertThatExceptionOfType(InterruptedException.class).isThrownBy(locking);
        } finally {
            Thread.interrupted();
        }
    }

    @Test
    void writerMayReadToo() {
        write.lock();

        assertThat(read.tryLock()).isTrue();

        assertThat(lock.inspect().holders()).extracting(LockView.Holder::demand).containsExactly(Demand.exclusive());
    }
}
