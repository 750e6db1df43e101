package io.holdfast.file;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import io.holdfast.LockException;
import io.holdfast.StoreUnavailableException;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.file.Entry.State;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TimeSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * One lock's file as this JVM uses it: its table, changed by one process at a time, and the JVM's own waiters for it.
 *
 * <p>Thread-safe.
 */
final class LockFile {

    /*
     * How processes share a lock file.
     *
     * The table (tickets in order of arrival, holders among them, the last token) is what counts. A thread that changes it
     * takes first the mutex, which keeps out the threads of this JVM, then the guard, a locked byte of the file, which keeps
     * out other processes. Under the guard: read the table, drop what has expired, apply the change, let in who is next
     * and write. So a release hands the lock on in the same step. Waiting processes only read, without the
     * guard: a table that adds up was current a moment ago, and one that does not is read again under the guard. (When
     * every waiter took the guard at every change, fifty waiting processes kept the one that wanted to release from it.)
     *
     * POSIX locks belong to a process, not to a descriptor. Two consequences shape everything here:
     *
     *   1. They never conflict within the process, so threads need the mutex. (Java adds a check of its own: a second
     *      lock on the same byte from anywhere in the JVM, another class loader included, is an
     *      OverlappingFileLockException. We read it as "taken".)
     *   2. Closing ANY descriptor of a file drops ALL locks of the process on it. An earlier plan kept a locked byte per
     *      holder in the lock file itself. Then no file of a held lock could ever be closed: 10,000 leases, 10,000
     *      descriptors. So what must stay locked for long, the proof that a process lives, is in a file of its own per
     *      JVM and copy of this class (see ProofOfLife), which no one else in the JVM opens. In a lock file only the
     *      guard is ever locked, for microseconds, and OpenFile, the only one to open and close files here, closes none
     *      while another copy in the JVM has its guard.
     *
     * Who still holds. An entry ends when it is removed, when its ttl has passed, or when its process is dead, whichever
     * comes first. Its times are nanoTime, which all processes of one boot share; entries of an earlier boot are dead.
     *
     *   - Holder killed: the kernel unlocks its proof of life; the first waiter to look (every 0.1 to 20 ms) drops it.
     *   - Holder stopped: its proof stays locked, its ttl runs out at the time in the table, and it is dropped then.
     *     base and expiry are one reading of the clock, taken under the guard just before writing, so when it runs
     *     again its own deadline (base + ttl - margin) has passed before the entry could have been dropped. Its next
     *     renewal finds no entry: Gone. It never brings one back.
     *   - Stopped under the guard: no other process changes this table until it goes on or is killed; requests fail at their
     *     deadline. What it decided before the stop is still right afterwards, for nothing moved meanwhile, and what it
     *     grants late counts from times read early.
     *   - Waiter killed after it was let in, before it noticed: it is a holder like any other and its death frees it.
     *   - Killed between writing the new table and the head that makes it current: the old table stands, and no one
     *     has had an answer. After the head: the change stands, and entries of the dead are dropped as above.
     *
     * Making and removing files. A lock file is made under a name nobody can guess and then linked to its own: it
     * appears whole, and of two who make one the second fails and uses the first's. (When it was renamed instead, the
     * second replaced the file in which the first held the lock.) It is unlinked by who has its guard, if nothing is in
     * it. Another process may have opened it just before and wait for the guard; after getting it each compares the inode
     * at the path with the one it opened (an open inode's number is not given to another file) and, if they differ,
     * opens anew.
     *
     * Opening, making and unlinking happen under the directory's guard as well, a locked byte of .holdfast. It is there
     * for one thing: the JDK tells the inode at a path, not that of a descriptor. OpenFile asks for the inode before and
     * after opening; without the guard the file could be unlinked and made anew twice in between, and the second time
     * get the number it had at first. Should .holdfast be deleted, the process that gets its guard sees that it is not in
     * place and makes a new one. Until then two may be at work in the directory, and nothing but that is at stake.
     */

    private static final System.Logger LOG = System.getLogger(FileStore.class.getName());

