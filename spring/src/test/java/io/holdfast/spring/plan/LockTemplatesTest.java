package io.holdfast.spring.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Holdfast;
import io.holdfast.spring.EnableHoldfast;
import io.holdfast.spring.Locked;
import io.holdfast.spring.ScheduledLock;
import io.holdfast.testing.TestLocks;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;

@DisplayName("templates of locks")
class LockTemplatesTest {

    record Order(String sku) {}

    static class Shop {
        @Locked("stock/#{#order.sku}")
        public void property(Order order) {}

        @Locked("stock/#{#sku}/reserved")
        public void between(String sku) {}

        @Locked("shelf-#{#row}-#{#column}")
        public void several(int row, int column) {}

        @Locked("bin/#{'no-' + #order.sku.toLowerCase()}")
        public void computed(Order order) {}

        @Locked("region/#{@prices.nearest()}")
        public void called() {}

        @Locked("#{#anything}")
        public void noTextAtAll(String anything) {}

        @ScheduledLock("nightly/report")
        public void fixed() {}
    }

    @Configuration(proxyBeanMethods = false)
    @EnableHoldfast
    static class Locking {}

    @Test
    void aLockIsKnownByTheTemplateOfItsName() {
        try (TestLocks locks = TestLocks.create();
                AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
            context.registerBean(Holdfast.class, locks::holdfast, definition -> definition.setDestroyMethodName(""));
            context.register(Locking.class, Shop.class);
            context.refresh();
            LockTemplates templates = context.getBean(LockTemplates.class);

            assertThat(templates.of("stock/42")).contains("stock/{sku}");
            assertThat(templates.of("stock/a/b")).contains("stock/{sku}");
            assertThat(templates.of("stock/42/reserved")).contains("stock/{sku}/reserved");
            assertThat(templates.of("shelf-1-2")).contains("shelf-{row}-{column}");
            assertThat(templates.of("bin/no-7")).contains("bin/{sku}");
            assertThat(templates.of("region/north")).contains("region/{nearest}");
            assertThat(templates.of("nightly/report")).contains("nightly/report");
            assertThat(templates.of("nightly/reports")).isEmpty();
            assertThat(templates.of("stock/")).isEmpty();
            assertThat(templates.of("shelf--2")).isEmpty();
            assertThat(templates.of("orders/7")).isEmpty();
        }
    }
}
