package io.holdfast.spring.boot;

import io.holdfast.Election;
import io.holdfast.Holdfast;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.scheduling.concurrent.ExecutorConfigurationSupport;

/**
 * What is done when the application stops, step by step: after the web server and the executors, whose work may need locks, and before
 * connection pools are destroyed, which releasing locks may need.
 */
final class ShutdownStep implements SmartLifecycle {

    /** Executors and schedulers of Spring stop in half of the default phase, the web server before them. */
    private static final int AFTER_EXECUTORS = SmartLifecycle.DEFAULT_PHASE / 2 - 1024;

    private final int phase;
    private final Runnable work;
    private volatile boolean running;

    private ShutdownStep(int number, Runnable work) {
        this.phase = AFTER_EXECUTORS - number;
        this.work = work;
    }

    /** Those that are told to wait for their tasks do so only when they are destroyed, which would be too late. */
    static ShutdownStep drain(
            ObjectProvider<ExecutorConfigurationSupport> pools, ObjectProvider<SimpleAsyncTaskExecutor> executors) {
        return new ShutdownStep(0, () -> {
            pools.stream().forEach(ExecutorConfigurationSupport::shutdown);
            executors.stream().forEach(SimpleAsyncTaskExecutor::close);
        });
    }

    /** Before other leases are released, so that what leaders guard is theirs until then. Other elections end with their client. */
    static ShutdownStep resign(ObjectProvider<Election> elections) {
        return new ShutdownStep(1, () -> elections.stream().forEach(Election::close));
    }

    static ShutdownStep close(ObjectProvider<Holdfast> clients) {
        return new ShutdownStep(2, () -> clients.stream().forEach(Holdfast::close));
    }

    @Override
    public void start() {
        running = true;
    }

    @Override
    public void stop() {
        running = false;
        work.run();
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public int getPhase() {
        return phase;
    }

    /** What is closed cannot be opened again: contexts that tests pause keep theirs. */
    @Override
    public boolean isPauseable() {
        return false;
    }
}
