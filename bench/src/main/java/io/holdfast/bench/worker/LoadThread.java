package io.holdfast.bench.worker;

import io.holdfast.bench.Contender;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.zip.DataFormatException;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** Takes and returns one lock until told to stop, and remembers how that went while it was measured. */
public final class LoadThread extends Thread {

    /** Where a run is. */
    enum Phase {
        WARMING,
        MEASURED,
        DRAINING
    }

    private static final int DIGITS = 3;
    /** Parking ends late by about this much; the rest of a critical section is spun. */
    private static final long PARKING_SLACK_NANOS = 120_000;

    private final Contender contender;
    private final String lockName;
    private final int lock;
    private final long id;
    private final long sectionNanos;
    private final ExclusionBoard board;
    private final Supplier<Phase> phase;

    /** From asking to having; its count is the number of acquisitions. */
    final Histogram acquires = new Histogram(DIGITS);
    /** From asking to having given back. */
    final Histogram cycles = new Histogram(DIGITS);

    private long again;
    private volatile long entries;
    private volatile long violations;
    /** 0 while it does not wait. */
    private volatile long waitingSinceNanos;

    private volatile boolean asked;
    private volatile @Nullable Throwable failure;

    LoadThread(
            Contender contender,
            String lockName,
            int lock,
            long id,
            Duration section,
            ExclusionBoard board,
            Supplier<Phase> phase) {
        super("bench-" + id);
        this.contender = contender;
        this.lockName = lockName;
        this.lock = lock;
        this.id = id;
        this.sectionNanos = section.toNanos();
        this.board = board;
        this.phase = phase;
        setDaemon(true);
    }

    @Override
    public void run() {
        try {
            Contender.Mutex mutex = contender.mutex(lockName);
            while (phase.get() != Phase.DRAINING) {
                cycle(mutex);
            }
            mutex.close();
        } catch (Throwable e) {
            failure = e;
        } finally {
            asked = true;
        }
    }

    private void cycle(Contender.Mutex mutex) throws Exception {
        long startNanos = System.nanoTime();
        waitingSinceNanos = startNanos;
        asked = true;
        Contender.Held held = mutex.acquire();
        long grantedNanos = System.nanoTime();
        waitingSinceNanos = 0;
        boolean measured = phase.get() == Phase.MEASURED;
        ExclusionBoard.Found found = board.enter(lock, id);
        stay(grantedNanos);
        if (!board.leave(lock, id) || found == ExclusionBoard.Found.OCCUPIED) {
            violations++;
        }
        held.release();
        entries++;
        if (measured) {
            acquires.recordValue(grantedNanos - startNanos);
            cycles.recordValue(System.nanoTime() - startNanos);
            if (found == ExclusionBoard.Found.AGAIN) {
                again++;
            }
        }
    }

    private void stay(long grantedNanos) {
        if (sectionNanos == 0) {
            return;
        }
        long leftNanos = sectionNanos;
        while (leftNanos > 0 && phase.get() != Phase.DRAINING) {
            if (leftNanos > PARKING_SLACK_NANOS) {
                LockSupport.parkNanos(leftNanos - PARKING_SLACK_NANOS);
            } else {
                Thread.onSpinWait();
            }
            leftNanos = sectionNanos - (System.nanoTime() - grantedNanos);
        }
    }

    /** Whether it has begun to ask for its lock. */
    boolean hasAsked() {
        return asked;
    }

    long entries() {
        return entries;
    }

    long again() {
        return again;
    }

    long violations() {
        return violations;
    }

    /** How long the wait that is not over yet lasts. */
    long openWaitNanos(long nowNanos) {
        long since = waitingSinceNanos;
        return since == 0 ? 0 : Math.max(0, nowNanos - since);
    }

    @Nullable
    Throwable failure() {
        return failure;
    }

    static String encode(Histogram histogram) {
        ByteBuffer buffer = ByteBuffer.allocate(histogram.getNeededByteBufferCapacity());
        int length = histogram.encodeIntoCompressedByteBuffer(buffer);
        return Base64.getEncoder().encodeToString(Arrays.copyOf(buffer.array(), length));
    }

    public static Histogram decode(String text) {
        try {
            return Histogram.decodeFromCompressedByteBuffer(
                    ByteBuffer.wrap(Base64.getDecoder().decode(text)), 0);
        } catch (DataFormatException e) {
            throw new IllegalArgumentException("not a histogram", e);
        }
    }
}
