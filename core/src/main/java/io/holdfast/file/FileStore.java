package io.holdfast.file;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import io.holdfast.Demand;
import io.holdfast.LeaseLostException;
import io.holdfast.LockException;
import io.holdfast.LockView;
import io.holdfast.StoreUnavailableException;
import io.holdfast.file.Entry.State;
import io.holdfast.spi.AdministeredStore;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.DowngradingStore;
import io.holdfast.spi.Grant;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.QueueingStore;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.RenewalAnswer;
import io.holdfast.spi.RenewalRequest;
import io.holdfast.spi.Request;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.StoreTraits;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TicketListener;
import io.holdfast.spi.TimeSource;
import io.holdfast.spi.TokenRaisingStore;
import io.holdfast.spi.Withdrawal;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Keeps each lock in a file of a directory and excludes the processes of one machine from each other; no server.
 *
 * <p>A killed process frees its locks at once, a stopped one when their ttl is over. How that works is told in
 * {@link LockFile}. Thread-safe. Clients in one JVM may share a directory.
 */
public final class FileStore implements QueueingStore, DowngradingStore, AdministeredStore, TokenRaisingStore {

    private static final System.Logger LOG = System.getLogger(FileStore.class.getName());
    /** What an error is about that is not about one lock. */
    private static final String ALL_LOCKS = "*";

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
    public Answer attempt(Request request, Deadline deadline) {
        Answer answer = change(request.name(), deadline, (table, now) -> {
            ProofOfLife life = life();
            Entry entry = Entry.waiting(request, life.id(), now);
            if (!table.tryAppend(entry, life::isDead)) {
                return refusal(table, now);
            }
            return new Answer.Granted(table.get(table.entries().size() - 1).grant(request));
        });
        if (answer instanceof Answer.Granted granted) {
            hold(granted.grant());
        }
        return answer;
    }

    private static Answer refusal(Table table, long now) {
        Entry first = table.get(0);
        Optional<Duration> left = table.entries().stream()
                .filter(entry -> entry.state() != State.WAITING)
                .map(entry -> Duration.ofNanos(entry.expiresNanos() - now))
                .min(Comparator.naturalOrder());
        return new Answer.Refused(left, "held by " + first.origin());
    }

    @Override
    public Answer enqueue(Request request, TicketListener listener, Deadline deadline) {
        LockDirectory open = directory(request.name());
        LockFile file = open.borrow(request.name());
        poller.expect(request.owner(), file);
        boolean waits = false;
        try {
            Entry entry = file.enqueue(request, new Told(request.owner(), listener), time, deadline);
            waits = entry.state() == State.WAITING;
            if (waits) {
                poller.watch(file);
                Duration ttl = Duration.ofNanos(entry.ttlNanos());
                return new Answer.Queued(new Ticket(request, ttl, entry.expiresNanos() - entry.ttlNanos()));
            }
            Grant grant = entry.grant(request);
            hold(grant);
            return new Answer.Granted(grant);
        } finally {
            if (!waits) {
                poller.forget(request.owner());
            }
            open.giveBack(file);
        }
    }

    /** Keeps the books when a ticket ends, then passes the word on. */
    private final class Told implements TicketListener {
        private final OwnerId owner;
        private final TicketListener listener;

        Told(OwnerId owner, TicketListener listener) {
            this.owner = owner;
            this.listener = listener;
        }

        @Override
        public void granted(Grant grant) {
            poller.forget(owner);
            hold(grant);
            listener.granted(grant);
        }

        @Override
        public void lost(String reason) {
            poller.forget(owner);
            listener.lost(reason);
        }
    }

    private void hold(Grant grant) {
        holders.add(grant);
        poller.wake();
    }

    @Override
    public List<RenewalAnswer> renew(List<RenewalRequest> renewals, Deadline deadline) {
        Map<String, List<Integer>> byLock = new LinkedHashMap<>();
        for (int i = 0; i < renewals.size(); i++) {
            String name = renewals.get(i).claim().request().name();
            byLock.computeIfAbsent(name, any -> new ArrayList<>()).add(i);
        }
        RenewalAnswer[] answers = new RenewalAnswer[renewals.size()];
        byLock.forEach((name, indexes) -> {
            try {
                change(name, deadline, (table, now) -> {
                    for (int i : indexes) {
                        answers[i] = extend(table, renewals.get(i), now);
                    }
                    return table;
                });
            } catch (LockException e) {
                indexes.forEach(i -> answers[i] = new RenewalAnswer.Unsettled(e));
            }
        });
        return Arrays.asList(answers);
    }

