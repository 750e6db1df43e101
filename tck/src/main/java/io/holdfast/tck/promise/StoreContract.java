package io.holdfast.tck.promise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.Demand;
import io.holdfast.Holdfast;
import io.holdfast.HoldfastBuilder;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import io.holdfast.LockView;
import io.holdfast.UnsupportedLockException;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.StoreTraits;
import io.holdfast.spi.Tokens;
import io.holdfast.tck.Faults;
import io.holdfast.tck.Mortal;
import io.holdfast.tck.StoreUnderTest;
import io.holdfast.tck.tap.StoreTap;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.awaitility.core.ConditionFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/**
 * What all contracts share: clients that are closed after the test, names nobody else uses, times taken from the store,
 * and the check that a test left nothing behind.
 */
@Timeout(120)
abstract class StoreContract {

    /** What a busy machine may add to the times of the promise. */
    static final Duration SLACK = Duration.ofSeconds(8);

    /** What a quiet machine may add, in tests that run alone. */
    private static final Duration QUIET_SLACK = Duration.ofSeconds(2);

    /** For leases that must not expire during a test. */
    private static final Duration LONG_TTL = Duration.ofSeconds(10);

    private final String run = "tck-" + UUID.randomUUID().toString().substring(0, 8);
    private final Deque<Holdfast> clients = new ArrayDeque<>();
    private final Deque<Mortal> mortals = new ArrayDeque<>();
    private @Nullable ExecutorService threads;
    private final StoreTap mainTap = new StoreTap(context -> subject().store().open(context));
    private int clientNumber;

    protected abstract StoreUnderTest subject();

    @BeforeEach
    void openMainClient() {
        client(mainTap);
    }

    // Names and times

    /** A lock name of this test alone. */
    String name(String suffix) {
        return run + "-" + suffix;
    }

    String name() {
        return name("lock");
    }

    /** A ttl that passes soon. */
    Duration shortTtl() {
        return atLeastMinimum(subject().shortTtl());
    }

    /** A ttl in which a few renewals are seen soon, and which a machine keeps that stalls for two thirds of it. */
    Duration renewedTtl() {
        Duration ttl = Duration.ofSeconds(3);
        return ttl.compareTo(shortTtl()) < 0 ? shortTtl() : ttl;
    }

    /** A ttl that does not pass during a test. */
    Duration longTtl() {
        return atMost(LONG_TTL);
    }

    /** A ttl so long that whatever happens well before its end was not brought about by the clock. */
    Duration veryLongTtl() {
        return atMost(LONG_TTL.multipliedBy(6));
    }

    private Duration atMost(Duration ttl) {
        Duration longest = traits().maxTtl();
        return atLeastMinimum(ttl.compareTo(longest) < 0 ? ttl : longest);
    }

    private Duration atLeastMinimum(Duration ttl) {
        Duration shortest = traits().minTtl();
        return ttl.compareTo(shortest) < 0 ? shortest : ttl;
    }

    /** For whatever should happen at once. */
    Duration patience() {
        return subject().patience();
    }

    /** A wait that will be in vain: soon over, yet long enough for a busy server to answer an open connection. */
    Duration briefly() {
        return Duration.ofSeconds(1);
    }

    /** For leases that nobody renews, or that may be lost. */
    LockOptions shortLived() {
        return LockOptions.defaults().withTtl(shortTtl());
    }

    /** For leases that must outlive their ttl. */
    LockOptions renewed() {
        return LockOptions.defaults().withTtl(renewedTtl());
    }

    LockOptions longLived() {
        return LockOptions.defaults().withTtl(longTtl());
    }

    /** Until a dead holder's lock must have passed on. For tests that run alone. */
    Duration passingOn() {
        return shortTtl().plus(traits().minMargin()).plusSeconds(1).plus(QUIET_SLACK);
    }

    // Clients

    StoreTap tap() {
        return new StoreTap(subject().store());
    }

    /** Between the store and the client that neither holds nor waits. */
    StoreTap mainTap() {
        return mainTap;
    }

    Holdfast client() {
        return client(tap());
    }

    Holdfast client(StoreFactory store) {
        return client(store, builder -> builder);
    }

