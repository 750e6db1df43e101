package io.holdfast.file;

import static io.holdfast.file.ByteLocks.Mode.EXCLUSIVE;
import static io.holdfast.file.ByteLocks.Mode.SHARED;

import io.holdfast.spi.Deadline;
import io.holdfast.spi.TimeSource;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.FileLock;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A directory of lock files as this JVM uses it: one object for all clients, so that a file is open once.
 *
 * <p>Lock files appear and vanish only under the directory's own guard, a locked byte of {@code .holdfast}; they appear
 * whole, by renaming. Thread-safe.
 */
final class LockDirectory {

    private static final System.Logger LOG = System.getLogger(FileStore.class.getName());

    /** A lock file is kept open for the next use, but thousands of locks shall not use up the file descriptors. */
    private static final int MAX_OPEN = 128;

    private static final int EVICTION_LOOKS = 4;

    private static final Duration CLOSE_PATIENCE = Duration.ofMillis(100);
    private static final String OWN_FILE = ".holdfast";
    private static final String UNFINISHED = ".new-";

    /** By real path. The only static state: closing a file in one client must not unlock it in another. */
    private static final Map<Path, LockDirectory> DIRECTORIES = new HashMap<>();

    private static final ReentrantLock DIRECTORIES_MUTEX = new ReentrantLock();

    private final Path path;
    private final FileModes modes;
    private final String boot;
    private final RandomAccessFile ownFile;
    /** Re-entrant, as the guard is: prune opens files while it has it. */
    private final ReentrantLock guardMutex = new ReentrantLock();

    private final ReentrantLock mutex = new ReentrantLock();
    /** Least lately used first. Guarded by {@link #mutex}. */
    private final Map<String, LockFile> files = new LinkedHashMap<>(16, 0.75f, true);

    private volatile ProofOfLife life;
    /** Guarded by {@link #DIRECTORIES_MUTEX}. */
    private int clients;

    private LockDirectory(Path path) throws IOException {
        this.path = path;
        this.modes = FileModes.of(path);
        this.boot = Machine.boot();
        Path own = path.resolve(OWN_FILE);
        boolean isNew = Files.notExists(own);
        this.ownFile = new RandomAccessFile(own.toFile(), "rw");
        if (isNew) {
            modes.apply(own);
        }
        this.life = ProofOfLife.begin(path, modes);
    }

    /** Makes the directory if it is not there. To be closed as often as it is opened. */
    static LockDirectory open(Path directory) throws IOException {
        DIRECTORIES_MUTEX.lock();
        try {
            FileModes.createDirectory(directory);
            Path real = directory.toRealPath();
            LockDirectory open = DIRECTORIES.get(real);
            if (open == null) {
                Machine.requireLocal(real);
                open = new LockDirectory(real);
                DIRECTORIES.put(real, open);
            }
            open.clients++;
            return open;
        } finally {
            DIRECTORIES_MUTEX.unlock();
        }
    }

    void close(TimeSource time) throws IOException {
        DIRECTORIES_MUTEX.lock();
        try {
            if (--clients > 0) {
                return;
            }
            DIRECTORIES.remove(path);
            for (LockFile file : takeFiles()) {
                file.closeForGood(time, Deadline.after(time, CLOSE_PATIENCE));
            }
            life.end();
            ownFile.close();
        } finally {
            DIRECTORIES_MUTEX.unlock();
        }
    }

    private List<LockFile> takeFiles() {
        mutex.lock();
        try {
            List<LockFile> all = List.copyOf(files.values());
            files.clear();
            return all;
        } finally {
            mutex.unlock();
        }
    }

    Path path() {
        return path;
    }

    String boot() {
        return boot;
    }

    ProofOfLife life() {
        return life;
    }

    /** If somebody swept the directory by hand, the proof has to begin anew. */
    void renewLife() throws IOException {
        mutex.lock();
        try {
            if (life.isLost()) {
                life = ProofOfLife.begin(path, modes);
            }
        } finally {
            mutex.unlock();
        }
    }

    /** To be given back. */
    LockFile borrow(String lock) {
        mutex.lock();
        try {
            LockFile file = files.computeIfAbsent(lock, name -> new LockFile(this, name));
            file.borrowers++;
            return file;
        } finally {
            mutex.unlock();
        }
    }

    void giveBack(LockFile file) {
        mutex.lock();
        try {
            file.borrowers--;
            if (files.size() > MAX_OPEN) {
                closeEldest();
            }
        } finally {
            mutex.unlock();
        }
    }

