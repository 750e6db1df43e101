package io.holdfast.spring.boot.test;

import io.holdfast.testing.TestLocks;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.support.AbstractTestExecutionListener;

/** Fails a test that leaves a lease open. */
public final class OpenLeasesListener extends AbstractTestExecutionListener {

    @Override
    public void afterTestMethod(TestContext test) {
        if (!test.hasApplicationContext() || test.getTestException() != null) {
            return;
        }
        TestLocks locks =
                test.getApplicationContext().getBeanProvider(TestLocks.class).getIfAvailable();
        if (locks != null) {
            locks.requireAllReleased();
        }
    }
}
