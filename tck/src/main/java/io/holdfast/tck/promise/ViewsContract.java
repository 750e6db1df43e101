package io.holdfast.tck.promise;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Deadlock;
import io.holdfast.Deadlocks;
import io.holdfast.Demand;
import io.holdfast.DistributedReadWriteLock;
import io.holdfast.Fairness;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockView;
import io.holdfast.LockView.Holder;
import io.holdfast.LockView.Origin;
import io.holdfast.LockView.Waiter;
import io.holdfast.MultiLease;
import io.holdfast.spi.AdministeredStore;
import io.holdfast.spi.LockStore;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Who holds and who waits can be seen from any client. */
@DisplayName("Views")
public abstract class ViewsContract extends StoreContract {

    @Test
    void aFreeLockShowsNobody() {
        assertThat(client().lock(name()).inspect()).isEqualTo(LockView.free(name()));
        assertThat(client().locks(name())).isEmpty();
    }

    @Test
    void aHolderIsShownWithItsOriginTokenAndTimeLeft() throws Exception {
        Holdfast holding = client();
        try (Lease lease = holding.lock(name(), longLived()).acquire()) {
            LockView view = client().lock(name()).inspect();

            assertThat(view.name()).isEqualTo(name());
            assertThat(view.isHeld()).isTrue();
            assertThat(view.waiters()).isEmpty();
            assertThat(view.holders()).singleElement().satisfies(holder -> {
                assertThat(holder.demand()).isEqualTo(Demand.exclusive());
                assertThat(holder.token()).hasValue(lease.token());
                assertThat(holder.origin()).hasValueSatisfying(origin -> {
                    assertThat(origin.client()).isEqualTo(holding.name());
                    assertThat(origin.pid()).isEqualTo(ProcessHandle.current().pid());
                    assertThat(origin.host()).isNotBlank();
                    assertThat(origin.thread()).isEqualTo(Thread.currentThread().getName());
                });
                holder.timeLeft()
                        .ifPresent(left -> assertThat(left)
                                .isPositive()
                                .isLessThanOrEqualTo(longTtl().plusSeconds(1)));
                // The store's clock may differ from ours, but not by hours on a test machine.
                holder.since()
                        .ifPresent(since -> assertThat(
                                        Duration.between(since, Instant.now()).abs())
                                .isLessThan(Duration.ofHours(1)));
            });
        }
    }

    @Test
    void aHolderIsShownWithItsNoteAndTheLocksItsUnitOfWorkHeldHoweverLongTheTextIs() throws Exception {
        Holdfast holding = client(tap(), builder -> builder.name("\ud83d\udd12 | ".repeat(100)));
        String note = "\u00e4|\n".repeat(16);
        List<Lease> leases = new ArrayList<>();
        for (String held : List.of("plain", "a, b | c%\n\u65e5\u672c", "x".repeat(300))) {
            leases.add(holding.lock(name(held), longLived().withNote(note)).acquire());
        }
        leases.add(holding.lock(name(), longLived().withNote(note)).acquire());

        Origin shown = view(name()).holders().get(0).origin().orElseThrow();

        assertThat(shown.client()).startsWith("\ud83d\udd12 ");
        assertThat(shown.pid()).isEqualTo(ProcessHandle.current().pid());
        assertThat(shown.note()).hasValueSatisfying(text -> assertThat(text).startsWith("\u00e4"));
        assertThat(shown.holds()).startsWith(name("a, b | c%\n\u65e5\u672c"), name("plain"));
        leases.forEach(Lease::release);
    }

    @Test
    void aDeadlockOfTwoClientsIsFound() throws Exception {
        assumeQueueing();
        List<Holdfast> clients = List.of(client(), client());
        List<Lease> held = new ArrayList<>();
        List<CompletableFuture<Lease>> waiting = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            held.add(clients.get(i)
                    .lock(name("circle/" + i), longLived().withNote("work"))
                    .acquire());
        }
        assertThat(Deadlocks.find(client().locks(name("circle/")))).isEmpty();
        for (int i = 0; i < 2; i++) {
            waiting.add(clients.get(i)
                    .lock(name("circle/" + (1 - i)), longLived().withNote("work"))
                    .acquireAsync());
            awaitWaiters(name("circle/" + (1 - i)), 1);
        }

