package io.holdfast.spring.boot.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.spring.LockConflictException;
import io.holdfast.spring.Locked;
import io.holdfast.testing.TestLocks;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Bean;
import org.springframework.test.context.TestContextManager;

@DisplayName("@AutoConfigureHoldfast")
@SpringBootTest(
        classes = AutoConfigureHoldfastTest.Application.class,
        properties = {"holdfast.store=redis://not-reached:1", "holdfast.clients.orders.store=redis://not-reached:2"})
@AutoConfigureHoldfast
class AutoConfigureHoldfastTest {

    @SpringBootConfiguration
    @EnableAutoConfiguration
    static class Application {
        @Bean
        Shop shop() {
            return new Shop();
        }
    }

    static class Shop {
        @Locked(name = "stock/#{#sku}", maxWait = "0")
        public String buy(String sku) {
            return "sold";
        }
    }

    @Autowired
    private TestLocks locks;

    @Autowired
    private Holdfast holdfast;

    @Autowired
    @Qualifier("orders")
    private Holdfast orders;

    @Autowired
    private Shop shop;

    @Test
    void theApplicationLocksInMemoryInsteadOfItsStore() {
        assertThat(holdfast).isSameAs(locks.holdfast());
        assertThat(holdfast.store()).isEqualTo("memory");
        assertThat(shop.buy("1")).isEqualTo("sold");
    }

    @Test
    void namedClientsLockInMemoryTooEachOnItsOwn() {
        locks.takenByOther("a");

        assertThat(orders.store()).isEqualTo("memory");
        assertThat(orders.lock("a").tryRun(() -> {})).isTrue();
    }

    @Test
    void aTestTakesLocksAwayAndMovesTheClock() {
        try (TestLocks.OtherHolder other = locks.takenByOther("stock/2")) {
            locks.advance(Duration.ofHours(1));
            assertThatThrownBy(() -> shop.buy("2")).isInstanceOf(LockConflictException.class);
            assertThat(other.isHeld()).isTrue();
        }
        assertThat(shop.buy("2")).isEqualTo("sold");
    }

    @Test
    void aLeaseLeftOpenFailsTheTest() throws Exception {
        TestContextManager manager = new TestContextManager(AutoConfigureHoldfastTest.class);
        manager.prepareTestInstance(this);
        try (Lease lease = holdfast.lock("left").tryAcquire().orElseThrow()) {
            assertThatThrownBy(() -> manager.afterTestMethod(
                            this, getClass().getDeclaredMethod("aLeaseLeftOpenFailsTheTest"), null))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("'left'");
            assertThat(lease.isValid()).isTrue();
        }
    }
}
