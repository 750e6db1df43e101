package io.holdfast.file;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/**
 * How processes see that another one is dead: each keeps a byte of a file of its own locked, which the kernel unlocks
 * when the process ends, however it ends.
 *
 * <p>The file is {@code .life-<JVM>-<copy>}, and it is opened here, once, and closed when the last client of
 * the directory is. Nobody else in this JVM ever opens it, for closing a second descriptor would drop the lock: whoever
 * carries this JVM's number is taken for alive unasked, be it of another class loader. Thread-safe.
 */
final class ProofOfLife {

    private static final String PREFIX = ".life-";
    /** Begins with the process id, for people. */
    private static final String JVM = thisJvm();

    /**
     * Nobody reads it. But whoever wrote a file once has all classes for it loaded, which takes a new JVM milliseconds
     * that it had better not spend under the guard of a lock.
     */
    private static final byte[] CONTENT = {'\n'};

    private static final int LOCK_TRIES = 1_000;
    private static final int MAX_OPEN = 64;

    enum Verdict {
        ALIVE,
        DEAD,
        /** No file, or none we may read: only its ttl ends it. */
        UNKNOWN
    }

    private final Path directory;
    private final String id;
    private final OpenFile own;
    /** Of other processes, to be asked again soon; closing one of them drops nothing of ours. */
    private final Map<String, OpenFile> others = new LinkedHashMap<>(16, 0.75f, true);

    private final ReentrantLock mutex = new ReentrantLock();

    private ProofOfLife(Path directory, String id, OpenFile own) {
        this.directory = directory;
        this.id = id;
        this.own = own;
    }

    static ProofOfLife begin(Path directory, FileModes modes) throws IOException {
        while (true) {
            String id = JVM + "-" + random();
            Path file = file(directory, id);
            try {
                OpenFile.create(file, modes, CONTENT);
                OpenFile own = OpenFile.open(file, OpenFile.Access.READ_WRITE);
                lock(own, file);
                if (own.isInPlace()) {
                    return new ProofOfLife(directory, id, own);
                }
                own.close();
            } catch (NoSuchFileException e) {
                if (Files.notExists(directory)) {
                    throw e;
                }
                // As when it is not in place: somebody clearing away the dead took it for one before it was locked.
            } catch (IOException e) {
                // On a full disk an empty file can be made, at every try another.
                Files.deleteIfExists(file);
                throw e;
            }
        }
    }

    private static void lock(OpenFile own, Path file) throws IOException {
        for (int i = 0; i < LOCK_TRIES; i++) {
            if (own.tryGuard()) {
                return;
            }
            Thread.onSpinWait();
        }
        own.close();
        throw new IOException(file + " cannot be locked");
    }

    String id() {
        return id;
    }

    boolean isLost() {
        return !own.isOpen() || !Files.exists(file(directory, id), NOFOLLOW_LINKS);
    }

    boolean isDead(Entry entry) {
        return entry.needsLife() && of(entry.life()) == Verdict.DEAD;
    }

    Verdict of(String life) {
        if (life.startsWith(JVM + "-")) {
            return Verdict.ALIVE;
        }
        mutex.lock();
        try {
            OpenFile other = others.get(life);
            if (other == null) {
                other = OpenFile.open(file(directory, life), OpenFile.Access.READ);
                others.put(life, other);
                closeEldest();
            }
            if (!other.tryGuard()) {
                return Verdict.ALIVE;
            }
            other.releaseGuard();
            return Verdict.DEAD;
        } catch (IOException e) {
            // Wrongly dead would grant twice, wrongly alive only waits for the ttl.
            return Verdict.UNKNOWN;
        } finally {
            mutex.unlock();
        }
    }

    /** Proofs of processes that are no more. */
    List<String> dead() throws IOException {
        List<String> dead = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, PREFIX + "*")) {
            for (Path file : files) {
                String life = file.getFileName().toString().substring(PREFIX.length());
                if (of(life) == Verdict.DEAD) {
                    dead.add(life);
                }
            }
        }
        return dead;
    }

    /** Removes one, unless it came to life: a process locks its file only after it made it. */
    void bury(String life) throws IOException {
        Path file = file(directory, life);
        try {
            OpenFile dead = OpenFile.open(file, OpenFile.Access.READ);
            try {
                if (dead.tryGuard()) {
                    Files.deleteIfExists(file);
                }
            } finally {
                dead.close();
            }
        } catch (NoSuchFileException e) {
            // Another process removed it first.
        }
    }

    /** Entries that still carry this proof are left to their ttl: without the file nobody can tell more. */
    void end() throws IOException {
        mutex.lock();
        try {
            Files.deleteIfExists(file(directory, id));
            own.close();
            for (OpenFile other : others.values()) {
                other.close();
            }
            others.clear();
        } finally {
            mutex.unlock();
        }
    }

    private void closeEldest() throws IOException {
        if (others.size() > MAX_OPEN) {
            Iterator<OpenFile> eldest = others.values().iterator();
            eldest.next().close();
            eldest.remove();
        }
    }

    static Path file(Path directory, String id) {
        return directory.resolve(PREFIX + id);
    }

    /** For names that nobody can guess. */
    static String random() {
        byte[] bits = new byte[8];
        new SecureRandom().nextBytes(bits);
        return HexFormat.of().formatHex(bits);
    }

    /**
     * The same for all copies of this class in one JVM, so it is kept where all of them look. One that came from another
     * process, which hands its properties on to those it starts, is not ours.
     */
    private static String thisJvm() {
        String pid = ProcessHandle.current().pid() + ".";
        return String.valueOf(System.getProperties()
                .compute(
                        "io.holdfast.jvm",
                        (key, known) -> known instanceof String jvm && jvm.startsWith(pid) ? jvm : pid + random()));
    }
}
