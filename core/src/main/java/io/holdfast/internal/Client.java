package io.holdfast.internal;

import io.holdfast.Demand;
import io.holdfast.DistributedLock;
import io.holdfast.DistributedReadWriteLock;
import io.holdfast.DistributedSemaphore;
import io.holdfast.Election;
import io.holdfast.Holdfast;
import io.holdfast.LockAdministration;
import io.holdfast.LockOptions;
import io.holdfast.LockView;
import io.holdfast.LockView.Origin;
import io.holdfast.Loss;
import io.holdfast.LossReason;
import io.holdfast.MultiLock;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.Request;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TimeSource;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A client of one store: wires the engine together and lends its parts to each other. Thread-safe. */
public final class Client implements Holdfast {

    private static final Logger LOG = System.getLogger(Client.class.getName());

    private enum Life {
        OPEN,
        CLOSING,
        CLOSED
    }

    /** How often close looks whether the errands are done. */
    private static final long CLOSE_CHECK_NANOS = Duration.ofMillis(2).toNanos();

    private final Settings settings;
    private final OwnerId.Source owners = new OwnerId.Source();
    private final String host = Settings.host();
    private final long pid = ProcessHandle.current().pid();
    private final AtomicReference<Life> life = new AtomicReference<>(Life.OPEN);
    private final LockSites sites;
    private final Deadline never;
    private final LeakWatch leaks = new LeakWatch();
    private final Set<Acquisition> waits = ConcurrentHashMap.newKeySet();
    private final LongAdder requestsUnderWay = new LongAdder();
    private final EarlyLosses earlyLosses = new EarlyLosses();
    private final List<ExecutorService> ownExecutors;
    private final Executor tasks;
    private final Executor callbacks;
    private final Executor lossCallbacks;
    private final ClientTimer timer;
    private final Lanes lanes;
    private final LockStore store;
    private final Validity validity;
    private final Keeper keeper;
    private final Errands errands;
    private final Events events;

    public Client(Settings settings) {
        this.settings = settings;
        this.sites = new LockSites(settings.time());
        this.never = Deadline.never(settings.time());
        String threads = "holdfast-" + settings.clientName() + "-";
        ExecutorService ownTasks = Executors.forTasks(threads + "task");
        ExecutorService ownCallbacks = Executors.forCallbacks(threads + "callback");
        // Apart, so that continuations of futures that block do not keep the news of a loss waiting.
        ExecutorService ownLossCallbacks = Executors.forCallbacks(threads + "loss");
        // Apart too: what keeps locks alive does not queue behind requests that hang, nor behind the user's own work.
        ExecutorService ownBackground = Executors.forTasks(threads + "store");
        this.ownExecutors = List.of(ownTasks, ownCallbacks, ownLossCallbacks, ownBackground);
        this.timer = new ClientTimer(settings.time(), threads + "timer");
        Executor users = settings.executor().orElse(null);
        this.tasks = new Handover(users, ownTasks, timer, settings.time());
        this.callbacks = new Handover(users, ownCallbacks, timer, settings.time());
        this.lossCallbacks = new Handover(users, ownLossCallbacks, timer, settings.time());
        this.events = new Events(settings.listeners(), callbacks);
        this.lanes = new Lanes(threads);
        this.store = open(new Handover(null, ownBackground, timer, settings.time()));
        this.validity = new Validity(store.traits().minMargin());
        this.keeper = new Keeper(store, settings.time(), timer, lanes, settings.requestTimeout(), leaks::report);
        this.errands = new Errands(store, settings.time(), timer, lanes, settings.requestTimeout());
    }

    private LockStore open(Executor background) {
        try {
            return settings.store()
                    .open(new StoreContext(
                            owners.client(), settings.clientName(), settings.time(), timer, background, this::lost));
        } catch (RuntimeException e) {
            stopThreads();
            throw e;
        }
    }

    @Override
    public String name() {
        return settings.clientName();
    }

    @Override
    public DistributedLock lock(String name) {
        return lock(name, settings.defaults());
    }

    @Override
    public DistributedLock lock(String name, LockOptions options) {
        return new LockHandle(this, terms(name, Demand.exclusive(), options));
    }