    /** The poller looks again soon, so it need not wait long for the guard. */
    private static final Duration LOOK_PATIENCE = Duration.ofMillis(100);

    /** A file that is busy is not idle, and while prune waits for its guard nobody opens another file of the directory. */
    private static final Duration PRUNE_PATIENCE = Duration.ofMillis(100);

    private final LockDirectory directory;
    private final String lock;
    private final Path path;
    private final LockFileFormat format;

    private final Predicate<Entry> isDead;

    /** How many are about to use it. Guarded by the directory's mutex. */
    int borrowers;

    private final ReentrantLock mutex = new ReentrantLock();
    // All below is guarded by the mutex.
    private @Nullable OpenFile file;
    /** The table as we last read or wrote it. */
    private @Nullable Table known;

    private boolean hasWritten;
    /** The table's number when a look last found an entry to be dropped. */
    private OptionalLong untidySince = OptionalLong.empty();

    private final LocalWaiters waiters = new LocalWaiters();

    /** A change of the table. What it leaves is written if it differs. May be applied twice, so it changes nothing else. */
    @FunctionalInterface
    interface Change<T> {
        T apply(Table table, long nowNanos);
    }

    LockFile(LockDirectory directory, String lock) {
        this.directory = directory;
        this.lock = lock;
        this.path = directory.path().resolve(FileNames.of(lock));
        this.format = new LockFileFormat(path, lock, directory.boot());
        this.isDead = entry -> directory.life().isDead(entry);
    }

    String lock() {
        return lock;
    }

    Path path() {
        return path;
    }

    /** Reads, drops the expired, applies, lets in who is next, writes, and tells our waiters. */
    <T> T change(TimeSource time, Deadline deadline, Change<T> change) {
        takeMutex(deadline);
        try {
            if (file == null) {
                open(time, deadline);
            }
            Optional<T> nothingChanged = rehearse(time.nanoTime(), change);
            if (nothingChanged.isPresent()) {
                return nothingChanged.get();
            }
            takeGuard(time, deadline);
            T result;
            try {
                result = changeGuarded(time.nanoTime(), change);
            } finally {
                releaseGuard();
            }
            Table table = known;
            if (table != null) {
                waiters.tell(table);
            }
            return result;
        } catch (IOException e) {
            throw unavailable(e);
        } finally {
            mutex.unlock();
        }
    }

    /**
     * The result if there is nothing to write, so that a look needs no guard. A change does it all again under
     * the guard, and quickly: by now its classes are loaded and its lambdas linked, which takes a new JVM milliseconds.
     * (When fifty processes started at once on two cores and did that under the guard, the last ones waited for it beyond
     * their deadlines. So between taking and releasing it there is also no equals of a record and no method reference of
     * its own, both linked at first use.)
     */
    private <T> Optional<T> rehearse(long nowNanos, Change<T> change) throws IOException {
        if (!readUnguarded()) {
            return Optional.empty();
        }
        Table copy = Objects.requireNonNull(known).copy();
        copy.expire(nowNanos);
        T result = change.apply(copy, nowNanos);
        copy.letIn(isDead);
        if (!copy.isChanged()) {
            return Optional.of(result);
        }
        if (!hasWritten) {
            format.update(copy.written());
        }
        return Optional.empty();
    }

    private <T> T changeGuarded(long nowNanos, Change<T> change) throws IOException {
        OpenFile bytes = Objects.requireNonNull(file);
        Table before = known;
        known = null;
        LockFileFormat.Content content = format.read(bytes, before);
        Table table = content.sameBoot() ? content.table() : afterBoot(content.table(), nowNanos);
        table.expire(nowNanos);
        T result = change.apply(table, nowNanos);
        table.letIn(isDead);
        if (table.isChanged()) {
            Table next = table.written();
            LockFileFormat.Update update = format.update(next);
            update.write(bytes);
            try {
                update.flip(bytes);
            } catch (IOException e) {
                throw new UnknownOutcomeException(lock, "writing " + path + " failed halfway: " + e.getMessage(), e);
            }
            table = next;
            hasWritten = true;
        }
        known = table;
        return result;
    }

