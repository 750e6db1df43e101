package io.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Holdfast;
import io.holdfast.testing.TestLocks;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.concurrent.SubmissionPublisher;
import java.util.stream.Stream;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.aop.framework.AbstractAdvisingBeanPostProcessor;
import org.springframework.aop.support.ComposablePointcut;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.context.support.SimpleThreadScope;
import reactor.core.publisher.Mono;

@DisplayName("misuse of annotations fails at start")
class MisuseTest {

    private final TestLocks locks = TestLocks.create();

    @Configuration(proxyBeanMethods = false)
    @EnableHoldfast
    static class Locking {}

    @AfterEach
    void end() {
        locks.close();
    }

    static class PrivateMethod {
        @Locked("a")
        private void work() {}

        void use() {
            work();
        }
    }

    static class FinalMethod {
        @Locked("a")
        public final void work() {}
    }

    static class StaticMethod {
        @Locked("a")
        public static void work() {}
    }

    static class NoName {
        @Locked
        public void work() {}
    }

    static class UnknownFallback {
        @Locked(name = "a", onConflict = OnConflict.FALLBACK, fallback = "instead")
        public void work(String what) {}

        void instead(int what) {}
    }

    static class FallbackNeverCalled {
        @Locked(name = "a", fallback = "instead")
        public void work() {}
    }

    static class Unparsable {
        @Locked("stock/#{#sku")
        public void work(String sku) {}
    }

    static class UnknownParameter {
        @Locked("stock/#{#skew}")
        public void work(String sku) {}
    }

    static class SkipsAPrimitive {
        @Locked(name = "a", onConflict = OnConflict.SKIP)
        public int work() {
            return 1;
        }
    }

    static class NoDuration {
        @Locked(name = "a", maxWait = "soon")
        public void work() {}
    }

    static class NegativeWait {
        @Locked(name = "a", maxWait = "-1s")
        public void work() {}
    }

    static class TtlOutOfRange {
        @Locked(name = "a", ttl = "1ms")
        public void work() {}
    }

    static class PermitsWithoutTotal {
        @Locked(name = "a", permits = 2)
        public void work() {}
    }

    static class FenceOfSeveral {
        @Locked(
                name = {"a", "b"},
                fence = true)
        public void work() {}
    }

    static class OtherStage {
        @Locked("a")
        public Later work() {
            return new Later();
        }
    }

    static class Later extends CompletableFuture<String> {}

    static class ReturnsAMono {
        @Locked("a")
        public Mono<String> work() {
            return Mono.just("done");
        }
    }

    static class ReturnsAPublisher {
        @ScheduledLock("a")
        public Flow.Publisher<String> work() {
            return new SubmissionPublisher<>();
        }
    }

    static class ReturnsAFuture {
        @Locked("a")
        public Future<String> work() {
            return CompletableFuture.completedFuture("done");
        }
    }

    static class UnknownClient {
        @Locked(name = "a", client = "orders")
        public void work() {}
    }

    static class Both {
        @Locked("a")
        @ScheduledLock
        public void work() {}
    }

