package io.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReadWriteLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("A re-entrant lock")
@Timeout(60)
class ReentrantLocksTest {

    private final ManualClient client = new ManualClient();

    @AfterEach
    void close() {
        client.close();
    }

    @Test
    void tellsItsOwnerHowOftenItIsHeldAndUnderWhichLease() throws Exception {
        ReentrantDistributedLock lock = client.lock("orders").asReentrantLock();
        assertThat(lock.isHeldByCurrentThread()).isFalse();
        assertThat(lock.lease()).isEmpty();

        lock.lock();
        lock.lock();

        assertThat(lock.isHeldByCurrentThread()).isTrue();
        assertThat(lock.getHoldCount()).isEqualTo(2);
        assertThat(lock.lease()).map(Lease::isValid).contains(true);
        assertThat(Background.run(lock::isHeldByCurrentThread).get(10, TimeUnit.SECONDS))
                .isFalse();
        assertThat(Background.run(() -> lock.lease().isPresent()).get(10, TimeUnit.SECONDS))
                .isFalse();
        lock.unlock();
        assertThat(lock.getHoldCount()).isEqualTo(1);
        lock.unlock();
        assertThat(lock.getHoldCount()).isZero();
        assertThat(client.isHeld("orders")).isFalse();
    }

    @Test
    void ofAReadWriteLockLetsAWriterRead() {
        ReadWriteLock lock = client.holdfast.readWriteLock("catalogue").asReentrantReadWriteLock();

        lock.writeLock().lock();
        lock.readLock().lock();
        lock.writeLock().unlock();

        assertThat(client.lock("catalogue").inspect().holders())
                .extracting(LockView.Holder::demand)
                .containsExactly(Demand.exclusive());
        lock.readLock().unlock();
        assertThat(client.isHeld("catalogue")).isFalse();
    }

    @Test
    @DisplayName("P1 of a read-write lock is no write lock to a reader")
    void ofAReadWriteLockIsNoWriteLockToAReader() {
        DistributedReadWriteLock catalogue = client.holdfast.readWriteLock("catalogue");
        ReadWriteLock lock = catalogue.asReentrantReadWriteLock();
        ReentrantDistributedLock write = catalogue.writeLock().asReentrantLock();

        lock.readLock().lock();

        assertThat(write.isHeldByCurrentThread()).isFalse();
        assertThat(write.getHoldCount()).isZero();
        assertThat(write.lease()).isEmpty();
        assertThatIllegalStateException()
                .isThrownBy(() -> lock.writeLock().lock())
                .withMessageContaining("catalogue");
        assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(write::unlock);
        assertThat(client.isHeld("catalogue")).isTrue();
        lock.readLock().unlock();
        assertThat(client.isHeld("catalogue")).isFalse();
    }
}
