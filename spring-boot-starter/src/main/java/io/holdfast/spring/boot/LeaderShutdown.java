package io.holdfast.spring.boot;

import io.holdfast.Election;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.SmartLifecycle;

/**
 * Lets leaders resign when the application stops: after the web server and the executors have finished their work, which may be a
 * leader's, and before the other leases are released, so that the next leader is elected while this one holds what it guards. Knows
 * elections that are beans; others end with their client.
 */
final class LeaderShutdown implements SmartLifecycle {

    private static final int PHASE = ClientShutdown.PHASE + 1;

    private final ObjectProvider<Election> elections;
    private volatile boolean running;

    LeaderShutdown(ObjectProvider<Election> elections) {
        this.elections = elections;
    }

    @Override
    public void start() {
        running = true;
    }

    @Override
    public void stop() {
        running = false;
        elections.stream().forEach(Election::close);
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }

    /** A closed election cannot be opened again: contexts that tests pause keep theirs. */
    @Override
    public boolean isPauseable() {
        return false;
    }
}
