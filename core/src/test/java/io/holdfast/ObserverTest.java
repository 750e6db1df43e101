package io.holdfast;

import static io.holdfast.ManualClient.TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.LockEvent.Outcome;
import io.holdfast.LockStatistics.StoreOperation;
import io.holdfast.spi.LockObserver;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("An observer")
@Timeout(60)
class ObserverTest {

    /** What it saw, in order, and on which thread. */
    private record Seen(String what, long id, String lock, Thread thread) {}

    private final List<Seen> seen = new CopyOnWriteArrayList<>();
    private final ManualClient client = new ManualClient(builder -> builder.observer(new Recording())
            .observer(new LockObserver() {
                @Override
                public void started(Acquisition acquisition) {
                    throw new IllegalStateException("a bug in another observer");
                }
            })
            .observer(new Recording()));

    @AfterEach
    void close() {
        client.close();
    }

    @Test
    void isCalledOnTheThreadThatAcquiresAndReleases() throws InterruptedException {
        client.lock("orders").acquire().release();

        assertThat(about("orders"))
                .extracting(Seen::what)
                .containsExactly("started", "acquired GRANTED", "released RELEASED");
        assertThat(about("orders")).extracting(Seen::thread).containsOnly(Thread.currentThread());
        assertThat(about("orders"))
                .extracting(Seen::id)
                .containsOnly(about("orders").get(0).id);
    }

    @Test
    void tellsAcquisitionsApart() throws InterruptedException {
        client.lock("first").acquire().release();
        client.lock("second").acquire().release();

        assertThat(about("first").get(0).id).isNotEqualTo(about("second").get(0).id);
    }

    @Test
    void seesHowAnAcquisitionEndsWithoutALease() {
        client.holdElsewhere("taken");

        client.lock("taken").tryAcquire();

        assertThat(about("taken")).extracting(Seen::what).containsExactly("started", "unsuccessful TAKEN");
    }

    @Test
    void seesALossOffTheEnginesThreads() throws InterruptedException {
        client.lock("orders").acquire();
        client.store.network = FaultyStore.Network.DOWN;

        client.time.advance(TTL);

        await().untilAsserted(
                        () -> assertThat(about("orders")).extracting(Seen::what).contains("lost EXPIRED"));
        assertThat(about("orders"))
                .filteredOn(each -> each.what.startsWith("lost"))
                .allSatisfy(each -> assertThat(each.thread.getName()).contains("-loss-"));
    }

    @Test
    void seesRenewalsAndRequests() throws InterruptedException {
        client.lock("orders").acquire();

        client.passUntil(
                TTL.dividedBy(30), () -> about("orders").stream().anyMatch(each -> each.what.equals("renewed")));

        assertThat(seen).extracting(Seen::what).contains("requested QUEUE", "requested RENEW");
        client.store.network = FaultyStore.Network.DOWN;
        client.passUntil(
                TTL.dividedBy(30), () -> about("orders").stream().anyMatch(each -> each.what.equals("renewal failed")));
        assertThat(seen).extracting(Seen::what).contains("failed RENEW");
    }

    /** Two of them see the same: each is listed once. */
    private List<Seen> about(String lock) {
        return seen.stream().filter(each -> each.lock.equals(lock)).distinct().toList();
    }

    private final class Recording implements LockObserver {

        private void see(String what, Acquisition acquisition) {
            seen.add(new Seen(what, acquisition.id(), acquisition.lock(), Thread.currentThread()));
        }

        @Override
        public void started(Acquisition acquisition) {
            see("started", acquisition);
        }

        @Override
        public void acquired(Acquisition acquisition, Way way, long token, Duration waited) {
            see("acquired " + way, acquisition);
        }

        @Override
        public void unsuccessful(Acquisition acquisition, Outcome outcome, Duration waited) {
            see("unsuccessful " + outcome, acquisition);
        }

        @Override
        public void released(Acquisition acquisition, long token, ReleaseResult result, Duration held) {
            see("released " + result, acquisition);
        }

        @Override
        public void lost(Acquisition acquisition, Loss loss, Duration held) {
            see("lost " + loss.reason(), acquisition);
        }

        @Override
        public void renewed(Acquisition acquisition) {
            see("renewed", acquisition);
        }

        @Override
        public void renewalFailed(Acquisition acquisition, Duration stillValidFor, Throwable cause) {
            see("renewal failed", acquisition);
        }

        @Override
        public void requested(StoreOperation operation, Duration took, @Nullable Throwable failure) {
            seen.add(new Seen((failure == null ? "requested " : "failed ") + operation, 0, "", Thread.currentThread()));
        }
    }
}
