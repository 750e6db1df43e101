package io.holdfast.internal.acquire;

import io.holdfast.Demand;
import io.holdfast.spi.Admission;
import io.holdfast.spi.TimeSource;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/*
 * The queue inside one client in front of one lock.
 *
 * Threads of one client need not meet in the store: an entry inside the gate may send requests, all others wait in this
 * process. The gate applies the stores' own rule (Admission), so one writer, or any number of readers, or as many permit
 * takers as fit, are inside at a time. An entry is inside from before its first request until its lease has ended.
 *
 * Three phases. FREE: no entry inside or waiting. TAKEN: one exclusive entry inside, none waiting; entering and leaving
 * are one CAS each. LISTED: everything else, kept in fields guarded by the mutex, until all is empty again. FREE and
 * TAKEN change by CAS; LISTED is entered and left only under the mutex.
 *
 * Two modes, while LISTED. NORMAL: whoever leaves calls the head of the queue, but does not reserve the gate for it: a
 * running thread that comes along may walk in first, which saves a context switch per handover. The head, once awake,
 * tries (proceed), and if it has waited over a millisecond in vain, the mode turns to STARVING: then the one who leaves
 * admits the head directly and newcomers join the tail, until the queue is empty or a wait was short again. A queue whose
 * head is not exclusive is always served directly, since several may enter at once.
 *
 * The warm value. An entry that leaves may leave a value for the next (handOver): the engine passes on a store grant
 * that is still held. It belongs to the entry that enters next, waiter or newcomer, fitting or not, which must use or dispose
 * of it. It must never be stranded:
 *  - handOver leaves it only while an entry waits;
 *  - admit() gives it to the first who enters;
 *  - if the last waiter withdraws instead of entering, withdraw() gives it to that one.
 *
 * A head that was called and withdraws passes the call on, since letIn() runs again without it; a head that was called
 * and finds the gate taken clears the call, so the next one who leaves calls again. The call itself is sticky (unpark
 * leaves a permit, an executor a task), so it may come before the waiter parks.
 */
final class Gate<W> {

    private enum Phase {
        FREE,
        TAKEN,
        LISTED
    }

    private enum Mode {
        NORMAL,
        STARVING
    }

    enum Position {
        OUTSIDE,
        WAITING,
        INSIDE
    }

    /** After this wait in vain the gate serves strictly in order. */
    private static final long STARVING_AFTER_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /** Looks at a taken gate before queueing: about a microsecond, less than parking costs; pointless on one core. */
    private static final int SPINS = Runtime.getRuntime().availableProcessors() > 1 ? 30 : 0;

    private static final VarHandle PHASE;

