package io.holdfast;

import static io.holdfast.ManualClient.TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("A lease that another thread hands on")
@Timeout(60)
class SuccessorTest {

    private final List<LockEvent> events = new CopyOnWriteArrayList<>();
    private final ManualClient client =
            new ManualClient(builder -> builder.listener(events::add).localHandoff(64, Duration.ofMinutes(1)));

    @AfterEach
    void close() {
        client.close();
    }

    @Test
    void isRenewedUnderItsOwnToken() throws Exception {
        Lease first = client.lock("orders").acquire();
        Lease second = handOn(first, client.lock("orders"));
        assertThat(second.storeToken()).as("handed on").isEqualTo(first.storeToken());
        assertThat(second.token()).isGreaterThan(first.token());

        client.time.advance(TTL.dividedBy(3));

        await().untilAsserted(() -> assertThat(events)
                .filteredOn(LockEvent.Renewed.class::isInstance)
                .extracting(event -> ((LockEvent.Renewed) event).token())
                .containsExactly(second.token()));
    }

    @Test
    void doesNotInheritAnExtension() throws Exception {
        Lease first = client.lock("orders").acquire();
        first.extend(Duration.ofHours(1));

        Lease second = handOn(first, client.lock("orders"));

        assertThat(second.remaining()).isLessThanOrEqualTo(TTL);
        assertThat(second.storeToken()).as("asked of the store").isGreaterThan(first.storeToken());
        assertThat(client.lock("orders").inspect().holders())
                .singleElement()
                .satisfies(holder -> assertThat(holder.timeLeft().orElseThrow()).isLessThanOrEqualTo(TTL));
    }

    @Test
    @DisplayName("P7 is asked of the store if it has a shortest hold, or the one before it had")
    void isAskedOfTheStoreIfItHasAShortestHold() throws Exception {
        DistributedLock plain = client.lock("orders");
        DistributedLock lingering =
                client.holdfast.lock("orders", ManualClient.OPTIONS.withMinHold(Duration.ofMillis(1)));
        Lease first = plain.acquire();

        Lease second = handOn(first, lingering);
        assertThat(second.storeToken()).isGreaterThan(first.storeToken());
        client.time.advance(Duration.ofMillis(1));

        Lease third = handOn(second, plain);
        assertThat(third.storeToken()).isGreaterThan(second.storeToken());
    }

    @Test
    void isShownWithItsOwnThreadAndToken() throws Exception {
        Lease first = client.lock("orders").acquire();
        CompletableFuture<Lease> got = new CompletableFuture<>();
        Thread next = new Thread(() -> {
            try {
                got.complete(client.lock("orders").acquire());
            } catch (InterruptedException e) {
                got.completeExceptionally(e);
            }
        });
        next.setName("the-next-thread");
        next.start();
        await().until(() -> next.getState() == Thread.State.WAITING);
        first.release();
        Lease second = got.get(10, TimeUnit.SECONDS);

        LockView.Holder holder = client.lock("orders").inspect().holders().get(0);
        LockView.Holder listed =
                client.holdfast.locks("orders").get(0).holders().get(0);

        assertThat(holder.token()).contains(second.token());
        assertThat(holder.origin().orElseThrow().thread()).isEqualTo("the-next-thread");
        assertThat(listed.token()).isEqualTo(holder.token());
        assertThat(listed.origin()).isEqualTo(holder.origin());
    }

    @Test
    void ofAFutureIsShownWithTheThreadThatAskedForIt() throws Exception {
        CompletableFuture<Lease> future = new CompletableFuture<>();
        Thread asking = new Thread(
                () -> client.lock("orders").acquireAsync().thenAccept(future::complete), "the-asking-thread");
        asking.start();
        future.get(10, TimeUnit.SECONDS);

        assertThat(client.lock("orders")
                        .inspect()
                        .holders()
                        .get(0)
                        .origin()
                        .orElseThrow()
                        .thread())
                .isEqualTo("the-asking-thread");
    }

    private Lease handOn(Lease held, DistributedLock wanted) throws Exception {
        Background<Lease> next = Background.run(wanted::acquire);
        await().until(next::isParked);
        held.release();
        return next.get(10, TimeUnit.SECONDS);
    }
}
