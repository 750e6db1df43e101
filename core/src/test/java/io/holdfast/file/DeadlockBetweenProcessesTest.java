package io.holdfast.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.holdfast.Deadlock;
import io.holdfast.Deadlocks;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockView.Origin;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("A deadlock between two processes")
@Timeout(120)
class DeadlockBetweenProcessesTest {

    @TempDir
    Path directory;

    @Test
    void isSeenByAThirdClientWithItsLocksClientsAndThreads() throws Exception {
        Path locks = directory.resolve("locks");
        try (ChildProcess child = ChildProcess.start(locks);
                Holdfast here =
                        Holdfast.builder().store("file:" + locks).name("here").connect();
                Holdfast onlooker = Holdfast.connect("file:" + locks);
                Lease stock = here.lock("stock").acquire()) {
            assertThat(child.ask("hold-and-want orders stock")).isEqualTo("holds orders");
            await().until(() -> !onlooker.lock("stock").inspect().waiters().isEmpty());
            assertThat(Deadlocks.find(onlooker.locks("")))
                    .as("so far one merely waits for the other")
                    .isEmpty();

            Thread waiter = new Thread(
                    () -> {
                        try {
                            here.lock("orders").acquire().close();
                        } catch (InterruptedException e) {
                            Thread.currentThread().interrupt();
                        }
                    },
                    "another-thread");
            waiter.start();
            await().until(() -> !onlooker.lock("orders").inspect().waiters().isEmpty());
            assertThat(Deadlocks.find(onlooker.locks("")))
                    .as("another thread than the one that holds what the child wants")
                    .isEmpty();
            waiter.interrupt();
            waiter.join();

            List<Deadlock> found = new CopyOnWriteArrayList<>();
            Thread deadlocked = Thread.currentThread();
            Thread looker = new Thread(() -> {
                await().until(() -> {
                    found.addAll(Deadlocks.find(onlooker.locks("")));
                    return !found.isEmpty();
                });
                deadlocked.interrupt();
            });
            looker.start();
            assertThatExceptionOfType(InterruptedException.class)
                    .isThrownBy(() -> here.lock("orders").acquire());

            assertThat(stock.isValid()).isTrue();
            assertThat(found.get(0).locks()).containsExactlyInAnyOrder("stock", "orders");
            assertThat(found.get(0).waits())
                    .extracting(
                            wait -> wait.waiter().origin().map(Origin::client).orElseThrow())
                    .containsExactlyInAnyOrder("here", "the-child");
            assertThat(found.get(0).toString())
                    .contains("thread the-childs-worker) holds 'orders' and waits for 'stock'");
            assertThat(found.get(0).since()).isPresent();
        }
    }
}
