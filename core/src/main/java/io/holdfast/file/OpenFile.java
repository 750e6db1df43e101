package io.holdfast.file;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import io.holdfast.spi.Deadline;
import io.holdfast.spi.TimeSource;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A file of a lock directory, open, and the lock on one byte of it that keeps out others: its guard.
 *
 * <p>Never opened through a link. Not thread-safe: its owners use it under their mutex.
 */
final class OpenFile {

    /*
     * When a descriptor may be closed.
     *
     * POSIX locks belong to a process: closing ANY descriptor of a file drops ALL locks the process has on it, while
     * FileLock.isValid() stays true. In one JVM several descriptors of one file may be open, for there may be several
     * copies of this class (web applications, each with the library in its own class loader). What copies see of each
     * other is the JDK's list of locks: one for the whole JVM, by inode; a lock on a byte that anyone in the JVM has
     * locked is an OverlappingFileLockException.
     *
     * Two copies A and B, and another process P:
     *
     *   1. A has the guard, B closes its descriptor of the file: A's guard is gone, P takes it, and A and P both change
     *      the table. So B closes only if it has the guard itself, or if no copy in the JVM has it.
     *   2. B takes the guard and closes. The JDK takes B's lock off its list first and closes the descriptor after. In
     *      between A can take the guard, and B's closing drops it: the same. Having the guard is not enough.
     *
     * So taking a lock and closing exclude each other in the whole JVM, by a monitor that all copies share. Inside it
     * a copy that wants to close tries the lock:
     *
     *   - it overlaps: another copy has it. Not now.
     *   - we get it, or another process has it: no copy in the JVM has it, nor can one take it until we are out of the
     *     monitor. Closing drops nothing but what we got ourselves.
     *
     * A guard is had for microseconds. If one is not given back for long (a disk that hangs), the file stays open and is
     * closed at a later opportunity; nothing but this class closes it, for a channel of this kind has no cleaner.
     *
     * Why an asynchronous channel: it can be opened without following links, which RandomAccessFile cannot, and an
     * interrupt does not close it, as it does a FileChannel, halfway through a change. Its work is done in the calling
     * thread.
     */

    private static final System.Logger LOG = System.getLogger(FileStore.class.getName());

    /** The same object in all copies of this class, for the JVM has each string constant once. */
    static final String MONITOR_OF_ALL_COPIES = "io.holdfast.file: taking locks and closing files";

    /** Beyond all data, for on some systems a locked byte cannot be read. */
    private static final long BYTE = 1L << 40;

    private static final Duration CLOSE_PATIENCE = Duration.ofMillis(100);

    private static final Set<OpenOption> NEW = Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    private static final InPlace IN_PLACE = new InPlace();

    /** What could not be closed yet. Guarded by the monitor. */
    private static final List<OpenFile> TO_CLOSE = new ArrayList<>();

    enum Access {
        /** With locks that others can have as well. */
        READ(StandardOpenOption.READ),
        READ_WRITE(StandardOpenOption.READ, StandardOpenOption.WRITE);

        private final Set<OpenOption> options;

        Access(OpenOption... options) {
            List<OpenOption> all = new ArrayList<>(List.of(options));
            all.add(NOFOLLOW_LINKS);
            this.options = Set.copyOf(all);
        }
    }

    private final Path path;
    private final Access access;
    private final AsynchronousFileChannel channel;
    private final Optional<Object> inode;
    private @Nullable FileLock guard;

    private OpenFile(Path path, Access access, AsynchronousFileChannel channel, Optional<Object> inode) {
        this.path = path;
        this.access = access;
        this.channel = channel;
        this.inode = inode;
    }

    /** Opens what is there, if it is a file and not a link to one. */
    static OpenFile open(Path path, Access access) throws IOException {
        while (true) {
            BasicFileAttributes before = Files.readAttributes(path, BasicFileAttributes.class, NOFOLLOW_LINKS);
            // A pipe, too: opening one waits for a process at its other end.
            if (!before.isRegularFile()) {
                throw new CorruptFileException(path, "is a link or something else that is not a file of Holdfast");
            }
            AsynchronousFileChannel channel = AsynchronousFileChannel.open(path, access.options, IN_PLACE);
            OpenFile opened = new OpenFile(path, access, channel, Optional.ofNullable(before.fileKey()));
            if (opened.isInPlace()) {
                return opened;
            }
            // Replaced in between: which of the two was opened cannot be told.
            opened.close();
        }
    }

