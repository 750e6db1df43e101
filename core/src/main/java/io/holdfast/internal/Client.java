package io.holdfast.internal;

import io.holdfast.Demand;
import io.holdfast.DistributedLock;
import io.holdfast.DistributedReadWriteLock;
import io.holdfast.DistributedSemaphore;
import io.holdfast.Election;
import io.holdfast.Holdfast;
import io.holdfast.LockAdministration;
import io.holdfast.LockOptions;
import io.holdfast.LockPage;
import io.holdfast.LockStatistics;
import io.holdfast.LockView;
import io.holdfast.MultiLock;
import io.holdfast.internal.acquire.Acquisitions;
import io.holdfast.internal.acquire.LockSites;
import io.holdfast.internal.acquire.LockTerms;
import io.holdfast.internal.acquire.LongWaits;
import io.holdfast.internal.lease.LeakWatch;
import io.holdfast.internal.lease.Leases;
import io.holdfast.internal.lock.ElectionHandle;
import io.holdfast.internal.lock.LockHandle;
import io.holdfast.internal.lock.MultiLockHandle;
import io.holdfast.internal.lock.ReadWriteHandle;
import io.holdfast.internal.lock.ReentrantOwners;
import io.holdfast.internal.lock.SemaphoreHandle;
import io.holdfast.internal.lock.StoreAdministration;
import io.holdfast.internal.telemetry.Telemetry;
import io.holdfast.internal.ticket.Cleanup;
import io.holdfast.internal.ticket.HandoffLimits;
import io.holdfast.internal.ticket.Keeper;
import io.holdfast.internal.ticket.StoreRequests;
import io.holdfast.internal.ticket.Tickets;
import io.holdfast.internal.ticket.Views;
import io.holdfast.internal.work.Callbacks;
import io.holdfast.internal.work.ClientThreads;
import io.holdfast.internal.work.Lifecycle;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TimeSource;
import io.holdfast.spi.Validity;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** A client of one store: builds the parts of the engine from the bottom up, and ends them. Thread-safe. */
public final class Client implements Holdfast {

    /** How often close looks whether everything is settled. */
    private static final long CLOSE_CHECK_NANOS = Duration.ofMillis(2).toNanos();

    /** How many locks are listed with one request. */
    private static final int VIEWS_PER_PAGE = 500;

    private final Settings settings;
    private final Lifecycle lifecycle;
    private final ClientThreads threads;
    private final StoreRequests requests;
    private final Cleanup cleanup;
    private final Keeper keeper;
    private final Views views;
    private final Callbacks callbacks;
    private final Telemetry telemetry;
    private final Acquisitions acquisitions;
    private final LockSites sites;
    private final ReentrantOwners owners = new ReentrantOwners();

    public Client(Settings settings) {
        this.settings = settings;
        this.lifecycle = new Lifecycle(settings.clientName());
        TimeSource time = settings.time();
        OwnerId.Source ownerIds = new OwnerId.Source();
        this.threads = new ClientThreads(settings.clientName(), time);
        this.callbacks = new Callbacks(settings.executor(), threads.callbacks(), threads.lossCallbacks(), lifecycle);
        this.telemetry = new Telemetry(settings.observers(), settings.listeners(), callbacks, time);
        LockStore store = open(ownerIds.client());
        this.requests = new StoreRequests(store, time, settings.requestTimeout(), lifecycle, telemetry);
        Validity validity = new Validity(time, store.traits().minMargin());
        LeakWatch leaks = new LeakWatch();
        this.cleanup = new Cleanup(requests, time, threads.timer(), threads.servers());
        this.keeper = new Keeper(requests, time, threads.timer(), threads.servers(), callbacks, () -> {
            owners.forgetDeadThreads();
            leaks.report();
        });
        this.views = new Views(requests, keeper);
        Tickets tickets =
                new Tickets(ownerIds, settings.clientName(), Settings.host(), time, validity, keeper, cleanup);
        HandoffLimits handoff = new HandoffLimits(settings.maxHandoffs(), settings.maxHandoffTime());
        Leases leases = new Leases(time, requests, validity, handoff, callbacks, this::tasks, leaks);
        LongWaits longWaits = new LongWaits(settings.clientName(), settings.longWait(), cleanup, time);
        this.acquisitions = new Acquisitions(
                time,
                threads.timer(),
                lifecycle,
                requests,
                tickets,
                leases,
                telemetry,
                callbacks,
                this::tasks,
                longWaits);
        this.sites = new LockSites(time);
    }

    /** Never throws: what is to run there may be a release. */
    private Executor tasks(String lockName) {
        try {
            return threads.tasks(requests.server(lockName));
        } catch (RuntimeException | Error e) {
            return threads.tasks(ClientThreads.NO_SERVER);
        }
    }

    /** Tells the observers that it is there. */
    public Client connected() {
        telemetry.connected(this);
        return this;
    }

