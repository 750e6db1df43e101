package io.holdfast.file;

import io.holdfast.LockView;
import io.holdfast.file.Entry.State;
import io.holdfast.spi.Admission;
import io.holdfast.spi.OwnerId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Predicate;

/**
 * The state of one lock: its last token and, in order of arrival, who holds it and who waits.
 *
 * <p>Holders come before waiters, for nobody is let in ahead of somebody who waits. Changes are in memory until the
 * {@link LockFile} writes them; not thread-safe.
 */
final class Table {

    private final long generation;
    private final List<Entry> entries;
    private long lastToken;
    private boolean changed;

    Table(long generation, long lastToken, List<Entry> entries) {
        this.generation = generation;
        this.lastToken = lastToken;
        this.entries = new ArrayList<>(entries);
    }

    /** Grows by one with each change written. */
    long generation() {
        return generation;
    }

    long lastToken() {
        return lastToken;
    }

    List<Entry> entries() {
        return Collections.unmodifiableList(entries);
    }

    boolean isChanged() {
        return changed;
    }

    Table copy() {
        return new Table(generation, lastToken, entries);
    }

    /** The same as it stands in the file after it was written. */
    Table written() {
        return new Table(generation + 1, lastToken, entries);
    }

    OptionalInt find(OwnerId owner) {
        for (int i = 0; i < entries.size(); i++) {
            if (entries.get(i).isOf(owner) && entries.get(i).needsLife()) {
                return OptionalInt.of(i);
            }
        }
        return OptionalInt.empty();
    }

    Entry get(int index) {
        return entries.get(index);
    }

    void append(Entry entry) {
        entries.add(entry);
        changed = true;
    }

    void replace(int index, Entry entry) {
        changed |= entries.set(index, entry) != entry;
    }

    void remove(int index) {
        entries.remove(index);
        changed = true;
    }

    boolean removeIf(Predicate<Entry> which) {
        boolean removed = entries.removeIf(which);
        changed |= removed;
        return removed;
    }

    void raise(long floor) {
        if (floor > lastToken) {
            lastToken = floor;
            changed = true;
        }
    }

    void expire(long nowNanos) {
        removeIf(entry -> entry.isExpired(nowNanos));
        for (int i = 0; i < entries.size(); i++) {
            Entry entry = entries.get(i);
            // Nothing is extended from a time to come: the clock began anew, on a system that does not tell its boots.
            if (entry.expiresNanos() - nowNanos > entry.ttlNanos()) {
                replace(i, entry.startedAt(nowNanos, entry.ttlNanos()));
            }
        }
    }

    /** Takes the place and is let in, or leaves no trace; returns whether it was. */
    boolean tryAppend(Entry entry, Predicate<Entry> isDead) {
        boolean before = changed;
        entries.add(entry);
        changed = false;
        letIn(isDead);
        int last = entries.size() - 1;
        if (entries.get(last).isHeldBy(entry.owner())) {
            return true;
        }
        entries.remove(last);
        changed |= before;
        return false;
    }

    /**
     * Lets in the entries that are next in the queue. Only those are asked for a proof of life on whom something depends: the holders
     * if somebody has to wait for them, and who is about to be let in.
     */
    void letIn(Predicate<Entry> isDead) {
        while (!walk(isDead)) {
            // A dead entry was dropped: who is next must be decided anew.
        }
    }

    private boolean walk(Predicate<Entry> isDead) {
        Admission line = new Admission();
        for (int i = 0; i < entries.size(); i++) {
            Entry entry = entries.get(i);
            if (!line.admit(entry.demand())) {
                return !removeIf(holder -> holder.state() == State.HELD && isDead.test(holder));
            }
            if (entry.state() == State.WAITING) {
                if (isDead.test(entry)) {
                    remove(i);
                    return false;
                }
                replace(i, entry.granted(nextToken()));
            }
        }
        return true;
    }

    LockView view(String lock, long nowNanos) {
        List<LockView.Holder> holders = new ArrayList<>();
        List<LockView.Waiter> waiters = new ArrayList<>();
        for (Entry entry : entries) {
            Optional<LockView.Origin> origin = Optional.of(entry.origin());
            Optional<Instant> since = Optional.of(Instant.ofEpochMilli(entry.sinceMillis()));
            if (entry.state() == State.WAITING) {
                waiters.add(new LockView.Waiter(origin, entry.demand(), since));
            } else {
                Optional<Duration> left = Optional.of(Duration.ofNanos(entry.expiresNanos() - nowNanos));
                LockView.Holder holder =
                        new LockView.Holder(origin, entry.demand(), Optional.of(entry.token()), since, left);
                holders.add(entry.state() == Entry.State.LINGERING ? holder.lingering() : holder);
            }
        }
        return new LockView(lock, holders, waiters);
    }

    /** The clock carries the tokens over a pruned file; its jumps back do not matter, for the last one is kept. */
    private long nextToken() {
        lastToken = Math.max(lastToken + 1, clockMicros());
        return lastToken;
    }

    static long clockMicros() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1_000_000 + now.getNano() / 1_000;
    }
}
