package io.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Holdfast;
import io.holdfast.spring.plan.LockTemplates;
import io.holdfast.testing.TestLocks;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.context.support.SimpleThreadScope;
import org.springframework.core.Ordered;
import org.springframework.scheduling.annotation.Scheduled;

@DisplayName("locked methods that beans inherit")
class InheritedMethodsTest {

    private static final Duration SOON = Duration.ofSeconds(30);

    /** The locks under which jobs ran. */
    private static final List<String> RUNS = new CopyOnWriteArrayList<>();

    private final TestLocks locks = TestLocks.create();
    private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

    /** Without scheduling: the test calls the methods when it wants. */
    @Configuration(proxyBeanMethods = false)
    @EnableHoldfast
    static class Locking {}

    interface Job {
        void run();
    }

    abstract static class Importer implements Job {

        @Override
        @Scheduled(fixedRate = 10, timeUnit = TimeUnit.SECONDS)
        @ScheduledLock
        public void run() {
            RUNS.add(CurrentLease.require().name());
            work();
        }

        void work() {}
    }

    static class OrdersImporter extends Importer {}

    static class CustomersImporter extends Importer {}

    static class LastingImporter extends Importer {

        private final CountDownLatch begun;
        private final CountDownLatch goOn;

        LastingImporter(CountDownLatch begun, CountDownLatch goOn) {
            this.begun = begun;
            this.goOn = goOn;
        }

