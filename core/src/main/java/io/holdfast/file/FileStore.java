package io.holdfast.file;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import io.holdfast.LockException;
import io.holdfast.LockView;
import io.holdfast.LossReason;
import io.holdfast.StoreUnavailableException;
import io.holdfast.file.Entry.State;
import io.holdfast.spi.AdministeredStore;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.DowngradingStore;
import io.holdfast.spi.Refusal;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.StoreTraits;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TimeSource;
import io.holdfast.spi.TokenRaisingStore;
import io.holdfast.spi.Withdrawal;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Keeps each lock in a file of a directory and excludes the processes of one machine from each other; no server.
 *
 * <p>A killed process frees its locks at once, a stopped one when their ttl is over. How that works is told in
 * {@link LockFile}. Thread-safe. Clients in one JVM may share a directory.
 */
public final class FileStore implements DowngradingStore, AdministeredStore, TokenRaisingStore {

    private static final System.Logger LOG = System.getLogger(FileStore.class.getName());
    /** What an error is about that is not about one lock. */
    private static final String ALL_LOCKS = "*";

    /** Other processes that want the lock keep its guard for a moment; for longer than this, only one that is stopped. */
    private static final long SURELY_STOPPED_NANOS = 1_000_000_000L;

    private final Path path;
    private final DirectoryReader reader;
    private final TimeSource time;
    private final HolderWatch holders;
    private final TicketPoller poller;
    private final ReentrantLock opening = new ReentrantLock();
    private volatile @Nullable LockDirectory directory;
    private volatile boolean closed;

    private FileStore(Path path, StoreContext context) {
        this.path = path;
        this.reader = new DirectoryReader(path);
        this.time = context.time();
        this.holders = new HolderWatch(() -> Optional.ofNullable(directory), context);
        this.poller = new TicketPoller(context.clientName(), time, holders);
    }

    /** Locks in files of that directory, which is made, for this user alone, if it is not there. */
    public static StoreFactory in(Path directory) {
        return context -> new FileStore(directory.toAbsolutePath().normalize(), context);
    }

    @Override
    public StoreTraits traits() {
        return StoreTraits.of("file:" + path);
    }

    @Override
    public Optional<Refusal> request(Ticket ticket, Mode mode, Deadline deadline) {
        boolean brief = deadline.remainingNanos() < SURELY_STOPPED_NANOS;
        holders.add(ticket);
        boolean lives = false;
        try {
            Optional<Refusal> refusal = mode == Mode.TRY ? tryNow(ticket, deadline) : enqueue(ticket, deadline);
            lives = refusal.isEmpty();
            return refusal;
        } catch (StoreUnavailableException e) {
            if (brief && e.getCause() instanceof BusyException) {
                return Optional.of(new Refusal(e.reason()));
            }
            throw e;
        } finally {
            if (lives) {
                poller.wake();
            } else {
                holders.remove(ticket);
            }
        }
    }

    /** What is granted counts only once the file is written, so the ticket is told afterwards. */
    private Optional<Refusal> tryNow(Ticket ticket, Deadline deadline) {
        Attempt attempt = change(ticket.name(), deadline, (table, now) -> {
            ProofOfLife life = life();
            return table.tryAppend(Entry.waiting(ticket, life.id(), now), life::isDead)
                    ? new Attempt(Optional.of(table.get(table.entries().size() - 1)), Optional.empty())
                    : new Attempt(Optional.empty(), Optional.of(refusal(table, now)));
        });
        attempt.granted.ifPresent(entry -> entry.report(ticket));
        return attempt.refusal;
    }

    /** What a try came to. A change may be applied twice, and only what it returns the last time is so. */
    private record Attempt(Optional<Entry> granted, Optional<Refusal> refusal) {}

    private static Refusal refusal(Table table, long now) {
        Entry first = table.get(0);
        Optional<Duration> left = table.entries().stream()
                .filter(entry -> entry.state() != State.WAITING)
                .map(entry -> Duration.ofNanos(entry.expiresNanos() - now))
                .min(Comparator.naturalOrder());
        return new Refusal(left, "held by " + first.origin());
    }

    private Optional<Refusal> enqueue(Ticket ticket, Deadline deadline) {
        LockDirectory open = directory(ticket.name());
        LockFile file = open.borrow(ticket.name());
        try {
            file.enqueue(ticket, time, deadline);
            if (ticket.state() == Ticket.State.WAITING) {
                poller.watch(ticket, file);
            }
            return Optional.empty();
        } finally {
            open.giveBack(file);
        }
    }

