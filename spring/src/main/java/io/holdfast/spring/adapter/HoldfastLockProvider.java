package io.holdfast.spring.adapter;

import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import io.holdfast.ReleaseResult;
import java.time.Duration;
import java.util.Optional;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;

/**
 * Lets ShedLock keep its locks in a Holdfast store: {@code @SchedulerLock} stays as it is.
 *
 * <p>The lock of a dead process is free after the ttl of the client's default options, however long {@code lockAtMostFor} is; a job
 * that runs longer than {@code lockAtMostFor} loses it, as with ShedLock. Extending a lock is not supported and not needed: it is
 * renewed until then. Thread-safe.
 */
public final class HoldfastLockProvider implements LockProvider {

    private final Holdfast holdfast;

    public HoldfastLockProvider(Holdfast holdfast) {
        this.holdfast = holdfast;
    }

    @Override
    public Optional<SimpleLock> lock(LockConfiguration configuration) {
        LockOptions options = holdfast.lock(configuration.getName()).options();
        Duration most = configuration.getLockAtMostFor();
        if (most.compareTo(options.ttl()) < 0) {
            options = options.withTtl(most);
        }
        options = options.withMaxHold(most);
        if (!configuration.getLockAtLeastFor().isZero()) {
            options = options.withMinHold(configuration.getLockAtLeastFor());
        }
        return holdfast.lock(configuration.getName(), options).tryAcquire().map(HeldLock::new);
    }

    private record HeldLock(Lease lease) implements SimpleLock {
        @Override
        public void unlock() {
            if (lease.release() == ReleaseResult.ALREADY_LOST) {
                lease.requireValid();
            }
        }
    }
}
