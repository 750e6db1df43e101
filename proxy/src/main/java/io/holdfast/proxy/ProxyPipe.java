package io.holdfast.proxy;

import io.holdfast.proxy.ProxyConditions.Flow;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.Deque;

/** One direction of a proxied connection: bytes that have been read and wait to be written, and how the stream ends. */
final class ProxyPipe {

    /** Beyond this the sender is made to wait, as by any slow receiver. */
    private static final int MOST_QUEUED_BYTES = 1 << 20;

    /** How the sender has ended its stream. */
    enum Ending {
        NOT_YET,
        /** It has closed: the receiver gets what is queued and then the end of the stream. */
        CLOSED,
        /** It is gone: the receiver gets a reset. */
        RESET
    }

    private record Chunk(ByteBuffer bytes, long dueNanos) {}

    private final Direction direction;
    private final Deque<Chunk> queue = new ArrayDeque<>();
    private int queuedBytes;
    private Ending ending = Ending.NOT_YET;
    private long endDueNanos;
    private boolean endDelivered;
    private boolean hasHole;
    private boolean receiverGone;

    ProxyPipe(Direction direction) {
        this.direction = direction;
    }

    boolean wantsBytes() {
        return ending == Ending.NOT_YET && queuedBytes < MOST_QUEUED_BYTES;
    }

    void add(ByteBuffer bytes, long dueNanos) {
        queue.add(new Chunk(bytes, dueNanos));
        queuedBytes += bytes.remaining();
    }

    void end(Ending how, long dueNanos) {
        if (ending != Ending.RESET) {
            ending = how;
            endDueNanos = dueNanos;
        }
    }

    /** Nobody reads the other end any more: what comes is thrown away. */
    void receiverGone() {
        receiverGone = true;
    }

    /** Whether bytes have been lost, so that going on would give the receiver a stream with a hole in it. */
    boolean hasHole() {
        return hasHole;
    }

    boolean isDone() {
        return endDelivered || receiverGone;
    }

    boolean hasDueBytes(ProxyConditions conditions, long nowNanos) {
        Chunk head = queue.peek();
        return head != null && conditions.flow(direction) == Flow.PASS && head.dueNanos - nowNanos <= 0;
    }

    /** Whether the receiver is to be reset now. */
    boolean resetIsDue(ProxyConditions conditions, long nowNanos) {
        return ending == Ending.RESET && isOver(conditions, nowNanos);
    }

    /**
     * Nanoseconds until something falls due, {@link Long#MAX_VALUE} if nothing will; what is due already waits for the receiver
     * to take it, and the selector tells when.
     */
    long nanosToNextDue(ProxyConditions conditions, long nowNanos) {
        Chunk head = queue.peek();
        if (conditions.flow(direction) != Flow.PASS || (head == null && ending == Ending.NOT_YET)) {
            return Long.MAX_VALUE;
        }
        long nanos = (head == null ? endDueNanos : head.dueNanos) - nowNanos;
        return nanos > 0 ? nanos : Long.MAX_VALUE;
    }

    /** Writes what is due as far as the receiver takes it. */
    void pump(SocketChannel receiver, ProxyConditions conditions, long nowNanos) throws IOException {
        if (receiverGone || conditions.flow(direction) == Flow.SWALLOW) {
            hasHole |= !queue.isEmpty();
            queue.clear();
            queuedBytes = 0;
            return;
        }
        while (hasDueBytes(conditions, nowNanos)) {
            ByteBuffer bytes = queue.element().bytes;
            queuedBytes -= receiver.write(bytes);
            if (bytes.hasRemaining()) {
                return;
            }
            queue.remove();
        }
        if (ending == Ending.CLOSED && !endDelivered && isOver(conditions, nowNanos)) {
            receiver.shutdownOutput();
            endDelivered = true;
        }
    }

    private boolean isOver(ProxyConditions conditions, long nowNanos) {
        return queue.isEmpty() && conditions.flow(direction) == Flow.PASS && endDueNanos - nowNanos <= 0;
    }
}