    static {
        try {
            PHASE = MethodHandles.lookup().findVarHandle(Gate.class, "phase", Phase.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final TimeSource time;
    private final int spins;
    private volatile Phase phase = Phase.FREE;

    private final ReentrantLock mutex = new ReentrantLock();
    // All below guarded by mutex.
    private Mode mode = Mode.NORMAL;
    private boolean exclusiveInside;
    private final EntryList<W> inside =
            new EntryList<>(); // shared and permit entries; an exclusive one is only flagged
    private final EntryList<W> waiting = new EntryList<>();
    private boolean headCalled;
    private @Nullable W warm;

    Gate(TimeSource time) {
        this(time, SPINS);
    }

    Gate(TimeSource time, int spins) {
        this.time = time;
        this.spins = spins;
    }

    /**
     * Enters, or joins the queue and is called later: then {@link #proceed} or {@link #withdraw}.
     *
     * @param sinceNanos when its wait began
     */
    boolean enter(Entry<W> entry, long sinceNanos) {
        if (spinIn(entry)) {
            return true;
        }
        mutex.lock();
        try {
            list();
            if (mayWalkIn(entry)) {
                admit(entry);
                return true;
            }
            entry.sinceNanos = sinceNanos;
            entry.position = Position.WAITING;
            waiting.append(entry);
            return false;
        } finally {
            mutex.unlock();
        }
    }

    /** Enters if that is possible now. */
    boolean tryEnter(Entry<W> entry) {
        if (takeFree(entry)) {
            return true;
        }
        if (phase == Phase.TAKEN) {
            return false;
        }
        mutex.lock();
        try {
            list();
            boolean entered = mayWalkIn(entry);
            if (entered) {
                admit(entry);
            }
            return entered;
        } finally {
            mutex.unlock();
        }
    }

    /** To be asked by a waiting entry whenever it wakes: whether it is inside now. */
    boolean proceed(Entry<W> entry) {
        mutex.lock();
        try {
            if (entry.position == Position.INSIDE) {
                return true;
            }
            if (waiting.head != entry) {
                return false;
            }
            headCalled = false;
            if (isIdle()) {
                waiting.remove(entry);
                admit(entry);
                calmDown(entry);
                return true;
            }
            if (time.nanoTime() - entry.sinceNanos > STARVING_AFTER_NANOS) {
                mode = Mode.STARVING;
            }
            return false;
        } finally {
            mutex.unlock();
        }
    }

    /**
     * Leaves the queue, if it is in it. False if the entry is inside by now: then it must {@link #leave}. Either way it may
     * have inherited a warm value.
     */
    boolean withdraw(Entry<W> entry) {
        if (entry.position == Position.OUTSIDE) {
            return true;
        }
        List<Entry<W>> called;
        mutex.lock();
        try {
            if (entry.position == Position.INSIDE) {
                return false;
            }
            if (waiting.head == entry) {
                headCalled = false;
            }
            waiting.remove(entry);
            entry.position = Position.OUTSIDE;
            if (waiting.isEmpty() && warm != null) {
                entry.inherited = warm;
                warm = null;
            }
            called = letIn();
        } finally {
            mutex.unlock();
        }
        wake(called);
        return true;
    }

    /** Leaves from inside and lets the next in. Does nothing for an entry that is not inside. */
    void leave(Entry<W> entry) {
        if (entry.position != Position.INSIDE) {
            return;
        }
        entry.position = Position.OUTSIDE;
        if (isExclusive(entry) && PHASE.compareAndSet(this, Phase.TAKEN, Phase.FREE)) {
            return;
        }
        List<Entry<W>> called;
        mutex.lock();
        try {
            stepOut(entry);
            called = letIn();
        } finally {
            mutex.unlock();
        }
        wake(called);
    }

    /**
     * Leaves from inside and leaves {@code value} to the next one in, if the head of the queue would take it. False if
     * not: the entry is still inside.
     */
    boolean handOver(Entry<W> entry, W value) {
        if (phase == Phase.TAKEN || entry.position != Position.INSIDE) {
            return false;
        }
        List<Entry<W>> called;
        mutex.lock();
        try {
            Entry<W> head = waiting.head;
            if (head == null || !head.accepts(value)) {
                return false;
            }
            stepOut(entry);
            entry.letGo(value);
            warm = value;
            called = letIn();
        } finally {
            mutex.unlock();
        }
        wake(called);
        return true;
    }

    /** Lets a shared entry stand in for an exclusive one that is inside, and admits the readers behind it. */
    void downgrade(Entry<W> exclusive, Entry<W> shared) {
        List<Entry<W>> called;
        mutex.lock();
        try {
            stepOut(exclusive);
            admit(shared);
            called = letIn();
        } finally {
            mutex.unlock();
        }
        wake(called);
    }

    /** Whether no entry is inside or waiting. */
    boolean isUnused() {
        return phase == Phase.FREE;
    }

    private boolean takeFree(Entry<W> entry) {
        boolean taken = isExclusive(entry) && phase == Phase.FREE && PHASE.compareAndSet(this, Phase.FREE, Phase.TAKEN);
        if (taken) {
            entry.position = Position.INSIDE;
        }
        return taken;
    }

    private boolean spinIn(Entry<W> entry) {
        if (takeFree(entry)) {
            return true;
        }
        for (int i = 0; i < spins && phase == Phase.TAKEN; i++) {
            Thread.onSpinWait();
        }
        return takeFree(entry);
    }

    /** Makes the phase LISTED, so that the fields below say who is inside. */
    private void list() {
        while (phase != Phase.LISTED) {
            if (PHASE.compareAndSet(this, Phase.FREE, Phase.LISTED)) {
                exclusiveInside = false;
            } else if (PHASE.compareAndSet(this, Phase.TAKEN, Phase.LISTED)) {
                exclusiveInside = true;
            }
        }
    }

    private boolean mayWalkIn(Entry<W> entry) {
        if (isIdle()) {
            return waiting.isEmpty() || mode == Mode.NORMAL;
        }
        return waiting.isEmpty() && !exclusiveInside && walkInside().admit(entry.demand);
    }

    private void admit(Entry<W> entry) {
        entry.position = Position.INSIDE;
        entry.inherited = warm;
        warm = null;
        if (isExclusive(entry)) {
            exclusiveInside = true;
        } else {
            inside.append(entry);
        }
    }

    private void stepOut(Entry<W> entry) {
        list();
        if (isExclusive(entry)) {
            exclusiveInside = false;
        } else {
            inside.remove(entry);
        }
        entry.position = Position.OUTSIDE;
    }

    /** Serves the queue after an entry left. Returns the entries to wake once the mutex is free. */
    private List<Entry<W>> letIn() {
        Entry<W> head = waiting.head;
        if (head == null) {
            if (isIdle()) {
                mode = Mode.NORMAL;
                phase = Phase.FREE;
            }
            return List.of();
        }
        if (exclusiveInside) {
            return List.of();
        }
        if (mode == Mode.NORMAL && isExclusive(head)) {
            if (headCalled || !isIdle()) {
                return List.of();
            }
            headCalled = true;
            return List.of(head);
        }
        List<Entry<W>> admitted = new ArrayList<>();
        Admission admission = walkInside();
        while (head != null && admission.admit(head.demand)) {
            waiting.remove(head);
            headCalled = false;
            admit(head);
            calmDown(head);
            admitted.add(head);
            head = waiting.head;
        }
        return admitted;
    }

    private void calmDown(Entry<W> admitted) {
        if (mode == Mode.NORMAL) {
            return;
        }
        if (waiting.isEmpty() || time.nanoTime() - admitted.sinceNanos < STARVING_AFTER_NANOS) {
            mode = Mode.NORMAL;
        }
    }

    /** Readers are all alike, so one of them stands for all: a crowd inside does not make entering slower. */
    private Admission walkInside() {
        Admission admission = new Admission();
        if (inside.head != null && inside.head.demand instanceof Demand.Shared) {
            admission.admit(inside.head.demand);
            return admission;
        }
        for (Entry<W> entry = inside.head; entry != null; entry = entry.next) {
            admission.admit(entry.demand);
        }
        return admission;
    }

    private boolean isIdle() {
        return !exclusiveInside && inside.isEmpty();
    }

    private static boolean isExclusive(Entry<?> entry) {
        return entry.demand instanceof Demand.Exclusive;
    }

    private static <W> void wake(List<Entry<W>> called) {
        for (Entry<W> entry : called) {
            entry.wake();
        }
    }

    /** An acquisition at the gate. Used for one stay. */
    abstract static class Entry<W> {

        final Demand demand;
        // Its own thread takes it in and out while the gate is not LISTED; else it is changed with the gate's mutex.
        private volatile Position position = Position.OUTSIDE;
        // Guarded by the gate's mutex; "inherited" is the entry's own once it is inside or has withdrawn.
        private long sinceNanos;
        private @Nullable Entry<W> previous;
        private @Nullable Entry<W> next;
        private @Nullable W inherited;

        Entry(Demand demand) {
            this.demand = demand;
        }

        Position position() {
            return position;
        }

        /** Makes the waiter call {@link Gate#proceed}. Returns at once. */
        abstract void wake();

        /** The value is another's from now on. Called inside the gate's mutex: returns at once. */
        abstract void letGo(W handedOver);

        /** Whether this waiter could use a warm value. */
        abstract boolean accepts(W warm);

        /** What was left behind for this entry; asked once it is inside or has withdrawn. */
        @Nullable
        W takeInherited() {
            W taken = inherited;
            inherited = null;
            return taken;
        }
    }

    /** A linked list through its entries: removal from the middle costs nothing. */
    private static final class EntryList<W> {

        private @Nullable Entry<W> head;
        private @Nullable Entry<W> tail;

        boolean isEmpty() {
            return head == null;
        }

        void append(Entry<W> entry) {
            entry.previous = tail;
            if (tail == null) {
                head = entry;
            } else {
                tail.next = entry;
            }
            tail = entry;
        }

        void remove(Entry<W> entry) {
            Entry<W> before = entry.previous;
            Entry<W> after = entry.next;
            if (before == null) {
                head = after;
            } else {
                before.next = after;
            }
            if (after == null) {
                tail = before;
            } else {
                after.previous = before;
            }
            entry.previous = null;
            entry.next = null;
        }
    }
}
