package io.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.memory.MemoryStore;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.Grant;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.RenewalAnswer;
import io.holdfast.spi.RenewalRequest;
import io.holdfast.spi.Request;
import io.holdfast.spi.RingingStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreTraits;
import io.holdfast.spi.Withdrawal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Waiting at a store that rings")
class RingingTest {

    /** The memory store without its queue, asked once an hour unless the test rings. */
    private static final class RingingMemory implements RingingStore {

        private final List<String> story = new CopyOnWriteArrayList<>();
        private final List<Runnable> rings = new CopyOnWriteArrayList<>();
        private final LockStore inner;
        private volatile @Nullable Duration holderTimeLeft;
        private volatile @Nullable Duration askAgain;

        RingingMemory(StoreContext context) {
            this.inner = MemoryStore.named("ringing").open(context);
        }

        @Override
        public StoreTraits traits() {
            return inner.traits().withPoll(Waiting.poll().every(Duration.ofHours(1)));
        }

        @Override
        public Answer attempt(Request request, Deadline deadline) {
            Answer answer = inner.attempt(request, deadline);
            story.add(answer instanceof Answer.Granted ? "granted" : "refused");
            return answer instanceof Answer.Refused refusal
                    ? new Answer.Refused(
                            Optional.ofNullable(holderTimeLeft), Optional.ofNullable(askAgain), refusal.reason())
                    : answer;
        }

        @Override
        public Bell listen(String name, Demand demand, Runnable ring) {
            story.add("listens");
            rings.add(ring);
            return () -> rings.remove(ring);
        }

        @Override
        public ReleaseAnswer release(Grant grant, Duration linger, Deadline deadline) {
            return inner.release(grant, linger, deadline);
        }

        @Override
        public List<RenewalAnswer> renew(List<RenewalRequest> renewals, Deadline deadline) {
            return inner.renew(renewals, deadline);
        }

        @Override
        public Withdrawal withdraw(Request request, Deadline deadline) {
            return inner.withdraw(request, deadline);
        }

        @Override
        public LockView view(String name, Deadline deadline) {
            return inner.view(name, deadline);
        }

        @Override
        public List<LockView> views(String prefix, Deadline deadline) {
            return new ArrayList<>(inner.views(prefix, deadline));
        }

        @Override
        public void close() {
            inner.close();
        }
    }

    private final CompletableFuture<RingingMemory> opened = new CompletableFuture<>();
    private final Holdfast other = Holdfast.connect("memory:ringing");
    private final Holdfast client = Holdfast.builder()
            .store(context -> {
                opened.complete(new RingingMemory(context));
                return opened.join();
            })
            .connect();
    private final RingingMemory store = opened.join();

    @AfterEach
    void close() {
        client.close();
        other.close();
    }

    @Test
    void asksAgainWhenItRings() throws Exception {
        Lease held = other.lock("door").acquire();
        Background<Lease> waiting = Background.run(client.lock("door")::acquire);
        await().untilAsserted(() -> assertThat(store.story).containsExactly("listens", "refused"));

        held.release();
        store.rings.forEach(Runnable::run);

        waiting.get(30, TimeUnit.SECONDS).release();
        assertThat(store.story).containsExactly("listens", "refused", "granted");
        assertThat(store.rings).as("who has it need not listen").isEmpty();
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

        assertThat(lockPolledOnceAnHour().tryAcquire(Duration.ofMillis(300))).isEmpty();

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