        List<Deadlock> found = Deadlocks.find(client().locks(name("circle/")));

        assertThat(found).singleElement().satisfies(deadlock -> {
            assertThat(deadlock.locks()).containsExactlyInAnyOrder(name("circle/0"), name("circle/1"));
            assertThat(deadlock.waits())
                    .extracting(wait -> wait.waiter().origin().orElseThrow().client())
                    .containsExactlyInAnyOrder(
                            clients.get(0).name(), clients.get(1).name());
        });
        held.forEach(Lease::release);
        for (CompletableFuture<Lease> future : waiting) {
            get(future).release();
        }
        assertThat(Deadlocks.find(client().locks(name("circle/")))).isEmpty();
    }

    @Test
    void waitersAreShownInOrder() throws Exception {
        assumeQueueing();
        Holdfast first = client();
        Holdfast second = client();
        Lease holder = client().lock(name(), longLived()).acquire();
        CompletableFuture<Lease> one =
                first.lock(name(), longLived().withFairness(Fairness.FIFO)).acquireAsync();
        awaitWaiters(name(), 1);
        CompletableFuture<Lease> two =
                second.lock(name(), longLived().withFairness(Fairness.FIFO)).acquireAsync();
        awaitWaiters(name(), 2);

        assertThat(view(name()).waiters())
                .extracting(waiter -> waiter.origin().orElseThrow().client())
                .containsExactly(first.name(), second.name());
        assertThat(view(name()).waiters()).extracting(Waiter::demand).containsOnly(Demand.exclusive());
        holder.release();
        get(one).release();
        get(two).release();
    }

    @Test
    void readersAndPermitsAreShownWithTheirDemand() throws Exception {
        assumeSupports(Demand.shared());
        assumeSupports(Demand.permits(2, 5));
        DistributedReadWriteLock lock = client().readWriteLock(name());
        Lease reader = lock.readLock().acquire();
        Lease otherReader = client().readWriteLock(name()).readLock().acquire();
        Lease permits = client().semaphore(name("permits"), 5).permits(2).acquire();

        assertThat(view(name()).holders()).hasSize(2).extracting(Holder::demand).containsOnly(Demand.shared());
        assertThat(view(name()).holders())
                .extracting(Holder::token)
                .containsExactlyInAnyOrder(Optional.of(reader.token()), Optional.of(otherReader.token()));
        assertThat(view(name("permits")).holders()).extracting(Holder::demand).containsExactly(Demand.permits(2, 5));
        reader.release();
        otherReader.release();
        permits.release();
    }

    @Test
    void locksAreListedByPrefixInOrderOfName() throws Exception {
        Holdfast client = client();
        Lease b = client.lock(name("list/b")).acquire();
        Lease a = client.lock(name("list/a")).acquire();
        Lease other = client.lock(name("other")).acquire();

        assertThat(client().locks(name("list/")))
                .extracting(LockView::name)
                .containsExactly(name("list/a"), name("list/b"));
        assertThat(client().locks(name("list/a")).get(0).holders())
                .extracting(Holder::token)
                .containsExactly(Optional.of(a.token()));
        a.release();
        b.release();
        other.release();
        assertThat(client().locks(name(""))).isEmpty();
    }

    @Test
    void aListingComesInPagesThatTogetherHaveEveryLockOnce() throws Exception {
        List<String> names = namesOf("paged/", 11);
        try (MultiLease all = client().lockAll(names, longLived()).acquire();
                Lease other = client().lock(name("other"), longLived()).acquire()) {
            DirectStore direct = direct();
            for (int limit : List.of(1, 4, 11, 100)) {
                assertThat(pages(direct, name("paged/"), limit).stream()
                                .flatMap(page -> page.locks().stream())
                                .map(LockView::name))
                        .as("in pages of at most %d", limit)
                        .containsExactlyInAnyOrderElementsOf(names);
            }
            assertThat(pages(direct, name("nothing/"), 4))
                    .flatExtracting(LockStore.Page::locks)
                    .isEmpty();
            assertThat(all.isValid()).isTrue();
            assertThat(other.isValid()).isTrue();
        }
    }

    /** Asks for page after page, none longer than the limit. */
    private static List<LockStore.Page> pages(DirectStore direct, String prefix, int limit) {
        List<LockStore.Page> pages = new ArrayList<>();
        Optional<String> next = Optional.empty();
        do {
            LockStore.Page page = direct.views(prefix, next, limit);
            assertThat(page.locks()).hasSizeLessThanOrEqualTo(limit);
            pages.add(page);
            next = page.next();
        } while (next.isPresent());
        return pages;
    }

    @Test
    void aListingHasEveryLockThatStaysThoughOthersComeAndGoBetweenItsPages() throws Exception {
        List<String> staying = namesOf("stays/", 10);
        List<String> going = namesOf("stays/goes-", 10);
        try (MultiLease all = client().lockAll(staying, longLived()).acquire()) {
            MultiLease some = client().lockAll(going, longLived()).acquire();
            DirectStore direct = direct();

            LockStore.Page first = direct.views(name("stays/"), Optional.empty(), 5);
            some.release();
            List<String> listed =
                    new ArrayList<>(first.locks().stream().map(LockView::name).toList());
            for (Optional<String> next = first.next(); next.isPresent(); ) {
                LockStore.Page page = direct.views(name("stays/"), next, 5);
                page.locks().forEach(view -> listed.add(view.name()));
                next = page.next();
            }

            assertThat(listed).containsAll(staying);
            assertThat(all.isValid()).isTrue();
        }
    }

    private List<String> namesOf(String prefix, int number) {
        return IntStream.range(0, number)
                .mapToObj(i -> name(prefix + (char) ('a' + i)))
                .toList();
    }

    @Test
    void aListingShowsWaitersAndTokensAsASingleLookDoes() throws Exception {
        try (Lease held = client().lock(name(), longLived()).acquire()) {
            CompletableFuture<Lease> waiter = client().lock(name(), longLived()).acquireAsync();
            if (traits().queues()) {
                awaitWaiters(name(), 1);
            }

            LockView listed = client().locks(name()).get(0);

            assertThat(listed.holders()).extracting(Holder::token).containsExactly(Optional.of(held.token()));
            assertThat(listed.waiters()).hasSize(view(name()).waiters().size());
            waiter.cancel(true);
        }
    }

    @Test
    void lookingChangesNothing() throws Exception {
        Holdfast watching = client();
        try (Lease lease = client().lock(name(), renewed()).acquire()) {
            for (int i = 0; i < 20; i++) {
                watching.lock(name()).inspect();
                watching.locks(name());
            }
            assertThat(lease.isValid()).isTrue();
            assertThat(watching.lock(name()).tryAcquire()).isEmpty();
        }
        awaitFree(name());
    }

    @Test
    void aForcedReleaseLetsTheNextWaiterInAndTellsTheHolder() throws Exception {
        assumeCan(AdministeredStore.class, "release by force");
        CompletableFuture<io.holdfast.Loss> told = new CompletableFuture<>();
        Lease robbed = client().lock(name(), renewed()).acquire();
        robbed.onLost(told::complete);
        CompletableFuture<Lease> waiter = client().lock(name(), longLived()).acquireAsync();

        assertThat(client().administration().forceRelease(name())).isEqualTo(1);

        try (Lease next = get(waiter)) {
            assertThat(get(told).token()).isEqualTo(robbed.token());
            assertThat(robbed.isValid()).isFalse();
            assertThat(next.isValid()).isTrue();
        }
        assertThat(client().administration().forceRelease(name()))
                .as("of a free lock")
                .isZero();
    }
}