    private LockStore open(String clientId) {
        try {
            return settings.store()
                    .open(new StoreContext(
                            clientId,
                            settings.clientName(),
                            settings.time(),
                            threads.timer(),
                            threads.storeBackground()));
        } catch (Throwable e) {
            threads.stop();
            throw e;
        }
    }

    @Override
    public String name() {
        return settings.clientName();
    }

    @Override
    public String store() {
        return requests.traits().store();
    }

    @Override
    public DistributedLock lock(String name) {
        return lock(name, settings.defaults());
    }

    @Override
    public DistributedLock lock(String name, LockOptions options) {
        return handle(name, Demand.exclusive(), options);
    }

    @Override
    public DistributedReadWriteLock readWriteLock(String name) {
        return readWriteLock(name, settings.defaults());
    }

    @Override
    public DistributedReadWriteLock readWriteLock(String name, LockOptions options) {
        return new ReadWriteHandle(requests, handle(name, Demand.shared(), options));
    }

    @Override
    public DistributedSemaphore semaphore(String name, int permits) {
        return semaphore(name, permits, settings.defaults());
    }

    @Override
    public DistributedSemaphore semaphore(String name, int permits, LockOptions options) {
        return new SemaphoreHandle(acquisitions, views, terms(name, Demand.permits(1, permits), options), permits);
    }

    @Override
    public MultiLock lockAll(String... names) {
        return lockAll(Arrays.asList(names), settings.defaults());
    }

    @Override
    public MultiLock lockAll(List<String> names, LockOptions options) {
        if (names.isEmpty()) {
            throw new IllegalArgumentException("lockAll needs at least one name");
        }
        List<LockHandle> locks = names.stream()
                .distinct()
                .sorted(Comparator.comparing(name -> name.getBytes(StandardCharsets.UTF_8), Arrays::compareUnsigned))
                .map(name -> handle(name, Demand.exclusive(), options))
                .toList();
        return new MultiLockHandle(acquisitions, locks);
    }

    @Override
    public Election election(String name) {
        return election(name, settings.defaults());
    }

    @Override
    public Election election(String name, LockOptions options) {
        return new ElectionHandle(acquisitions, callbacks, handle(name, Demand.exclusive(), options));
    }

    private LockHandle handle(String name, Demand demand, LockOptions options) {
        return new LockHandle(acquisitions, views, owners, terms(name, demand, options));
    }

    private LockTerms terms(String name, Demand demand, LockOptions options) {
        lifecycle.requireOpen(name);
        return LockTerms.of(name, demand, options, requests.traits(), sites);
    }

    @Override
    public List<LockView> locks(String prefix) {
        List<LockView> all = new ArrayList<>();
        Optional<String> next = Optional.empty();
        do {
            LockStore.Page page = views.views(prefix, next, VIEWS_PER_PAGE);
            all.addAll(page.locks());
            next = page.next();
        } while (next.isPresent());
        all.sort(Comparator.comparing(LockView::name));
        return List.copyOf(all);
    }

    @Override
    public LockPage locks(String prefix, Optional<String> after, int limit) {
        LockStore.Page page = views.views(prefix, after, limit);
        return new LockPage(page.locks(), page.next());
    }

    @Override
    public LockStatistics statistics() {
        return telemetry.statistics(acquisitions.waiting(), keeper.leastShareLeft());
    }

    @Override
    public void ping(Duration maxWait) {
        requests.ping(maxWait);
    }

    @Override
    public LockAdministration administration() {
        return new StoreAdministration(requests, lifecycle);
    }

    @Override
    public void close() {
        if (!lifecycle.beginClosing()) {
            return;
        }
        Deadline deadline = Deadline.after(settings.time(), settings.closeTimeout());
        boolean interrupted = Thread.interrupted();
        try {
            acquisitions.wakeAll();
            interrupted |= awaitUntil(deadline, () -> {
                keeper.closeAll();
                return isQuiet();
            });
            lifecycle.finishClosing();
            // Who began before that hands its outcome to the executors: they must still be there. See Callbacks.
            interrupted |= awaitUntil(deadline, lifecycle::isIdle);
            requests.store().close();
        } finally {
            threads.stop();
            telemetry.closed(this);
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** In this order: an acquisition under way may still be kept, and a release under way may still need clean-up. */
    private boolean isQuiet() {
        return acquisitions.waiting() == 0
                && lifecycle.isIdle()
                && keeper.isEmpty()
                && lifecycle.isIdle()
                && cleanup.isIdle();
    }

    /** Returns whether the thread was interrupted meanwhile. */
    private boolean awaitUntil(Deadline deadline, BooleanSupplier condition) {
        boolean interrupted = false;
        while (!condition.getAsBoolean() && !deadline.hasPassed()) {
            // Real time, also under a test's clock: other threads need it to finish.
            LockSupport.parkNanos(this, CLOSE_CHECK_NANOS);
            interrupted |= Thread.interrupted();
        }
        return interrupted;
    }

    @Override
    public String toString() {
        return "Holdfast[" + settings.clientName() + ", " + requests.traits().store() + "]";
    }
}