    static Stream<Arguments> misuses() {
        return Stream.of(
                Arguments.of(
                        PrivateMethod.class,
                        "PrivateMethod.work is private, so calls of it cannot be locked. Remove 'private'."),
                Arguments.of(
                        FinalMethod.class,
                        "FinalMethod.work is final, so calls of it cannot be locked. Remove 'final'."),
                Arguments.of(StaticMethod.class, "StaticMethod.work is static"),
                Arguments.of(NoName.class, "NoName.work has a @Locked without a name"),
                Arguments.of(
                        UnknownFallback.class,
                        "names the fallback 'instead', but UnknownFallback has no such method with the same parameters"),
                Arguments.of(FallbackNeverCalled.class, "has a fallback that is never called"),
                Arguments.of(Unparsable.class, "has a lock name 'stock/#{#sku' that does not parse"),
                Arguments.of(UnknownParameter.class, "names #skew, but the method has no such parameter"),
                Arguments.of(
                        SkipsAPrimitive.class, "skips conflicts but returns a int, for which there is no empty value"),
                Arguments.of(
                        NoDuration.class, "has maxWait = \"soon\", which is no duration. Write 250ms, 2s or 1h30m."),
                Arguments.of(NegativeWait.class, "has maxWait = \"-1s\", which is no duration"),
                Arguments.of(TtlOutOfRange.class, "asks for a lock that memory cannot keep"),
                Arguments.of(PermitsWithoutTotal.class, "takes 2 permits of no total"),
                Arguments.of(FenceOfSeveral.class, "has a fence for what is not one exclusive lock"),
                Arguments.of(OtherStage.class, "returns a Later. Return a CompletableFuture or a CompletionStage."),
                Arguments.of(
                        ReturnsAMono.class,
                        "returns a Mono, whose work would go on when its lock is free again. Return a CompletableFuture"),
                Arguments.of(ReturnsAPublisher.class, "returns a Publisher"),
                Arguments.of(ReturnsAFuture.class, "returns a Future"),
                Arguments.of(UnknownClient.class, "names the client 'orders', but there is no such bean"),
                Arguments.of(Both.class, "has both @Locked and @ScheduledLock"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("misuses")
    void withAClearMessage(Class<?> bean, String message) {
        try (AnnotationConfigApplicationContext context = context()) {
            context.registerBean(bean);

            assertThatThrownBy(context::refresh)
                    .isInstanceOf(LockMisuseException.class)
                    .hasMessageContaining(message)
                    .hasMessageStartingWith(bean.getSimpleName() + ".work");
        }
    }

    @Test
    void aMissingStoreIsNamed() {
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
            context.register(Locking.class);
            context.registerBean(Fine.class);

            assertThatThrownBy(context::refresh)
                    .isInstanceOf(LockMisuseException.class)
                    .hasMessageContaining("there is no bean of type Holdfast");
        }
    }

    @Test
    void aBeanThatWasCreatedTooEarlyIsNamed() {
        try (AnnotationConfigApplicationContext context = context()) {
            context.registerBean(Fine.class);
            context.register(NeedsABeanEarly.class);

            assertThatThrownBy(context::refresh)
                    .isInstanceOf(LockMisuseException.class)
                    .hasMessageContaining("which has no proxy");
        }
    }

    @Test
    void withoutMisuseTheContextStarts() {
        try (AnnotationConfigApplicationContext context = context()) {
            context.registerBean(Fine.class);
            context.refresh();

            assertThat(context.getBean(Fine.class).work()).succeedsWithin(java.time.Duration.ofSeconds(10));
        }
    }

    interface Sells {
        void sell();
    }

    static class BehindAnInterface implements Sells {
        @Override
        public void sell() {}

        @Locked("a")
        public void work() {}
    }

    /** Before the lock, as transactions do it where proxies have the interfaces of their beans only. */
    static class InterfaceProxies extends AbstractAdvisingBeanPostProcessor {
        private static final long serialVersionUID = 1L;

        InterfaceProxies() {
            this.advisor = new DefaultPointcutAdvisor(
                    new ComposablePointcut(Sells.class::isAssignableFrom),
                    (MethodInterceptor) MethodInvocation::proceed);
            setOrder(0);
        }
    }

    @Test
    void aMethodThatTheProxyOfItsBeanDoesNotHaveIsNamed() {
        try (AnnotationConfigApplicationContext context = context()) {
            context.registerBean(InterfaceProxies.class, InterfaceProxies::new);
            context.registerBean(BehindAnInterface.class);

            assertThatThrownBy(context::refresh)
                    .isInstanceOf(LockMisuseException.class)
                    .hasMessageContaining("BehindAnInterface.work is in no interface of the bean");
        }
    }

    interface Task<T> {
        T work();
    }

    static class StageBehindAnInterface implements Task<CompletableFuture<String>>, Sells {
        private final CompletableFuture<String> reply = new CompletableFuture<>();

        @Override
        @Locked("a")
        public CompletableFuture<String> work() {
            return reply;
        }

        @Override
        public void sell() {
            reply.complete("sold");
        }
    }

    @Test
    void aStageIsWaitedForThoughTheInterfaceOfItsProxyDoesNotSayThatItIsOne() {
        try (AnnotationConfigApplicationContext context = context()) {
            context.registerBean(InterfaceProxies.class, InterfaceProxies::new);
            context.registerBean("task", StageBehindAnInterface.class);
            context.refresh();
            Task<?> task = context.getBean(Task.class);

            CompletableFuture<?> work = (CompletableFuture<?>) task.work();

            await().until(() -> locks.holdfast().lock("a").inspect().isHeld());
            ((Sells) task).sell();
            assertThat(work).succeedsWithin(java.time.Duration.ofSeconds(10));
            assertThat(locks.holdfast().lock("a").inspect().isHeld()).isFalse();
        }
    }

    @Test
    void aBeanInAScopeIsLockedThoughItsScopedProxyIsNot() {
        try (AnnotationConfigApplicationContext context = context()) {
            context.getBeanFactory().registerScope("thread", new SimpleThreadScope());
            context.register(InAScope.class);
            context.refresh();

            assertThat(context.getBean(InAScope.class).work()).isEqualTo("a");
        }
    }

    @Scope(value = "thread", proxyMode = ScopedProxyMode.TARGET_CLASS)
    static class InAScope {
        @Locked("a")
        public String work() {
            return CurrentLease.require().name();
        }
    }

    static class Fine {
        @Locked("a")
        public CompletionStage<String> work() {
            return CompletableFuture.completedFuture("done");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class NeedsABeanEarly {
        @Bean
        static EarlyProcessor early(Fine fine) {
            return new EarlyProcessor(fine);
        }
    }

    record EarlyProcessor(Fine fine) implements BeanPostProcessor, org.springframework.core.PriorityOrdered {
        @Override
        public int getOrder() {
            return 0;
        }
    }

    private AnnotationConfigApplicationContext context() {
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
        context.registerBean(Holdfast.class, locks::holdfast, definition -> definition.setDestroyMethodName(""));
        context.register(Locking.class);
        return context;
    }
}
