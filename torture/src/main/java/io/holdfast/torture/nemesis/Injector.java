package io.holdfast.torture.nemesis;

import java.util.Optional;

/** Does faults to something. Thread-safe. */
@FunctionalInterface
public interface Injector {

    /** Begins a fault; empty if there is nothing to do it to at the moment, say nobody who waits. */
    Optional<Healing> begin(PlannedFault fault) throws Exception;
}