    @Override
    public void renew(List<Ticket> tickets, Deadline deadline) {
        tickets.stream()
                .collect(Collectors.groupingBy(Ticket::name, LinkedHashMap::new, Collectors.toList()))
                .forEach((name, sameLock) -> {
                    try {
                        extend(name, sameLock, Ticket::ttl, deadline);
                    } catch (LockException e) {
                        sameLock.forEach(ticket -> ticket.failing(e));
                    }
                });
    }

    @Override
    public void extend(Ticket ticket, Duration ttl, Deadline deadline) {
        extend(ticket.name(), List.of(ticket), any -> ttl, deadline);
    }

    /** The tickets are told once the file is written. */
    private void extend(String name, List<Ticket> sameLock, Function<Ticket, Duration> ttl, Deadline deadline) {
        List<Runnable> reports = change(
                name,
                deadline,
                (table, now) -> sameLock.stream()
                        .map(ticket -> extend(table, ticket, ttl.apply(ticket), now))
                        .toList());
        reports.forEach(Runnable::run);
    }

    private Runnable extend(Table table, Ticket ticket, Duration ttl, long now) {
        OptionalInt at = table.find(ticket.owner());
        if (at.isEmpty()) {
            return () -> {
                holders.remove(ticket);
                ticket.gone(
                        LossReason.GONE,
                        "its entry is not in the lock's file any more: it expired or was released by force");
            };
        }
        Entry extended = table.get(at.getAsInt()).extended(now, ttl.toNanos());
        table.replace(at.getAsInt(), extended);
        return () -> extended.report(ticket);
    }

    @Override
    public ReleaseAnswer release(Ticket ticket, Duration linger, Deadline deadline) {
        // First, so that it is not taken for released by force.
        holders.remove(ticket);
        return change(ticket.name(), deadline, (table, now) -> {
            OptionalInt at = table.find(ticket.owner());
            if (at.isEmpty() || !table.get(at.getAsInt()).isHeldBy(ticket.owner())) {
                return ReleaseAnswer.NOT_HELD;
            }
            if (linger.isZero() || linger.isNegative()) {
                table.remove(at.getAsInt());
            } else {
                table.replace(at.getAsInt(), table.get(at.getAsInt()).lingering(now, linger.toNanos()));
            }
            return ReleaseAnswer.RELEASED;
        });
    }

    @Override
    public Withdrawal withdraw(Ticket ticket, Deadline deadline) {
        holders.remove(ticket);
        LockDirectory open = directory(ticket.name());
        LockFile file = open.borrow(ticket.name());
        try {
            file.forget(ticket.owner());
            return file.change(time, deadline, (table, now) -> {
                OptionalInt at = table.find(ticket.owner());
                at.ifPresent(table::remove);
                return at.isPresent() ? Withdrawal.REMOVED : Withdrawal.NOT_FOUND;
            });
        } finally {
            open.giveBack(file);
        }
    }

    @Override
    public void downgrade(Ticket exclusive, Deadline deadline) {
        boolean done = change(exclusive.name(), deadline, (table, now) -> {
            OptionalInt at = table.find(exclusive.owner());
            if (at.isEmpty() || !table.get(at.getAsInt()).isHeldBy(exclusive.owner())) {
                return false;
            }
            table.replace(at.getAsInt(), table.get(at.getAsInt()).shared());
            return true;
        });
        if (done) {
            exclusive.downgraded();
        } else {
            exclusive.gone(LossReason.GONE, "its entry is not in the lock's file any more");
        }
    }

    @Override
    public LockView view(String name, Deadline deadline) {
        if (Files.notExists(path.resolve(FileNames.of(name)), NOFOLLOW_LINKS)) {
            return LockView.free(name);
        }
        if (mayOnlyRead()) {
            try {
                return reader.view(name, time.nanoTime());
            } catch (IOException e) {
                throw unavailable(name, e);
            }
        }
        return change(name, deadline, (table, now) -> {
            table.removeIf(life()::isDead);
            table.letIn(life()::isDead);
            return table.view(name, now);
        });
    }

    @Override
    public Page views(String prefix, Optional<String> after, int limit, Deadline deadline) {
        List<LockView> views = new ArrayList<>();
        for (String lock : locks(prefix)) {
            if (after.isPresent() && lock.compareTo(after.get()) <= 0) {
                continue;
            }
            if (views.size() == limit) {
                return new Page(views, Optional.of(views.get(limit - 1).name()));
            }
            viewUnlessCorrupt(lock, deadline).ifPresent(views::add);
        }
        return new Page(views, Optional.empty());
    }