    private void closeEldest() {
        List<LockFile> inUse = new ArrayList<>();
        Iterator<LockFile> eldest = files.values().iterator();
        for (int looks = 0; looks < EVICTION_LOOKS && files.size() > MAX_OPEN && eldest.hasNext(); looks++) {
            LockFile candidate = eldest.next();
            if (candidate.borrowers == 0 && candidate.closeIfIdle()) {
                eldest.remove();
            } else {
                inUse.add(candidate);
            }
        }
        // To the other end, so that the next look finds others.
        inUse.forEach(used -> files.get(used.lock()));
    }

    /** The file of a lock, made if it is not there. Only under the guard of the directory. */
    RandomAccessFile openFile(Path file, LockFileFormat format) throws IOException {
        if (Files.notExists(file)) {
            Path unfinished = path.resolve(
                    UNFINISHED + life.id() + "-" + Thread.currentThread().getId());
            Files.write(unfinished, format.fresh());
            modes.apply(unfinished);
            Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE);
        }
        return new RandomAccessFile(file.toFile(), "rw");
    }

    /** Something to be done while no other process adds or removes files. */
    @FunctionalInterface
    interface Task<T> {
        T run() throws IOException;
    }

    <T> T guarded(TimeSource time, Deadline deadline, Task<T> task) throws IOException {
        if (!ByteLocks.take(guardMutex, deadline)) {
            throw busy();
        }
        try {
            if (guardMutex.getHoldCount() > 1) {
                return task.run();
            }
            Optional<FileLock> guard = ByteLocks.take(ownFile.getChannel(), EXCLUSIVE, time, deadline);
            if (guard.isEmpty()) {
                throw busy();
            }
            try {
                return task.run();
            } finally {
                guard.get().release();
            }
        } finally {
            guardMutex.unlock();
        }
    }

    private IOException busy() {
        return new BusyException("another process kept " + path + " to itself until the deadline; is one stopped?");
    }

    /** Tells all clients of the directory that some lock was taken from its holders. */
    void announceForce(TimeSource time, Deadline deadline) throws IOException {
        guarded(time, deadline, () -> {
            long before = forces();
            ownFile.seek(0);
            ownFile.writeLong(before + 1);
            return before;
        });
    }

    /** How often that has happened, unless the directory is busy right now. */
    OptionalLong lookForForces() throws IOException {
        if (!guardMutex.tryLock()) {
            return OptionalLong.empty();
        }
        try {
            return OptionalLong.of(forces());
        } finally {
            guardMutex.unlock();
        }
    }

    private long forces() throws IOException {
        ownFile.seek(0);
        return ownFile.length() < Long.BYTES ? 0 : ownFile.readLong();
    }

    /** The locks that have a file and a name that begins so, in no order. */
    List<String> locks(String prefix) throws IOException {
        List<String> locks = new ArrayList<>();
        try (DirectoryStream<Path> found = Files.newDirectoryStream(path)) {
            for (Path file : found) {
                String fileName = file.getFileName().toString();
                if (FileNames.isLockFile(fileName)) {
                    FileNames.lockOf(fileName)
                            .or(() -> nameIn(file))
                            .filter(lock -> lock.startsWith(prefix))
                            .ifPresent(locks::add);
                }
            }
        }
        return locks;
    }

    /** The name inside a file whose own is too long to tell. */
    private Optional<String> nameIn(Path file) {
        mutex.lock();
        try {
            for (LockFile open : files.values()) {
                if (open.path().equals(file)) {
                    return Optional.of(open.lock());
                }
            }
            // No client of ours has it open, and none can while we have the mutex; the lock keeps out other copies of
            // this
            // class in the JVM, whose guard closing would drop.
            try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "r")) {
                TimeSource time = TimeSource.system();
                ByteLocks.take(bytes.getChannel(), SHARED, time, Deadline.after(time, CLOSE_PATIENCE));
                String lock = LockFileFormat.lockIn(bytes, file);
                return FileNames.of(lock).equals(file.getFileName().toString()) ? Optional.of(lock) : Optional.empty();
            }
        } catch (IOException e) {
            LOG.log(System.Logger.Level.WARNING, "cannot tell which lock " + file + " belongs to: it is left out", e);
            return Optional.empty();
        } finally {
            mutex.unlock();
        }
    }

    /** Removes what dead processes left, after all lock files were gone through without them. */
    void bury(List<String> dead) throws IOException {
        for (String proof : dead) {
            try (DirectoryStream<Path> unfinished = Files.newDirectoryStream(path, UNFINISHED + proof + "-*")) {
                for (Path file : unfinished) {
                    Files.deleteIfExists(file);
                }
            }
            life.bury(proof);
        }
    }
}
