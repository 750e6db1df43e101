package io.holdfast.bench.worker;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/*
 * Memory that all workers share (a mapped file), touched only inside critical sections and never atomically: what a lock
 * is there to protect.
 *
 * Per lock: who is inside, how many have been, who was last. Two who are inside at once are seen in one of two ways: one
 * finds the other's number where nobody's or its own should be, or an increment is lost, so that in the end the count is
 * not the number of acquisitions. The second finds overlaps that are too short for the first.
 */
final class ExclusionBoard {

    private static final VarHandle WORDS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

    /** A lock's words are two cache lines apart from the next one's. */
    private static final int STRIDE = 128;

    private static final int INSIDE = 0;
    private static final int COUNT = 8;
    private static final int LAST = 16;
    private static final long NOBODY = 0;

    private final ByteBuffer memory;
    private final int locks;

    private ExclusionBoard(ByteBuffer memory, int locks) {
        this.memory = memory;
        this.locks = locks;
    }

    /** Makes a fresh one. */
    static ExclusionBoard create(Path file, int locks) {
        try {
            Files.write(file, new byte[locks * STRIDE]);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return open(file, locks);
    }

    static ExclusionBoard open(Path file, int locks) {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return new ExclusionBoard(channel.map(FileChannel.MapMode.READ_WRITE, 0, (long) locks * STRIDE), locks);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What a holder finds on entering. */
    enum Found {
        FINE,
        /** Fine, and the last one inside was the same thread. */
        AGAIN,
        OCCUPIED
    }

    /** @param me not 0 */
    Found enter(int lock, long me) {
        int base = lock * STRIDE;
        long inside = (long) WORDS.getVolatile(memory, base + INSIDE);
        WORDS.setVolatile(memory, base + INSIDE, me);
        long last = (long) WORDS.getVolatile(memory, base + LAST);
        WORDS.setVolatile(memory, base + LAST, me);
        WORDS.setVolatile(memory, base + COUNT, (long) WORDS.getVolatile(memory, base + COUNT) + 1);
        if (inside != NOBODY) {
            return Found.OCCUPIED;
        }
        return last == me ? Found.AGAIN : Found.FINE;
    }

    /** False if somebody else came inside meanwhile. */
    boolean leave(int lock, long me) {
        int base = lock * STRIDE;
        boolean alone = (long) WORDS.getVolatile(memory, base + INSIDE) == me;
        WORDS.setVolatile(memory, base + INSIDE, NOBODY);
        return alone;
    }

    /** How many have been inside, of all locks. */
    long entries() {
        long sum = 0;
        for (int lock = 0; lock < locks; lock++) {
            sum += (long) WORDS.getVolatile(memory, lock * STRIDE + COUNT);
        }
        return sum;
    }
}
