package io.holdfast.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.testkit.engine.EventConditions.event;
import static org.junit.platform.testkit.engine.EventConditions.finishedWithFailure;
import static org.junit.platform.testkit.engine.EventConditions.test;
import static org.junit.platform.testkit.engine.TestExecutionResultConditions.instanceOf;
import static org.junit.platform.testkit.engine.TestExecutionResultConditions.message;

import io.holdfast.Holdfast;
import io.holdfast.Lease;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;

@DisplayName("the JUnit extension")
@ExtendWith(HoldfastExtension.class)
class HoldfastExtensionTest {

    private TestLocks before;

    @BeforeEach
    void getsThemToo(TestLocks locks) {
        before = locks;
    }

    @Test
    void givesATestOneStoreWhereverItAsksForIt(TestLocks locks, Holdfast holdfast) {
        assertThat(locks).isSameAs(before);
        assertThat(holdfast).isSameAs(locks.holdfast());
    }

    @Test
    void failsATestThatLeavesALeaseOpen() {
        Events tests = run(LeavesALeaseOpen.class);

        tests.assertThatEvents()
                .haveExactly(
                        1,
                        event(
                                test("closesNothing"),
                                finishedWithFailure(
                                        instanceOf(AssertionError.class),
                                        message(text -> text.contains("'forgotten'")))));
        tests.assertStatistics(all -> all.failed(1).succeeded(1));
    }

    @Test
    void doesNotHideTheFailureOfATest() {
        run(Fails.class)
                .assertThatEvents()
                .haveExactly(1, event(finishedWithFailure(message("the test's own failure"))));
    }

    private static Events run(Class<?> tests) {
        return EngineTestKit.engine("junit-jupiter")
                .selectors(selectClass(tests))
                .execute()
                .testEvents();
    }

    @ExtendWith(HoldfastExtension.class)
    static class LeavesALeaseOpen {

        @Test
        void closesNothing(Holdfast holdfast) {
            holdfast.lock("forgotten").tryAcquire().orElseThrow();
        }

        @Test
        void closesAll(Holdfast holdfast) {
            try (Lease lease = holdfast.lock("forgotten").tryAcquire().orElseThrow()) {
                assertThat(lease.isValid()).isTrue();
            }
        }
    }

    @ExtendWith(HoldfastExtension.class)
    static class Fails {

        @Test
        void byItself(Holdfast holdfast) {
            holdfast.lock("forgotten").tryAcquire().orElseThrow();
            throw new IllegalStateException("the test's own failure");
        }
    }
}