    @Override
    public DistributedReadWriteLock readWriteLock(String name) {
        return readWriteLock(name, settings.defaults());
    }

    @Override
    public DistributedReadWriteLock readWriteLock(String name, LockOptions options) {
        return new ReadWriteHandle(this, terms(name, Demand.shared(), options));
    }

    @Override
    public DistributedSemaphore semaphore(String name, int permits) {
        return semaphore(name, permits, settings.defaults());
    }

    @Override
    public DistributedSemaphore semaphore(String name, int permits, LockOptions options) {
        return new SemaphoreHandle(this, terms(name, Demand.permits(1, permits), options), permits);
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
                .sorted((a, b) ->
                        Arrays.compareUnsigned(a.getBytes(StandardCharsets.UTF_8), b.getBytes(StandardCharsets.UTF_8)))
                .map(name -> new LockHandle(this, terms(name, Demand.exclusive(), options)))
                .toList();
        return new MultiLockHandle(this, locks);
    }

    @Override
    public Election election(String name) {
        return election(name, settings.defaults());
    }

    @Override
    public Election election(String name, LockOptions options) {
        return new ElectionHandle(this, new LockHandle(this, terms(name, Demand.exclusive(), options)));
    }

    @Override
    public List<LockView> locks(String prefix) {
        requireOpen(prefix);
        return store.views(prefix, requestDeadline());
    }

    @Override
    public LockAdministration administration() {
        return new StoreAdministration(this);
    }

