package io.holdfast.spring.boot;

import io.holdfast.Holdfast;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.scheduling.concurrent.ExecutorConfigurationSupport;

/**
 * Closes the clients when the application stops: after the web server and the executors have finished their work, which may need
 * locks, and before connection pools are destroyed, which releasing them may need.
 */
final class ClientShutdown implements SmartLifecycle {

    /** Executors and schedulers of Spring stop in half of the default phase, the web server before them. */
    static final int PHASE = SmartLifecycle.DEFAULT_PHASE / 2 - 1024;

    private final ObjectProvider<Holdfast> clients;
    private final ObjectProvider<ExecutorConfigurationSupport> pools;
    private final ObjectProvider<SimpleAsyncTaskExecutor> executors;
    private volatile boolean running;

    ClientShutdown(
            ObjectProvider<Holdfast> clients,
            ObjectProvider<ExecutorConfigurationSupport> pools,
            ObjectProvider<SimpleAsyncTaskExecutor> executors) {
        this.clients = clients;
        this.pools = pools;
        this.executors = executors;
    }

    @Override
    public void start() {
        running = true;
    }

    @Override
    public void stop() {
        running = false;
        // Those that are told to wait for their tasks do so only when they are destroyed, which would be too late.
        pools.stream().forEach(ExecutorConfigurationSupport::shutdown);
        executors.stream().forEach(SimpleAsyncTaskExecutor::close);
        clients.stream().forEach(Holdfast::close);
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }

    /** A closed client cannot be opened again: contexts that tests pause keep theirs. */
    @Override
    public boolean isPauseable() {
        return false;
    }
}
