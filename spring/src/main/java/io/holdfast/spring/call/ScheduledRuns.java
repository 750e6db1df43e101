package io.holdfast.spring.call;

import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.context.SmartLifecycle;

/** Whether scheduled methods may begin: not once the application has begun to stop. Stops before everything else. Thread-safe. */
public final class ScheduledRuns implements SmartLifecycle, AopInfrastructureBean {

    private volatile boolean allowed = true;
    private volatile boolean running;

    boolean mayBegin() {
        return allowed;
    }

    @Override
    public void start() {
        running = true;
        allowed = true;
    }

    @Override
    public void stop() {
        running = false;
        allowed = false;
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public int getPhase() {
        return Integer.MAX_VALUE;
    }
}
