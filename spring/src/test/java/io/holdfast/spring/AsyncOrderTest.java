package io.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Holdfast;
import io.holdfast.testing.TestLocks;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.MapPropertySource;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;

@DisplayName("@Locked and @Async")
class AsyncOrderTest {

    static class Work {
        private final CompletableFuture<String> ranUnder = new CompletableFuture<>();

        @Async
        @Locked("work")
        public void run() {
            ranUnder.complete(CurrentLease.require().name());
        }

        public CompletableFuture<String> ranUnder() {
            return ranUnder;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableHoldfast
    @EnableAsync(proxyTargetClass = true)
    static class Usual {}

    /** Adds its interceptor before others do. */
    @Configuration(proxyBeanMethods = false)
    @EnableHoldfast
    @EnableAsync(proxyTargetClass = true, order = 0)
    static class AsyncFirst {}

    @Test
    void theLockIsTakenByTheThreadThatRunsTheMethod() {
        assertTakenByTheOtherThread(Usual.class, Map.of());
    }

    @Test
    void theOrderOfTheLockCanBeSetWhereThatOfOthersWas() {
        assertTakenByTheOtherThread(AsyncFirst.class, Map.of("holdfast.locked.order", -1));
    }

    private static void assertTakenByTheOtherThread(Class<?> configuration, Map<String, Object> settings) {
        try (TestLocks locks = TestLocks.create();
                AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
            context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("test", settings));
            context.registerBean(Holdfast.class, locks::holdfast, definition -> definition.setDestroyMethodName(""));
            context.register(configuration, Work.class);
            context.refresh();
            Work work = context.getBean(Work.class);
            TestLocks.OtherHolder other = locks.takenByOther("work");

            assertThat(CompletableFuture.runAsync(work::run))
                    .as("returns though the lock is taken")
                    .succeedsWithin(Duration.ofSeconds(30));
            locks.awaitWaiting(1);
            assertThat(work.ranUnder()).isNotDone();
            other.release();

            assertThat(work.ranUnder()).succeedsWithin(Duration.ofSeconds(30)).isEqualTo("work");
        }
    }
}
