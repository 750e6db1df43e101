package io.holdfast.file;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/**
 * How processes see that another one is dead: each keeps a byte of a file of its own locked, which the kernel unlocks
 * when the process ends, however it ends.
 *
 * <p>The file is {@code .life-<JVM>-<copy>}, and its channel is opened here, once, and closed when the last client of
 * the directory is. Nobody else in this JVM ever opens it, for closing a second descriptor would drop the lock: whoever
 * carries this JVM's number is taken for alive unasked, be it of another class loader. Thread-safe.
 */
final class ProofOfLife {

    private static final String PREFIX = ".life-";
    /** Begins with the process id, for people. */
    private static final String JVM = thisJvm();

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
    private final FileChannel own;
    /** Of other processes, to be asked again soon; closing one of them drops nothing of ours. */
    private final Map<String, FileChannel> others = new LinkedHashMap<>(16, 0.75f, true);

    private final ReentrantLock mutex = new ReentrantLock();

    private ProofOfLife(Path directory, String id, FileChannel own) {
        this.directory = directory;
        this.id = id;
        this.own = own;
    }

    static ProofOfLife begin(Path directory, FileModes modes) throws IOException {
        while (true) {
            String id = JVM + "-" + random();
            Path file = file(directory, id);
            FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
            lock(channel, file);
            // Somebody clearing away the dead may have taken it for one before it was locked.
            if (Files.exists(file)) {
                modes.apply(file);
                return new ProofOfLife(directory, id, channel);
            }
            channel.close();
        }
    }

    private static void lock(FileChannel channel, Path file) throws IOException {
        for (int i = 0; i < LOCK_TRIES; i++) {
            if (ByteLocks.attempt(channel, ByteLocks.Mode.EXCLUSIVE).isPresent()) {
                return;
            }
            Thread.onSpinWait();
        }
        channel.close();
        throw new IOException(file + " cannot be locked");
    }

    String id() {
        return id;
    }

    boolean isLost() {
        return !own.isOpen() || !Files.exists(file(directory, id));
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
            FileChannel channel = others.get(life);
            if (channel == null) {
                channel = FileChannel.open(file(directory, life), StandardOpenOption.READ);
                others.put(life, channel);
                closeEldest();
            }
            Optional<FileLock> taken = ByteLocks.attempt(channel, ByteLocks.Mode.SHARED);
            if (taken.isEmpty()) {
                return Verdict.ALIVE;
            }
            taken.get().release();
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
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            if (ByteLocks.attempt(channel, ByteLocks.Mode.SHARED).isPresent()) {
                Files.deleteIfExists(file);
            }
        } catch (NoSuchFileException e) {
            // Somebody else was quicker.
        }
    }

    /** Entries that still carry this proof are left to their ttl: without the file nobody can tell more. */
    void end() throws IOException {
        mutex.lock();
        try {
            Files.deleteIfExists(file(directory, id));
            own.close();
            for (FileChannel channel : others.values()) {
                channel.close();
            }
            others.clear();
        } finally {
            mutex.unlock();
        }
    }

    private void closeEldest() throws IOException {
        if (others.size() > MAX_OPEN) {
            Iterator<FileChannel> eldest = others.values().iterator();
            eldest.next().close();
            eldest.remove();
        }
    }

    static Path file(Path directory, String id) {
        return directory.resolve(PREFIX + id);
    }

    private static String random() {
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