    private RenewalAnswer extend(Table table, RenewalRequest renewal, long now) {
        OwnerId owner = renewal.claim().request().owner();
        OptionalInt at = table.find(owner);
        if (at.isEmpty()) {
            holders.remove(owner);
            return new RenewalAnswer.Gone(
                    "its entry is not in the lock's file any more: it expired or was released" + " by force");
        }
        Entry extended = table.get(at.getAsInt()).extended(now, renewal.ttl().toNanos());
        table.replace(at.getAsInt(), extended);
        holders.extend(owner, extended.expiresNanos());
        return new RenewalAnswer.Extended(now, Duration.ofNanos(extended.expiresNanos() - now));
    }

    @Override
    public ReleaseAnswer release(Grant grant, Duration linger, Deadline deadline) {
        OwnerId owner = grant.request().owner();
        // First, so that it is not taken for released by force.
        holders.remove(owner);
        return change(grant.request().name(), deadline, (table, now) -> {
            OptionalInt at = table.find(owner);
            if (at.isEmpty() || !table.get(at.getAsInt()).isHeldBy(owner)) {
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
    public Withdrawal withdraw(Request request, Deadline deadline) {
        OwnerId owner = request.owner();
        LockDirectory open = directory(request.name());
        LockFile file = open.borrow(request.name());
        try {
            // First, so that the listener stays silent even if the file cannot be had.
            file.forget(owner);
            poller.forget(owner);
            holders.remove(owner);
            return file.change(time, deadline, (table, now) -> {
                OptionalInt at = table.find(owner);
                at.ifPresent(table::remove);
                return at.isPresent() ? Withdrawal.REMOVED : Withdrawal.NOT_FOUND;
            });
        } finally {
            open.giveBack(file);
        }
    }

    @Override
    public Grant downgrade(Grant exclusive, Deadline deadline) {
        Request old = exclusive.request();
        return change(old.name(), deadline, (table, now) -> {
            OptionalInt at = table.find(old.owner());
            if (at.isEmpty() || !table.get(at.getAsInt()).isHeldBy(old.owner())) {
                throw new LeaseLostException(
                        old.name(),
                        exclusive.token() << Table.HANDOFF_BITS,
                        "its entry is not in the lock's file any more");
            }
            Entry shared = table.get(at.getAsInt()).shared();
            table.replace(at.getAsInt(), shared);
            Request request = new Request(old.name(), old.owner(), Demand.shared(), old.ttl(), old.origin());
            return shared.grant(request);
        });
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
    public List<LockView> views(String prefix, Deadline deadline) {
        List<LockView> views = new ArrayList<>();
        for (String lock : locks(prefix)) {
            try {
                LockView view = view(lock, deadline);
                if (view.isHeld() || !view.waiters().isEmpty()) {
                    views.add(view);
                }
            } catch (StoreUnavailableException e) {
                if (!(e.getCause() instanceof CorruptFileException)) {
                    throw e;
                }
                // One bad file shall not hide all others.
                LOG.log(System.Logger.Level.WARNING, e.getMessage());
            }
        }
        views.sort(Comparator.comparing(LockView::name));
        return views;
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

    private List<String> locks(String prefix) {
        try {
            if (mayOnlyRead()) {
                return reader.locks(prefix);
            }
            // Who only looks shall not make what only locks need.
            return directory == null && !reader.hasLocks()
                    ? List.of()
                    : directory(ALL_LOCKS).locks(prefix);
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
            LockDirectory opened = directory == null ? LockDirectory.open(path) : directory;
            directory = opened;
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
        } else if (e instanceof FileAlreadyExistsException) {
            what = e.getMessage() + " is not a directory";
        } else if (e instanceof NoSuchFileException) {
            what = e.getMessage() + " cannot be made or is gone";
        } else {
            what = e.getMessage() == null ? e.toString() : e.getMessage();
        }
        return new StoreUnavailableException(name, "the lock directory " + path + " cannot be used: " + what, e);
    }
}