    Holdfast client(StoreFactory store, java.util.function.UnaryOperator<HoldfastBuilder> settings) {
        HoldfastBuilder builder = Holdfast.builder()
                .store(store)
                .name(run + "-client-" + ++clientNumber)
                .defaults(LockOptions.defaults().withTtl(LONG_TTL));
        Holdfast client = settings.apply(builder).connect();
        clients.push(client);
        return client;
    }

    /** Its clients are made with a short close timeout: nobody waits for the dead. */
    Mortal mortal() {
        Mortal mortal = subject().mortal();
        mortals.push(mortal);
        return mortal;
    }

    Holdfast client(Mortal mortal) {
        return client(mortal.store(), builder -> builder.closeTimeout(Duration.ofMillis(300)));
    }

    /** The store of a client of its own, without the engine. */
    DirectStore direct() {
        StoreTap tap = tap();
        client(tap);
        return new DirectStore(tap);
    }

    // What the store can do

    StoreTraits traits() {
        return mainTap.opened().traits();
    }

    boolean isInstance(Class<?> ability) {
        return ability.isInstance(mainTap.opened());
    }

    void assumeQueueing() {
        assumeTrue(traits().queues(), () -> "the " + traits().store() + " store cannot queue");
    }

    void assumeCan(Class<?> ability, String what) {
        assumeTrue(isInstance(ability), () -> "the " + traits().store() + " store cannot " + what);
    }

    void assumeSupports(Demand demand) {
        assumeTrue(traits().supports(demand), () -> "the " + traits().store() + " store cannot hold " + demand);
    }

    /** Those the store supports; a lock, and several at once, it always does. */
    List<Kind> supportedKinds() {
        return Arrays.stream(Kind.values())
                .filter(kind -> traits().supports(kind.needs()))
                .toList();
    }

    void assumeLingers() {
        assumeTrue(traits().lingers(), () -> "the " + traits().store() + " store cannot keep a released lock taken");
    }

    /** Extends beyond the ttl, or skips the test on a store that refuses that. */
    void extendBeyondTtl(Lease lease) {
        try {
            lease.extend(longTtl());
        } catch (UnsupportedLockException e) {
            assumeTrue(false, e.getMessage());
        }
    }

    // Other threads

    <T> Future<T> fork(Callable<T> work) {
        if (threads == null) {
            threads = Executors.newCachedThreadPool(task -> {
                Thread thread = new Thread(task, run + "-thread");
                thread.setDaemon(true);
                return thread;
            });
        }
        return threads.submit(work);
    }

    /** The result of another thread's work, which should be there soon. */
    <T> T get(Future<T> future) throws Exception {
        try {
            return future.get(patience().toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw new AssertionError("still not done after " + patience(), e);
        }
    }

    // Views

    /** As users see it, through a client that neither holds nor waits. */
    LockView view(String name) {
        return Tokens.ofUsers(mainTap.opened().view(name, new DirectStore(mainTap).deadline()));
    }

    ConditionFactory soon() {
        return await().atMost(patience()).pollInterval(Duration.ofMillis(2));
    }

    void awaitWaiters(String name, int number) {
        soon().untilAsserted(() ->
                assertThat(view(name).waiters()).as("waiters of '%s'", name).hasSize(number));
    }

    /** Nobody holds it and nobody waits for it, at once or as soon as background work is done. */
    void awaitFree(String name) {
        soon().untilAsserted(() -> assertThat(view(name)).isEqualTo(LockView.free(name)));
    }

    @AfterEach
    void nothingIsLeftBehind() {
        subject().faults().ifPresent(Faults::heal);
        mortals.forEach(Mortal::revive);
        try {
            clients.forEach(Holdfast::close);
            try (Holdfast fresh = Holdfast.builder()
                    .store(subject().store())
                    .name(run + "-last")
                    .connect()) {
                await("P8: nothing of the test's locks is left")
                        .atMost(patience())
                        .pollInterval(Duration.ofMillis(5))
                        .untilAsserted(() -> assertThat(fresh.locks(run)).isEmpty());
            }
        } finally {
            if (threads != null) {
                threads.shutdownNow();
            }
        }
    }
}