    /** Makes a file where nothing is, not even a link, under a name that no other process knows. */
    static void create(Path path, FileModes modes, byte[] content) throws IOException {
        try (AsynchronousFileChannel channel = AsynchronousFileChannel.open(path, NEW, IN_PLACE, modes.attributes())) {
            write(channel, 0, content);
        }
        modes.apply(path);
    }

    /** Whether the path still leads to this file. The number of an open file is not given to another one. */
    boolean isInPlace() throws IOException {
        try {
            BasicFileAttributes now = Files.readAttributes(path, BasicFileAttributes.class, NOFOLLOW_LINKS);
            return Optional.ofNullable(now.fileKey()).equals(inode);
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    boolean isOpen() {
        return channel.isOpen();
    }

    /** Not if another process has it, or another copy of this class in this JVM. */
    boolean tryGuard() throws IOException {
        synchronized (MONITOR_OF_ALL_COPIES) {
            try {
                guard = channel.tryLock(BYTE, 1, access == Access.READ);
            } catch (OverlappingFileLockException e) {
                return false;
            }
            return guard != null;
        }
    }

    /** What was done under it stands, whatever happens here. If unlocking fails, closing does it for sure. */
    void releaseGuard() throws IOException {
        FileLock held = guard;
        if (held == null) {
            return;
        }
        try {
            held.release();
            guard = null;
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, "unlocking " + path, e);
            tryClose();
        }
    }

    /** As many bytes as there are from there on, at most a whole array. */
    int read(long at, byte[] into) throws IOException {
        ByteBuffer buffer = ByteBuffer.wrap(into);
        while (buffer.hasRemaining()) {
            if (resultOf(channel.read(buffer, at + buffer.position())) < 0) {
                break;
            }
        }
        return buffer.position();
    }

    void write(long at, byte[] bytes) throws IOException {
        write(channel, at, bytes);
    }

    private static void write(AsynchronousFileChannel channel, long at, byte[] bytes) throws IOException {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        while (buffer.hasRemaining()) {
            resultOf(channel.write(buffer, at + buffer.position()));
        }
    }

    private static int resultOf(Future<Integer> done) throws IOException {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return done.get();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } catch (ExecutionException e) {
            throw e.getCause() instanceof IOException failure ? failure : new IOException(e.getCause());
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Not if another copy in this JVM has the guard. With it our own is given back. */
    boolean tryClose() throws IOException {
        synchronized (MONITOR_OF_ALL_COPIES) {
            if (channel.isOpen() && guard == null) {
                try {
                    channel.tryLock(BYTE, 1, access == Access.READ);
                } catch (OverlappingFileLockException e) {
                    return false;
                } catch (IOException e) {
                    LOG.log(
                            System.Logger.Level.DEBUG,
                            "whether " + path + " is locked cannot be told: it stays open",
                            e);
                    return false;
                }
            }
            channel.close();
            guard = null;
            return true;
        }
    }

    /** Now, or, if another copy in this JVM keeps the guard for long, when another file is closed. */
    void close() throws IOException {
        TimeSource time = TimeSource.system();
        boolean closed = UntilDeadline.attempt(time, Deadline.after(time, CLOSE_PATIENCE), this::tryClose);
        synchronized (MONITOR_OF_ALL_COPIES) {
            if (!closed) {
                TO_CLOSE.add(this);
                return;
            }
            for (Iterator<OpenFile> left = TO_CLOSE.iterator(); left.hasNext(); ) {
                if (left.next().tryClose()) {
                    left.remove();
                }
            }
        }
    }

    /** Runs what it is given in the calling thread. */
    private static final class InPlace extends AbstractExecutorService {

        @Override
        public void execute(Runnable task) {
            task.run();
        }

        @Override
        public void shutdown() {
            // Nothing runs but in its callers' threads.
        }

        @Override
        public List<Runnable> shutdownNow() {
            return List.of();
        }

        @Override
        public boolean isShutdown() {
            return false;
        }

        @Override
        public boolean isTerminated() {
            return false;
        }

        @Override
        public boolean awaitTermination(long timeout, TimeUnit unit) {
            return false;
        }
    }
}