    /** All processes of an earlier boot are dead, and its clock has stopped: what lingers begins anew, for longer at worst. */
    private Table afterBoot(Table old, long nowNanos) throws IOException {
        for (Entry entry : old.entries()) {
            if (entry.needsLife() && directory.life().of(entry.life()) == ProofOfLife.Verdict.ALIVE) {
                throw new IOException(path + " has entries of another boot whose process lives (" + entry.origin()
                        + "): is the directory shared between machines?");
            }
        }
        Table now = new Table(old.generation(), old.lastToken(), old.entries());
        now.removeIf(Entry::needsLife);
        for (int i = 0; i < now.entries().size(); i++) {
            now.replace(i, now.get(i).startedAt(nowNanos, now.get(i).ttlNanos()));
        }
        return now;
    }

    /** Takes the lock if no entry is ahead, else a place in the queue; reports that to the ticket, and what becomes of it later. */
    void enqueue(Ticket ticket, TimeSource time, Deadline deadline) {
        takeMutex(deadline);
        try {
            Entry entry = change(time, deadline, (table, now) -> {
                table.append(Entry.waiting(ticket, directory.life().id(), now));
                table.letIn(isDead);
                return table.get(table.entries().size() - 1);
            });
            entry.report(ticket);
            if (entry.state() == State.WAITING) {
                waiters.add(ticket);
            }
        } finally {
            mutex.unlock();
        }
    }

    /** That ticket is not reported to any more. */
    void forget(OwnerId owner) {
        mutex.lock();
        try {
            waiters.forget(owner);
        } finally {
            mutex.unlock();
        }
    }

    /**
     * What a look found.
     *
     * @param moved whether looking paid
     * @param ahead how many wait ahead of the first of our waiters
     */
    record Look(boolean moved, int ahead) {}

    /** Looks whether it is the turn of one of our waiters; takes the guard only if something may have moved. */
    Look look(TimeSource time) {
        if (!mutex.tryLock()) {
            return new Look(false, 0);
        }
        try {
            if (waiters.isEmpty()) {
                return new Look(false, Integer.MAX_VALUE);
            }
            Table before = known;
            if (!readUnguarded() || isForUsToTidy(time.nanoTime())) {
                change(time, Deadline.after(time, LOOK_PATIENCE), (table, now) -> table);
            }
            Table now = known;
            return new Look(now != before, now == null ? 0 : waiters.firstPosition(now));
        } catch (IOException | LockException e) {
            if (e.getCause() instanceof BusyException) {
                return new Look(false, 0);
            }
            // The acquisitions ask again, and that request fails with what is wrong.
            waiters.loseAll(String.valueOf(e.getMessage()));
            return new Look(true, 0);
        } finally {
            mutex.unlock();
        }
    }

    /** Whether it could. If not, it is half a change by another process or a bad file: a read under the guard tells which. */
    private boolean readUnguarded() throws IOException {
        OpenFile bytes = file;
        if (bytes == null) {
            return false;
        }
        try {
            LockFileFormat.Content content = format.read(bytes, known);
            if (!content.sameBoot() || !bytes.isInPlace()) {
                return false;
            }
            if (content.table() != known) {
                known = content.table();
                waiters.tell(content.table());
            }
            return true;
        } catch (CorruptFileException e) {
            return false;
        }
    }

    /** Whether an entry is to be dropped, and by us: the first waiter does it at once, others if it is still there at their next look. */
    private boolean isForUsToTidy(long nowNanos) {
        Table table = Objects.requireNonNull(known);
        ProofOfLife life = directory.life();
        boolean untidy = table.entries().stream()
                .anyMatch(entry -> entry.isExpired(nowNanos) || (entry.state() == State.HELD && life.isDead(entry)));
        boolean again = untidySince.equals(OptionalLong.of(table.generation()));
        untidySince = untidy ? OptionalLong.of(table.generation()) : OptionalLong.empty();
        return untidy && (again || waiters.firstPosition(table) == 0);
    }