        @Override
        void work() {
            begun.countDown();
            try {
                assertThat(goOn.await(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    @BeforeEach
    void prepare() {
        RUNS.clear();
        context.registerBean(Holdfast.class, locks::holdfast, definition -> definition.setDestroyMethodName(""));
        context.register(Locking.class);
    }

    @AfterEach
    void end() {
        context.close();
        locks.close();
    }

    @Test
    void aJobRunsWhileThatOfAnotherSubclassIsUnderWay() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        context.registerBean(LastingImporter.class, () -> new LastingImporter(begun, goOn));
        context.registerBean(OrdersImporter.class);
        context.refresh();

        CompletableFuture<Void> lasting = CompletableFuture.runAsync(context.getBean(LastingImporter.class)::run);
        assertThat(begun.await(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();
        context.getBean(OrdersImporter.class).run();

        assertThat(lasting).isNotDone();
        goOn.countDown();
        assertThat(lasting).succeedsWithin(SOON);
        assertThat(RUNS).containsExactly(nameOf(LastingImporter.class), nameOf(OrdersImporter.class));
    }

    @Test
    void aLockThatStaysTakenForAWhileKeepsNoOtherSubclassFromItsRun() {
        context.register(OrdersImporter.class, CustomersImporter.class);
        context.refresh();

        for (int i = 0; i < 2; i++) {
            context.getBean(OrdersImporter.class).run();
            context.getBean(CustomersImporter.class).run();
        }

        assertThat(RUNS).containsExactly(nameOf(OrdersImporter.class), nameOf(CustomersImporter.class));
    }

    static class BehindAnInterface extends Importer {}

    @Configuration
    static class ConfiguringImporter extends Importer {}

    @Scope(value = "thread", proxyMode = ScopedProxyMode.TARGET_CLASS)
    static class ImporterInAScope extends Importer {}

    /** Before the lock, as transactions do it where proxies have the interfaces of their beans only. */
    static class InterfaceProxies implements BeanPostProcessor, Ordered {
        @Override
        public Object postProcessAfterInitialization(Object bean, String name) {
            return bean instanceof BehindAnInterface ? new ProxyFactory(bean).getProxy() : bean;
        }

        @Override
        public int getOrder() {
            return 0;
        }
    }

    static Stream<Class<? extends Importer>> importers() {
        return Stream.of(
                OrdersImporter.class, BehindAnInterface.class, ConfiguringImporter.class, ImporterInAScope.class);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("importers")
    void theNameIsOfTheClassWithoutItsProxiesAtStartAsInACall(Class<? extends Importer> type) {
        context.getBeanFactory().registerScope("thread", new SimpleThreadScope());
        context.registerBean(InterfaceProxies.class);
        context.register(type);
        context.refresh();
        Job job = context.getBean(Job.class);

        job.run();

        assertThat(AopUtils.isJdkDynamicProxy(job)).isEqualTo(type == BehindAnInterface.class);
        assertThat(RUNS).containsExactly(nameOf(type));
        assertThat(context.getBean(LockTemplates.class).of(nameOf(type)))
                .as("known since the start")
                .contains(nameOf(type));
    }

    @Test
    void aSubclassWithoutANameOfItsOwnIsRefusedAtStart() {
        context.registerBean(Importer.class, () -> new Importer() {});

        assertThatThrownBy(context::refresh)
                .isInstanceOf(LockMisuseException.class)
                .hasMessageContaining("Importer.run is inherited by a class without a name of its own")
                .hasMessageContaining("Set name = ");
    }

    interface Task {
        void work();

        @ScheduledLock
        default void run() {
            RUNS.add(CurrentLease.require().name());
            work();
        }
    }

    @Test
    void aLambdaWhoseClassHasAnotherNameInEachProcessIsNamedByItsInterface() {
        context.registerBean(Task.class, () -> () -> {});
        context.refresh();

        context.getBean(Task.class).run();

        assertThat(RUNS).containsExactly(nameOf(Task.class));
    }

    static class Branch {

        private final String city;

        Branch(String city) {
            this.city = city;
        }

        public String getCity() {
            return city;
        }

        @ScheduledLock
        public void run() {
            RUNS.add(city);
        }

        @ScheduledLock("count/#{city}")
        public void count() {
            RUNS.add(CurrentLease.require().name());
        }
    }

    @Test
    void beansOfOneClassShareALockUnlessItsNameTellsThemApart() {
        TestLocks.OtherHolder other = locks.takenByOther(nameOf(Branch.class));
        context.registerBean("north", Branch.class, () -> new Branch("north"));
        context.registerBean("south", Branch.class, () -> new Branch("south"));
        context.refresh();
        List<Branch> branches = List.of(context.getBean("north", Branch.class), context.getBean("south", Branch.class));

        branches.forEach(Branch::run);
        assertThat(RUNS).isEmpty();
        locks.takenByOther("count/north");
        branches.forEach(Branch::count);
        assertThat(RUNS).containsExactly("count/south");

        other.release();
        branches.forEach(Branch::run);
        assertThat(RUNS).containsExactly("count/south", "north", "south");
    }

    abstract static class Seller {

        @Locked(name = "stock", maxWait = "0", onConflict = OnConflict.FALLBACK, fallback = "soldOut")
        public String sell() {
            return "sold";
        }
    }

    static class BookSeller extends Seller {
        String soldOut() {
            return "no books";
        }
    }

    static class ShoeSeller extends Seller {
        String soldOut() {
            return "no shoes";
        }
    }

    static class CarelessSeller extends Seller {}

    @Test
    void eachSubclassHasItsOwnFallback() {
        context.register(BookSeller.class, ShoeSeller.class);
        context.refresh();
        locks.takenByOther("stock");

        assertThat(context.getBean(BookSeller.class).sell()).isEqualTo("no books");
        assertThat(context.getBean(ShoeSeller.class).sell()).isEqualTo("no shoes");
    }

    @Test
    void aSubclassWithoutTheFallbackIsNamedAtStart() {
        context.register(BookSeller.class, CarelessSeller.class);

        assertThatThrownBy(context::refresh)
                .isInstanceOf(LockMisuseException.class)
                .hasMessageContaining("names the fallback 'soldOut', but CarelessSeller has no such method");
    }

    private static String nameOf(Class<?> type) {
        return type.getName() + ".run";
    }
}