    /** Empty if it is free. One bad file shall not hide all others. */
    private Optional<LockView> viewUnlessCorrupt(String lock, Deadline deadline) {
        try {
            return Optional.of(view(lock, deadline))
                    .filter(view -> view.isHeld() || !view.waiters().isEmpty());
        } catch (StoreUnavailableException e) {
            if (!(e.getCause() instanceof CorruptFileException)) {
                throw e;
            }
            LOG.log(System.Logger.Level.WARNING, e.getMessage());
            return Optional.empty();
        }
    }

    @Override
    public void ping(Deadline deadline) {
        directory(ALL_LOCKS);
    }

    @Override
    public int forceRelease(String name, Deadline deadline) {
        int released = change(name, deadline, (table, now) -> {
            int before = table.entries().size();
            table.removeIf(entry -> entry.state() != State.WAITING);
            return before - table.entries().size();
        });
        if (released > 0) {
            try {
                directory(name).announceForce(time, deadline);
            } catch (IOException e) {
                // Done it is; the holders find out at their next renewal.
                LOG.log(System.Logger.Level.WARNING, "holders of '" + name + "' could not be told at once", e);
            }
        }
        return released;
    }

    @Override
    public int prune(Duration idleFor, Deadline deadline) {
        LockDirectory open = directory(ALL_LOCKS);
        try {
            List<String> dead = open.life().dead();
            int pruned = 0;
            boolean sawAll = true;
            for (String lock : open.locks("")) {
                LockFile file = open.borrow(lock);
                try {
                    pruned += file.removeIfIdle(idleFor, time, deadline) ? 1 : 0;
                } catch (StoreUnavailableException e) {
                    sawAll = false;
                    LOG.log(System.Logger.Level.WARNING, "not pruned: " + e.getMessage());
                } finally {
                    open.giveBack(file);
                }
            }
            if (sawAll) {
                open.bury(dead);
            }
            return pruned;
        } catch (IOException e) {
            throw unavailable(ALL_LOCKS, e);
        }
    }

    @Override
    public void raise(String name, long floor, Deadline deadline) {
        change(name, deadline, (table, now) -> {
            table.raise(floor);
            return table;
        });
    }

    @Override
    public void close() {
        opening.lock();
        try {
            LockDirectory open = directory;
            if (closed) {
                return;
            }
            closed = true;
            poller.close();
            if (open != null) {
                open.close();
            }
        } catch (IOException e) {
            LOG.log(System.Logger.Level.WARNING, "closing " + path, e);
        } finally {
            opening.unlock();
        }
    }

    private <T> T change(String name, Deadline deadline, LockFile.Change<T> change) {
        LockDirectory open = directory(name);
        LockFile file = open.borrow(name);
        try {
            return file.change(time, deadline, change);
        } finally {
            open.giveBack(file);
        }
    }

    private boolean mayOnlyRead() {
        return directory == null && !Files.isWritable(path);
    }

    private static List<String> sorted(List<String> names) {
        return names.stream().sorted().toList();
    }

    private List<String> locks(String prefix) {
        try {
            if (mayOnlyRead()) {
                return sorted(reader.locks(prefix));
            }
            // A look does not make the files that only locks need.
            return directory == null && !reader.hasLocks()
                    ? List.of()
                    : sorted(directory(ALL_LOCKS).locks(prefix));
        } catch (IOException e) {
            throw unavailable(ALL_LOCKS, e);
        }
    }

    private ProofOfLife life() {
        return directory(ALL_LOCKS).life();
    }

    private LockDirectory directory(String name) {
        LockDirectory open = directory;
        if (open != null && !closed) {
            return open;
        }
        opening.lock();
        try {
            if (closed) {
                throw new StoreUnavailableException(name, "its client is closed");
            }
            LockDirectory opened = directory;
            if (opened == null) {
                opened = LockDirectory.open(path);
                holders.begin(opened);
                directory = opened;
            }
            return opened;
        } catch (IOException e) {
            throw unavailable(name, e);
        } finally {
            opening.unlock();
        }
    }

    private StoreUnavailableException unavailable(String name, IOException e) {
        String what;
        if (e instanceof AccessDeniedException) {
            what = "no permission to use " + e.getMessage();
        } else if (e instanceof FileAlreadyExistsException || e instanceof NotDirectoryException) {
            what = e.getMessage() + " is not a directory";
        } else if (e instanceof NoSuchFileException) {
            what = e.getMessage() + " cannot be made or is gone";
        } else {
            what = e.getMessage() == null ? e.toString() : e.getMessage();
        }
        return new StoreUnavailableException(name, "the lock directory " + path + " cannot be used: " + what, e);
    }
}