    @Override
    public void close() {
        if (!life.compareAndSet(Life.OPEN, Life.CLOSING)) {
            return;
        }
        Deadline deadline = Deadline.after(settings.time(), settings.closeTimeout());
        boolean interrupted = Thread.interrupted();
        waits.forEach(Acquisition::wake);
        endHoldings();
        while (!isQuiet() && !deadline.hasPassed()) {
            // Real time, also under a test's clock: other threads need it to finish.
            LockSupport.parkNanos(this, CLOSE_CHECK_NANOS);
            interrupted |= Thread.interrupted();
            endHoldings();
        }
        life.set(Life.CLOSED);
        while (requestsUnderWay.sum() != 0 && !deadline.hasPassed()) {
            // Who began before that hands its outcome to the executors: they must still be there. See callBack.
            LockSupport.parkNanos(this, CLOSE_CHECK_NANOS);
            interrupted |= Thread.interrupted();
        }
        try {
            store.close();
        } finally {
            stopThreads();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void endHoldings() {
        for (Kept claim : keeper.all()) {
            if (claim instanceof Holding holding) {
                holding.closeWithClient();
            }
        }
    }

    private boolean isQuiet() {
        return waits.isEmpty() && requestsUnderWay.sum() == 0 && keeper.isEmpty() && errands.isIdle();
    }

    @Override
    public String toString() {
        return "Holdfast[" + settings.clientName() + ", " + store.traits().store() + "]";
    }

    boolean isClosed() {
        return life.get() != Life.OPEN;
    }

    void requireOpen(String lockName) {
        if (isClosed()) {
            throw closed(lockName);
        }
    }

    IllegalStateException closed(String lockName) {
        return new IllegalStateException("Holdfast client '" + settings.clientName() + "' is closed, so lock '"
                + lockName + "' cannot be had through it");
    }

    /** Around every request that may end in a grant: close waits for it, and so no grant slips past it. */
    void beginRequest() {
        requestsUnderWay.increment();
    }

    void endRequest() {
        requestsUnderWay.decrement();
    }

    Settings settings() {
        return settings;
    }

    TimeSource time() {
        return settings.time();
    }

    LockStore store() {
        return store;
    }

    Keeper keeper() {
        return keeper;
    }

    Errands errands() {
        return errands;
    }

    Events events() {
        return events;
    }

    LeakWatch leaks() {
        return leaks;
    }

    Validity validity() {
        return validity;
    }

    ClientTimer timer() {
        return timer;
    }

    Executor tasks() {
        return tasks;
    }

    /** Acquisitions that wait, so that close can end them. */
    Set<Acquisition> waits() {
        return waits;
    }

    LockSites sites() {
        return sites;
    }

    Request newRequest(LockTerms terms) {
        Origin origin = new Origin(
                settings.clientName(), host, pid, Thread.currentThread().getName());
        return new Request(
                terms.name(), owners.next(), terms.demand(), terms.options().ttl(), origin);
    }

    /** For those who wait as long as it takes. */
    Deadline never() {
        return never;
    }

    Deadline requestDeadline() {
        return requestDeadline(time().nanoTime());
    }

    Deadline requestDeadline(long nowNanos) {
        return Deadline.after(time(), nowNanos, settings.requestTimeout());
    }

    /** The caller's deadline, or the request timeout if that is sooner. */
    Deadline requestDeadline(Deadline callers, long nowNanos) {
        return callers.within(settings.requestTimeout(), nowNanos);
    }

    /** A third of the ttl after the base, less up to a tenth of that, so that leases of one moment spread out. */
    long renewalDue(long baseNanos, Duration ttl) {
        long period = ttl.toNanos() / 3;
        return baseNanos + period - (long) (ThreadLocalRandom.current().nextDouble() * period / 10);
    }

    LockView view(String name) {
        requireOpen(name);
        return store.view(name, requestDeadline());
    }

    <T extends @Nullable Object> void callBack(Consumer<T> callback, T argument) {
        callBack(callbacks, callback, argument);
    }

    void tellLoss(Consumer<Loss> callback, Loss loss) {
        callBack(lossCallbacks, callback, loss);
    }

    /*
     * A pool that is shut down at the very moment something is handed to it may neither run nor refuse it, as ForkJoinPool does.
     * So close() shuts the pools down only when nobody is between beginRequest and endRequest who began before the client was
     * closed; and who begins later sees that, and calls back here and now.
     */
    private <T extends @Nullable Object> void callBack(Executor way, Consumer<T> callback, T argument) {
        Runnable call = () -> {
            try {
                callback.accept(argument);
            } catch (RuntimeException | Error e) {
                LOG.log(Level.ERROR, "A callback failed on " + argument, e);
            }
        };
        if (life.get() == Life.CLOSED) {
            call.run();
            return;
        }
        try {
            way.execute(call);
        } catch (RejectedExecutionException closed) {
            call.run();
        }
    }

    void sayLongWait(String name, Duration waited) {
        errands.lookUp(name, deadline -> {
            LockView view = store.view(name, deadline);
            LOG.log(
                    Level.WARNING,
                    "A thread of client {0} has waited {1} s for lock ''{2}'', held by {3}",
                    settings.clientName(),
                    Long.toString(waited.toSeconds()),
                    name,
                    namesOf(view.holders()));
        });
    }

    private static String namesOf(List<LockView.Holder> holders) {
        return holders.isEmpty()
                ? "nobody at this moment"
                : holders.stream()
                        .map(holder -> holder.origin().map(Origin::toString).orElse("somebody else's client"))
                        .collect(Collectors.joining(", "));
    }

    private LockTerms terms(String name, Demand demand, LockOptions options) {
        requireOpen(name);
        return LockTerms.of(name, demand, options, store, sites);
    }

    private void lost(OwnerId owner, LossReason reason, String detail) {
        if (!tellKept(owner, reason, detail)) {
            // The grant may be on its way through the engine: whoever registers it looks here afterwards.
            earlyLosses.put(owner, new EarlyLosses.EarlyLoss(reason, detail));
            if (tellKept(owner, reason, detail)) {
                earlyLosses.remove(owner);
            }
        }
    }

    private boolean tellKept(OwnerId owner, LossReason reason, String detail) {
        Kept claim = keeper.find(owner);
        if (claim == null || !claim.gone(reason, detail)) {
            return false;
        }
        keeper.drop(claim);
        return true;
    }

    /** To be asked once a grant is kept: the store may have reported its loss a moment before. */
    void loseIfReportedBefore(Holding holding) {
        EarlyLosses.EarlyLoss early = earlyLosses.remove(holding.owner());
        if (early != null) {
            keeper.drop(holding);
            holding.gone(early.reason(), early.detail());
        }
    }

    private void stopThreads() {
        ownExecutors.forEach(ExecutorService::shutdown);
        lanes.stop();
        timer.stop();
    }
}
