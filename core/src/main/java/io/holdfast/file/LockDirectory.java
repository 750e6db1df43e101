package io.holdfast.file;

import io.holdfast.spi.Deadline;
import io.holdfast.spi.TimeSource;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A directory of lock files as this JVM uses it: one object for all clients, so that a file is open once.
 *
 * <p>Lock files appear and vanish only under the directory's own guard, a locked byte of {@code .holdfast}; they appear
 * whole, by linking. Thread-safe.
 */
final class LockDirectory {

    /** A lock file is kept open for the next use, but thousands of locks shall not use up the file descriptors. */
    private static final int MAX_OPEN = 128;

    private static final int EVICTION_LOOKS = 4;

    private static final String OWN_FILE = ".holdfast";
    private static final String UNFINISHED = ".new-";

    /** By real path, for all clients of this JVM that were loaded with this class. */
    private static final Map<Path, LockDirectory> DIRECTORIES = new HashMap<>();

    private static final ReentrantLock DIRECTORIES_MUTEX = new ReentrantLock();

    private final Path path;
    private final FileModes modes;
    private final String boot;
    /** Re-entrant, as the guard is: prune opens files while it has it. */
    private final ReentrantLock guardMutex = new ReentrantLock();
    // Both guarded by it.
    private @Nullable OpenFile ownFile;
    private boolean closed;

    private final ReentrantLock mutex = new ReentrantLock();
    /** Least lately used first. Guarded by {@link #mutex}. */
    private final Map<String, LockFile> files = new LinkedHashMap<>(16, 0.75f, true);

    private volatile ProofOfLife life;
    /**
     * Proofs whose files were deleted by hand. Entries carry them, and processes that had them open go on asking them.
     * Guarded by {@link #mutex}.
     */
    private final List<ProofOfLife> earlierLives = new ArrayList<>();
    /** Guarded by {@link #DIRECTORIES_MUTEX}. */
    private int clients;

    private LockDirectory(Path path) throws IOException {
        this.path = path;
        this.modes = FileModes.of(path);
        this.boot = Machine.boot();
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

    void close() throws IOException {
        DIRECTORIES_MUTEX.lock();
        try {
            if (--clients > 0) {
                return;
            }
            DIRECTORIES.remove(path);
            // First, for without it no more files are opened.
            closeOwnFile();
            takeFiles().forEach(LockFile::closeForGood);
            endLives();
        } finally {
            DIRECTORIES_MUTEX.unlock();
        }
    }

    private void closeOwnFile() throws IOException {
        guardMutex.lock();
        try {
            closed = true;
            OpenFile open = ownFile;
            ownFile = null;
            if (open != null) {
                open.close();
            }
        } finally {
            guardMutex.unlock();
        }
    }

    private void endLives() throws IOException {
        mutex.lock();
        try {
            life.end();
            for (ProofOfLife earlier : earlierLives) {
                earlier.end();
            }
        } finally {
            mutex.unlock();
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

    /** If the directory was swept or deleted by hand, the proof has to begin anew. */
    void renewLife() throws IOException {
        mutex.lock();
        try {
            if (life.isLost()) {
                FileModes.createDirectory(path);
                earlierLives.add(life);
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

    /** That file of the directory; if it is not there it appears, whole. Never in the place of another. */
    OpenFile openOrMake(Path file, byte[] content) throws IOException {
        while (true) {
            try {
                return OpenFile.open(file, OpenFile.Access.READ_WRITE);
            } catch (NoSuchFileException e) {
                make(file, content);
            }
        }
    }

    private void make(Path file, byte[] content) throws IOException {
        Path unfinished = path.resolve(UNFINISHED + life.id() + "-" + ProofOfLife.random());
        try {
            OpenFile.create(unfinished, modes, content);
            Files.createLink(file, unfinished);
        } catch (FileAlreadyExistsException e) {
            // Another process made it first; its file is used.
        } finally {
            Files.deleteIfExists(unfinished);
        }
    }

    /** Something to be done while no other process adds or removes files. */
    @FunctionalInterface
    interface Task<T> {
        T run() throws IOException;
    }

    <T> T guarded(TimeSource time, Deadline deadline, Task<T> task) throws IOException {
        if (!UntilDeadline.lock(guardMutex, deadline)) {
            throw busy();
        }
        try {
            if (guardMutex.getHoldCount() > 1) {
                return task.run();
            }
            if (!UntilDeadline.attempt(time, deadline, this::tryGuard)) {
                throw busy();
            }
            try {
                return task.run();
            } finally {
                Objects.requireNonNull(ownFile).releaseGuard();
            }
        } finally {
            guardMutex.unlock();
        }
    }

    private boolean tryGuard() throws IOException {
        OpenFile open;
        try {
            open = ownFile();
        } catch (NoSuchFileException directoryDeleted) {
            renewLife();
            return false;
        }
        if (!open.tryGuard()) {
            return false;
        }
        // If not, it was deleted, and the next process to take the guard takes that of another file.
        boolean inPlace = false;
        try {
            inPlace = open.isInPlace();
            return inPlace;
        } finally {
            if (!inPlace) {
                open.releaseGuard();
            }
        }
    }

    /** The directory's own file as it is now. Only with the guard's mutex. */
    private OpenFile ownFile() throws IOException {
        if (closed) {
            throw new IOException(path + " is closed");
        }
        OpenFile open = ownFile;
        if (open != null && open.isOpen() && open.isInPlace()) {
            return open;
        }
        ownFile = null;
        if (open != null) {
            open.close();
        }
        OpenFile opened = openOrMake(path.resolve(OWN_FILE), new byte[0]);
        ownFile = opened;
        return opened;
    }

    private IOException busy() {
        return new BusyException("another process kept " + path + " to itself until the deadline; is one stopped?");
    }

    /** Tells all clients of the directory that some lock was taken from its holders. */
    void announceForce(TimeSource time, Deadline deadline) throws IOException {
        guarded(time, deadline, () -> {
            OpenFile open = ownFile();
            long forces = forces(open) + 1;
            open.write(0, ByteBuffer.allocate(Long.BYTES).putLong(forces).array());
            return forces;
        });
    }

    /** How often that has happened, unless the directory is busy right now. */
    OptionalLong lookForForces() throws IOException {
        if (!guardMutex.tryLock()) {
            return OptionalLong.empty();
        }
        try {
            return OptionalLong.of(forces(ownFile()));
        } finally {
            guardMutex.unlock();
        }
    }

    private static long forces(OpenFile ownFile) throws IOException {
        byte[] count = new byte[Long.BYTES];
        return ownFile.read(0, count) < count.length
                ? 0
                : ByteBuffer.wrap(count).getLong();
    }

    /** The locks that have a file and a name that begins so, in no order. */
    List<String> locks(String prefix) throws IOException {
        return DirectoryReader.locks(path, prefix, this::nameIn);
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
            return DirectoryReader.nameIn(file, OpenFile.Access.READ_WRITE);
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
