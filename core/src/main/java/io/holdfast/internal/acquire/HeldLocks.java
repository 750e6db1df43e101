package io.holdfast.internal.acquire;

import io.holdfast.Demand;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/*
 * Every acquisition of a free lock adds itself here and removes itself again, so that must cost next to nothing: one
 * compare-and-set each, no allocation, no map.
 *
 * The table has a fixed number of slots; a unit of work (a thread, or a note) always falls into the same one. A slot is a stack
 * linked through the stays themselves. They are added on top only. One that ends is marked, and taken off if it is on top;
 * one further down stays until it comes up or the next look at the slot unlinks it. That needs no lock: whatever two threads
 * unlink at a time, only marked ones can come back or be skipped, since nobody is ever added between two others. Nor can one
 * come twice, as each is used once.
 *
 * A look at a slot is bounded, so with very many held locks not all of a unit may be found. It is for people and for suspecting
 * deadlocks; nothing else depends on it. For the same reason the marks are plain fields: the slot's compare-and-sets publish a
 * stay before anybody can find it, and who sees a mark late names a lock that was released a moment ago.
 */

/** Which locks each unit of work of this client holds. Thread-safe. */
final class HeldLocks {

    private static final int SLOT_BITS = 10;

    /** A slot that has more is not looked through to its end. */
    private static final int MOST_LOOKED_AT = 256;

    /** About what an origin has room for. */
    private static final int MOST_CHARS = 256;

    /** A unit that holds more does not pay for it with every further acquisition. */
    private static final int MOST_NAMES = 16;

    private final AtomicReferenceArray<@Nullable GateStay> slots = new AtomicReferenceArray<>(1 << SLOT_BITS);

    /** To be called once per stay, when the lock is held. */
    void add(GateStay held) {
        Object unit = held.unit();
        if (unit == null) {
            return;
        }
        int slot = slot(unit);
        held.listed = true;
        GateStay top;
        do {
            top = slots.get(slot);
            held.below = top;
            if (top != null) {
                // Who locks the next before it unlocks the last, and never asks the store in between, would leave a
                // chain.
                top.below = firstListed(top.below);
            }
        } while (!slots.compareAndSet(slot, top, held));
    }

    private static @Nullable GateStay firstListed(@Nullable GateStay from) {
        GateStay at = from;
        while (at != null && !at.listed) {
            at = at.below;
        }
        return at;
    }

    /** May be called for one that was never added. */
    void remove(GateStay held) {
        if (!held.listed) {
            return;
        }
        held.listed = false;
        int slot = slot(held.unit());
        GateStay top = slots.get(slot);
        while (top != null && !top.listed) {
            slots.compareAndSet(slot, top, top.below);
            top = slots.get(slot);
        }
    }

    /** The names of what the unit holds, newest first; not all if they are long or very many. */
    List<String> namesOf(@Nullable Object unit) {
        if (unit == null || slots.get(slot(unit)) == null) {
            return List.of();
        }
        List<String> names = new ArrayList<>();
        int[] charsLeft = {MOST_CHARS};
        walk(unit, held -> {
            String name = held.lockName();
            if (name.length() <= charsLeft[0]) {
                names.add(name);
                charsLeft[0] -= name.length();
            }
            return names.size() < MOST_NAMES;
        });
        return names;
    }

    /** Whether the unit waits for itself if it waits for that lock. One who holds permits may well wait for more. */
    boolean waitsForItself(@Nullable Object unit, String name) {
        boolean[] found = new boolean[1];
        if (unit != null) {
            walk(unit, held -> {
                found[0] = !(held.demand instanceof Demand.Permits)
                        && held.lockName().equals(name);
                return !found[0];
            });
        }
        return found[0];
    }

    /** Newest first, as long as {@code goOn} says so. */
    private void walk(Object unit, Predicate<GateStay> goOn) {
        GateStay above = null;
        GateStay at = slots.get(slot(unit));
        for (int i = 0; at != null && i < MOST_LOOKED_AT; i++) {
            if (at.listed) {
                if (unit.equals(at.unit()) && !goOn.test(at)) {
                    return;
                }
                above = at;
            } else if (above != null) {
                above.below = at.below;
            }
            at = at.below;
        }
    }

    private static int slot(Object unit) {
        return unit.hashCode() * 0x9E3779B9 >>> Integer.SIZE - SLOT_BITS;
    }
}