    /** Unlinks the file if nothing was in it for that long. Fails soon if it is busy. */
    boolean removeIfIdle(Duration idleFor, TimeSource time, Deadline deadline) {
        Deadline soon = deadline.within(PRUNE_PATIENCE);
        takeMutex(soon);
        try {
            return directory.guarded(time, soon, () -> {
                if (Files.notExists(path, NOFOLLOW_LINKS)) {
                    return false;
                }
                takeGuard(time, soon);
                try {
                    FileTime lastChange = Files.getLastModifiedTime(path, NOFOLLOW_LINKS);
                    changeGuarded(time.nanoTime(), (table, now) -> table.removeIf(isDead));
                    if (!isIdle(lastChange, idleFor)) {
                        return false;
                    }
                    Files.delete(path);
                    closeFile();
                    return true;
                } finally {
                    releaseGuard();
                }
            });
        } catch (IOException e) {
            throw unavailable(e);
        } finally {
            mutex.unlock();
        }
    }

    /** A token ahead of the clock could not be carried over by the clock, so its file stays. */
    private boolean isIdle(FileTime lastChange, Duration idleFor) {
        Table table = Objects.requireNonNull(known);
        Instant limit = Instant.now().minus(idleFor);
        return table.entries().isEmpty()
                && waiters.isEmpty()
                && table.lastToken() < Table.clockMicros()
                && !lastChange.toInstant().isAfter(limit);
    }

    /** Gives the descriptor back, unless the file is in use. */
    boolean closeIfIdle() {
        if (!mutex.tryLock()) {
            return false;
        }
        try {
            if (!waiters.isEmpty() || (file != null && !file.tryClose())) {
                return false;
            }
            closeFile();
            return true;
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, "closing " + path, e);
            return false;
        } finally {
            mutex.unlock();
        }
    }

    void closeForGood() {
        mutex.lock();
        try {
            waiters.forgetAll();
            closeFile();
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, "closing " + path, e);
        } finally {
            mutex.unlock();
        }
    }

    private void takeMutex(Deadline deadline) {
        if (!UntilDeadline.lock(mutex, deadline)) {
            throw unavailable(busy());
        }
    }

    private void takeGuard(TimeSource time, Deadline deadline) throws IOException {
        if (!UntilDeadline.attempt(time, deadline, () -> tryGuard(time, deadline))) {
            throw busy();
        }
    }

    private boolean tryGuard(TimeSource time, Deadline deadline) throws IOException {
        if (file == null) {
            open(time, deadline);
        }
        OpenFile open = Objects.requireNonNull(file);
        if (!open.tryGuard()) {
            return false;
        }
        boolean inPlace = false;
        try {
            inPlace = open.isInPlace();
            return inPlace;
        } finally {
            if (!inPlace) {
                // Unlinked while we waited.
                closeFile();
                directory.renewLife();
            }
        }
    }

    private void open(TimeSource time, Deadline deadline) throws IOException {
        format.reset();
        byte[] fresh = format.fresh();
        file = directory.guarded(time, deadline, () -> directory.openOrMake(path, fresh));
    }

    private void closeFile() throws IOException {
        OpenFile open = file;
        file = null;
        known = null;
        if (open != null) {
            open.close();
        }
    }

    private void releaseGuard() throws IOException {
        OpenFile open = file;
        if (open != null) {
            open.releaseGuard();
            if (!open.isOpen()) {
                closeFile();
            }
        }
    }

    private IOException busy() {
        return new BusyException("another process kept the guard of " + path + " until the deadline; is one stopped?");
    }

    private StoreUnavailableException unavailable(IOException e) {
        if (e instanceof CorruptFileException) {
            return new StoreUnavailableException(
                    lock,
                    e.getMessage() + ". Who holds the lock cannot be told, so nobody is granted it. Make sure that no"
                            + " process uses it, then delete the file",
                    e);
        }
        return new StoreUnavailableException(lock, e instanceof BusyException ? e.getMessage() : e.toString(), e);
    }
}
