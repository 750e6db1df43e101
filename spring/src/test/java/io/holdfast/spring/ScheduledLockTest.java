package io.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Holdfast;
import io.holdfast.memory.MemoryStore;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreTraits;
import io.holdfast.testing.TestLocks;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.scheduling.annotation.Scheduled;

@DisplayName("@ScheduledLock")
class ScheduledLockTest {

    private final TestLocks locks = TestLocks.create();
    private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
    private Jobs jobs;

    /** Without scheduling: the test calls the methods when it wants. */
    @Configuration(proxyBeanMethods = false)
    @EnableHoldfast
    static class Locking {}

    static class Jobs {

        private final TestLocks locks;
        private final AtomicInteger runs = new AtomicInteger();

        Jobs(TestLocks locks) {
            this.locks = locks;
        }

        public int runs() {
            return runs.get();
        }

        @Scheduled(fixedRate = 10, timeUnit = TimeUnit.SECONDS)
        @ScheduledLock
        public void everyTenSeconds() {
            runs.incrementAndGet();
        }

        @Scheduled(cron = "0 0 3 * * *")
        @ScheduledLock(name = "nightly")
        public void nightly() {
            locks.advance(Duration.ofHours(1));
            assertThat(CurrentLease.require().name()).isEqualTo("nightly");
            runs.incrementAndGet();
        }

        @ScheduledLock(name = "at-once", minHold = "0")
        public void repeatedAtOnce() {
            runs.incrementAndGet();
        }
    }

    @BeforeEach
    void start() {
        context.registerBean(Holdfast.class, locks::holdfast, definition -> definition.setDestroyMethodName(""));
        context.registerBean(TestLocks.class, () -> locks, definition -> definition.setDestroyMethodName(""));
        context.register(Locking.class);
        context.registerBean(Jobs.class);
        context.refresh();
        jobs = context.getBean(Jobs.class);
    }

    @AfterEach
    void end() {
        context.close();
        locks.close();
    }

    @Test
    void aRunIsSkippedWhileAnotherInstanceHasTheLock() {
        TestLocks.OtherHolder other = locks.takenByOther("at-once");
        jobs.repeatedAtOnce();
        assertThat(jobs.runs()).isZero();

        other.release();
        jobs.repeatedAtOnce();
        jobs.repeatedAtOnce();
        assertThat(jobs.runs()).isEqualTo(2);
    }

    @Test
    void theLockIsNamedByClassAndMethodAndStaysTakenForHalfThePeriod() {
        jobs.everyTenSeconds();
        jobs.everyTenSeconds();

        assertThat(jobs.runs()).isEqualTo(1);
        assertThat(locks.holdfast()
                        .lock(Jobs.class.getName() + ".everyTenSeconds")
                        .inspect()
                        .isHeld())
                .isTrue();
        locks.advance(Duration.ofSeconds(6));
        jobs.everyTenSeconds();
        assertThat(jobs.runs()).isEqualTo(2);
    }

    @Test
    void theLockLivesAsLongAsTheJobAndThenForThirtySecondsAtMost() {
        jobs.nightly();
        jobs.nightly();

        assertThat(jobs.runs()).isEqualTo(2);
        assertThat(locks.holdfast().statistics().renewed()).isGreaterThan(500);
    }

    static class Lasting {
        @ScheduledLock(name = "lasting", minHold = "10s")
        public void work() {}
    }

    @Test
    void whereTheStoreCannotKeepAReleasedLockTakenAutoMeansNotAtAllAndATimeIsRefused() {
        try (Holdfast unlingering = unlingering();
                AnnotationConfigApplicationContext other = new AnnotationConfigApplicationContext()) {
            other.registerBean(Holdfast.class, () -> unlingering, definition -> definition.setDestroyMethodName(""));
            other.registerBean(TestLocks.class, () -> locks, definition -> definition.setDestroyMethodName(""));
            other.register(Locking.class, Jobs.class);
            other.refresh();
            Jobs job = other.getBean(Jobs.class);

            job.everyTenSeconds();
            job.everyTenSeconds();

            assertThat(job.runs()).isEqualTo(2);
        }
        try (Holdfast unlingering = unlingering();
                AnnotationConfigApplicationContext other = new AnnotationConfigApplicationContext()) {
            other.registerBean(Holdfast.class, () -> unlingering, definition -> definition.setDestroyMethodName(""));
            other.register(Locking.class, Lasting.class);

            assertThatThrownBy(other::refresh)
                    .isInstanceOf(LockMisuseException.class)
                    .hasMessageStartingWith("Lasting.work asks for a lock that memory cannot keep");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class MadeWhenFirstAskedFor {
        @Bean
        @Lazy
        Jobs jobs(TestLocks locks) {
            return new MoreJobs(locks);
        }
    }

    static class MoreJobs extends Jobs {
        MoreJobs(TestLocks locks) {
            super(locks);
        }
    }

    @Test
    void autoMeansNotAtAllThereAlsoIfTheClassOfTheBeanIsNotKnownAtStart() {
        try (Holdfast unlingering = unlingering();
                AnnotationConfigApplicationContext other = new AnnotationConfigApplicationContext()) {
            other.registerBean(Holdfast.class, () -> unlingering, definition -> definition.setDestroyMethodName(""));
            other.registerBean(TestLocks.class, () -> locks, definition -> definition.setDestroyMethodName(""));
            other.register(Locking.class, MadeWhenFirstAskedFor.class);
            other.refresh();
            Jobs job = other.getBean(Jobs.class);

            job.everyTenSeconds();
            job.everyTenSeconds();

            assertThat(job.runs()).isEqualTo(2);
        }
    }

    private static Holdfast unlingering() {
        return Holdfast.builder()
                .store(opened ->
                        withoutLingering(MemoryStore.named("unlingering").open(opened)))
                .connect();
    }

    /** A store as it is, but for what it says that it can do. */
    private static LockStore withoutLingering(LockStore store) {
        StoreTraits all = store.traits();
        StoreTraits less = new StoreTraits(
                all.store(),
                all.queues(),
                all.shared(),
                all.permits(),
                false,
                all.minTtl(),
                all.maxTtl(),
                all.minMargin(),
                all.poll());
        return (LockStore) Proxy.newProxyInstance(
                LockStore.class.getClassLoader(), new Class<?>[] {LockStore.class}, (proxy, method, arguments) -> {
                    try {
                        return method.getName().equals("traits") ? less : method.invoke(store, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getTargetException();
                    }
                });
    }

    @Test
    void noRunBeginsOnceTheApplicationStops() {
        context.stop();
        jobs.repeatedAtOnce();
        assertThat(jobs.runs()).isZero();

        context.start();
        jobs.repeatedAtOnce();
        assertThat(jobs.runs()).isEqualTo(1);
    }
}
