package io.holdfast.file;

import io.holdfast.LockView;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Looks at a lock directory that this process may only read, or that is not there, and leaves nothing in it.
 *
 * <p>To lock a file takes writing, so nobody in this process has a lock on one of its files that closing it could drop.
 * Thread-safe.
 */
final class DirectoryReader {

    private static final System.Logger LOG = System.getLogger(FileStore.class.getName());

    /** Another process may write while we read without a guard: then it is read again. */
    private static final int TRIES = 5;

    private final Path path;

    DirectoryReader(Path path) {
        this.path = path;
    }

    /** Whether there is a file of a lock, used or not. Opens none. */
    boolean hasLocks() throws IOException {
        return !lockFiles(path).isEmpty();
    }

    /** The locks that have a file and a name that begins so, in no order. */
    List<String> locks(String prefix) throws IOException {
        return locks(path, prefix, file -> nameIn(file, OpenFile.Access.READ));
    }

    /** @param nameIn tells the lock of a file whose own name is too long to tell it */
    static List<String> locks(Path directory, String prefix, Function<Path, Optional<String>> nameIn)
            throws IOException {
        List<String> locks = new ArrayList<>();
        for (Path file : lockFiles(directory)) {
            FileNames.lockOf(file.getFileName().toString())
                    .or(() -> nameIn.apply(file))
                    .filter(lock -> lock.startsWith(prefix))
                    .ifPresent(locks::add);
        }
        return locks;
    }

    LockView view(String lock, long nowNanos) throws IOException {
        Path file = path.resolve(FileNames.of(lock));
        for (int left = TRIES; ; left--) {
            try {
                LockFileFormat.Content content = read(
                        file,
                        OpenFile.Access.READ,
                        open -> new LockFileFormat(file, lock, Machine.boot()).read(open, null));
                Table table = content.table();
                table.removeIf(content.sameBoot() ? this::isDead : Entry::needsLife);
                table.expire(nowNanos);
                return table.view(lock, nowNanos);
            } catch (NoSuchFileException e) {
                return LockView.free(lock);
            } catch (CorruptFileException e) {
                if (left == 1) {
                    throw e;
                }
            }
        }
    }

    private static List<Path> lockFiles(Path path) throws IOException {
        List<Path> files = new ArrayList<>();
        try (DirectoryStream<Path> found = Files.newDirectoryStream(path)) {
            for (Path file : found) {
                if (FileNames.isLockFile(file.getFileName().toString())) {
                    files.add(file);
                }
            }
        } catch (NoSuchFileException e) {
            // Then there are no locks.
        }
        return files;
    }

    /** The name inside a file. */
    static Optional<String> nameIn(Path file, OpenFile.Access access) {
        try {
            String lock = read(file, access, open -> LockFileFormat.lockIn(open, file));
            return FileNames.of(lock).equals(file.getFileName().toString()) ? Optional.of(lock) : Optional.empty();
        } catch (IOException e) {
            LOG.log(System.Logger.Level.WARNING, "cannot tell which lock " + file + " belongs to: it is left out", e);
            return Optional.empty();
        }
    }

    /** As {@link ProofOfLife} tells it; what cannot be told is left to its ttl. */
    private boolean isDead(Entry entry) {
        try {
            return entry.needsLife()
                    && read(ProofOfLife.file(path, entry.life()), OpenFile.Access.READ, OpenFile::tryGuard);
        } catch (IOException e) {
            return false;
        }
    }

    private interface Reading<T> {
        T from(OpenFile open) throws IOException;
    }

    private static <T> T read(Path file, OpenFile.Access access, Reading<T> reading) throws IOException {
        OpenFile open = OpenFile.open(file, access);
        try {
            return reading.from(open);
        } finally {
            open.close();
        }
    }
}
