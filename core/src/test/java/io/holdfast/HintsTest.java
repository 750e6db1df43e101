package io.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.memory.MemoryStore;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.HintingStore;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.Refusal;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreTraits;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.Withdrawal;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Waiting at a store that hints")
class HintsTest {

    /** The memory store without its queue, asked once an hour unless the test hints. */
    private static final class HintingMemory implements HintingStore {

        private final List<String> story = new CopyOnWriteArrayList<>();
        private final List<Runnable> hints = new CopyOnWriteArrayList<>();
        private final LockStore inner;
        private volatile @Nullable Duration holderTimeLeft;
        private volatile @Nullable Duration askAgain;

        HintingMemory(StoreContext context) {
            this.inner = MemoryStore.named("hinting").open(context);
        }

        @Override
        public StoreTraits traits() {
            return inner.traits().withoutQueue().withPoll(Waiting.poll().every(Duration.ofHours(1)));
        }

        @Override
        public Optional<Refusal> request(Ticket ticket, Mode mode, Deadline deadline) {
            assertThat(mode).isEqualTo(Mode.TRY);
            Optional<Refusal> refusal = inner.request(ticket, mode, deadline);
            story.add(refusal.isPresent() ? "refused" : "granted");
            return refusal.map(taken ->
                    new Refusal(Optional.ofNullable(holderTimeLeft), Optional.ofNullable(askAgain), taken.reason()));
        }

        @Override
        public Hints listen(String name, Demand demand, Runnable hint) {
            story.add("listens");
            hints.add(hint);
            return () -> hints.remove(hint);
        }

        @Override
        public ReleaseAnswer release(Ticket ticket, Duration linger, Deadline deadline) {
            return inner.release(ticket, linger, deadline);
        }

        @Override
        public void renew(List<Ticket> tickets, Deadline deadline) {
            inner.renew(tickets, deadline);
        }

        @Override
        public void extend(Ticket ticket, Duration ttl, Deadline deadline) {
            inner.extend(ticket, ttl, deadline);
        }

        @Override
        public Withdrawal withdraw(Ticket ticket, Deadline deadline) {
            return inner.withdraw(ticket, deadline);
        }

        @Override
        public LockView view(String name, Deadline deadline) {
            return inner.view(name, deadline);
        }

        @Override
        public Page views(String prefix, Optional<String> after, int limit, Deadline deadline) {
            return inner.views(prefix, after, limit, deadline);
        }

        @Override
        public void ping(Deadline deadline) {
            inner.ping(deadline);
        }

        @Override
        public void close() {
            inner.close();
        }
    }

    private final CompletableFuture<HintingMemory> opened = new CompletableFuture<>();
    private final Holdfast other = Holdfast.connect("memory:hinting");
    private final Holdfast client = Holdfast.builder()
            .store(context -> {
                opened.complete(new HintingMemory(context));
                return opened.join();
            })
            .connect();
    private final HintingMemory store = opened.join();

    @AfterEach
    void close() {
        client.close();
        other.close();
    }

    @Test
    void asksAgainWhenItHints() throws Exception {
        Lease held = other.lock("door").acquire();
        Background<Lease> waiting = Background.run(client.lock("door")::acquire);
        await().untilAsserted(() -> assertThat(store.story).containsExactly("listens", "refused"));

        held.release();
        store.hints.forEach(Runnable::run);

        waiting.get(30, TimeUnit.SECONDS).release();
        assertThat(store.story).containsExactly("listens", "refused", "granted");
        assertThat(store.hints).as("who has it need not listen").isEmpty();
    }

    @Test
    void asksAgainAsSoonAsTheStoreSays() throws Exception {
        store.askAgain = Duration.ofMillis(1);
        Lease held = other.lock("door").acquire();
        Background<Lease> waiting = Background.run(client.lock("door")::acquire);
        await().until(() -> store.story.size() > 3);

        held.release();

        waiting.get(30, TimeUnit.SECONDS).release();
    }

    @Test
    void asksAsOftenAsTheUserSaysWhateverTheStoreSays() throws Exception {
        store.askAgain = Duration.ofMillis(1);
        Lease held = other.lock("window").acquire();

        assertThat(lockPolledOnceAnHour().tryAcquire(Duration.ofSeconds(1))).isEmpty();

        assertThat(refusals()).isEqualTo(1);
        held.release();
    }

    @Test
    void asksWhenTheHolderExpiresHoweverSeldomTheUserSays() throws Exception {
        store.holderTimeLeft = Duration.ofMillis(1);
        Lease held = other.lock("window").acquire();

        Background<Lease> waiting = Background.run(lockPolledOnceAnHour()::acquire);

        await().until(() -> refusals() > 1);
        held.release();
        waiting.get(30, TimeUnit.SECONDS).release();
    }

    private DistributedLock lockPolledOnceAnHour() {
        Waiting everyHour = Waiting.poll().every(Duration.ofHours(1));
        return client.lock("window", LockOptions.defaults().withWaiting(everyHour));
    }

    private long refusals() {
        return store.story.stream().filter("refused"::equals).count();
    }
}
