package io.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.spi.Ticket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Warnings in the log")
class WarningsTest {

    /** Short, since a leak is looked for with every renewal; long enough to survive the collections of garbage. */
    private static final LockOptions SHORT = LockOptions.defaults().withTtl(Duration.ofSeconds(6));

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Logger logger = Logger.getLogger("io.holdfast");
    private final List<String> messages = new CopyOnWriteArrayList<>();
    private final Handler handler = new Handler() {
        private final SimpleFormatter formatter = new SimpleFormatter();

        @Override
        public void publish(LogRecord message) {
            messages.add(formatter.formatMessage(message));
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };

    @BeforeEach
    void listen() {
        logger.addHandler(handler);
    }

    @AfterEach
    void stopListening() {
        logger.removeHandler(handler);
    }

    @Test
    void leaseThatWasNeverClosedIsNamedAndStaysHeld() throws InterruptedException {
        try (Holdfast holdfast = Holdfast.connect("memory:")) {
            DistributedLock lock = holdfast.lock("forgotten", SHORT);
            lock.acquire();

            await().atMost(PATIENCE).untilAsserted(() -> {
                System.gc();
                assertThat(messages).anyMatch(text -> text.contains("'forgotten'") && text.contains("never closed"));
            });
            assertThat(lock.inspect().isHeld()).isTrue();
        }
    }

    @Test
    void leaseThatIsClosedOrStillReferredToIsNotReported() throws InterruptedException {
        try (Holdfast holdfast = Holdfast.connect("memory:")) {
            Lease kept = holdfast.lock("kept", SHORT).acquire();
            holdfast.lock("closed", SHORT).acquire().close();
            holdfast.lock("forgotten", SHORT).acquire();

            await().atMost(PATIENCE).untilAsserted(() -> {
                System.gc();
                assertThat(messages).anyMatch(text -> text.contains("'forgotten'"));
            });
            assertThat(messages).noneMatch(text -> text.contains("'kept'") || text.contains("'closed'"));
            kept.close();
        }
    }

    @Test
    void nothingIsSaidOfAWaitThatIsOver() throws Exception {
        try (ManualClient client = new ManualClient()) {
            Ticket elsewhere = client.holdElsewhere("orders");
            CompletableFuture<Lease> waiting = client.lock("orders").acquireAsync();
            await().until(() -> !client.lock("orders").inspect().waiters().isEmpty());
            client.releaseElsewhere(elsewhere);
            waiting.get(30, TimeUnit.SECONDS).release();

            // Long enough for every alarm of that time, and to see that they have gone off.
            client.time.advance(Duration.ofDays(2));
            CompletableFuture<Void> after = new CompletableFuture<>();
            client.store.context.timer().at(client.time.nanoTime(), () -> after.complete(null));

            assertThat(after).succeedsWithin(PATIENCE);
            assertThat(messages).isEmpty();
        }
    }

    @Test
    void longWaitNamesTheHolder() throws InterruptedException {
        try (Holdfast holder = Holdfast.builder()
                        .store("memory:long-wait")
                        .name("the-holder")
                        .connect();
                Holdfast waiter = Holdfast.builder()
                        .store("memory:long-wait")
                        .name("the-waiter")
                        .longWait(Duration.ofMillis(50))
                        .connect();
                Lease lease = holder.lock("busy").acquire()) {
            CompletableFuture<Lease> waiting = waiter.lock("busy").acquireAsync();

            await().untilAsserted(() -> assertThat(messages)
                    .anyMatch(text -> text.contains("the-waiter")
                            && text.contains("'busy'")
                            && text.contains("held by the-holder (")));
            waiting.cancel(true);
        }
    }
}
