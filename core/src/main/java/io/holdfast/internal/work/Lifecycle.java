package io.holdfast.internal.work;

import io.holdfast.ClientClosedException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/** Whether a client is open, and how much is under way that its closing has to wait for. Thread-safe. */
public final class Lifecycle {

    private enum Stage {
        OPEN,
        CLOSING,
        CLOSED
    }

    private final String clientName;
    private final AtomicReference<Stage> stage = new AtomicReference<>(Stage.OPEN);
    private final AtomicInteger underWay = new AtomicInteger();

    public Lifecycle(String clientName) {
        this.clientName = clientName;
    }

    /** From now on nothing new is begun. True for the one caller who closes the client. */
    public boolean beginClosing() {
        return stage.compareAndSet(Stage.OPEN, Stage.CLOSING);
    }

    /** From now on callbacks do not run on the client's threads: see {@link Callbacks}. */
    public void finishClosing() {
        stage.set(Stage.CLOSED);
    }

    public boolean isOpen() {
        return stage.get() == Stage.OPEN;
    }

    boolean isClosed() {
        return stage.get() == Stage.CLOSED;
    }

    public void requireOpen(String lockName) {
        if (!isOpen()) {
            throw closed(lockName);
        }
    }

    public ClientClosedException closed(String lockName) {
        return new ClientClosedException(lockName, clientName);
    }

    /** Around whatever may end in a grant: closing waits for it, and so no grant slips past it. */
    public void begin() {
        underWay.incrementAndGet();
    }

    public void finish() {
        underWay.decrementAndGet();
    }

    public boolean isIdle() {
        return underWay.get() == 0;
    }
}
