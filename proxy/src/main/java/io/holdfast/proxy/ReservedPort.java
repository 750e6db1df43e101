package io.holdfast.proxy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * A loopback port that was free when it was picked and that no other JVM using this class will pick until it is closed.
 *
 * <p>Ports lie below the range the kernel hands to outgoing connections. Otherwise a client that keeps dialling a killed
 * server can be given that very port as its own, connect to itself, and keep the server from coming back. The promise to
 * other JVMs is a lock on the port's byte of a file, which a dying JVM drops; software that knows nothing of it may still take the port, so
 * launchers try again with another one.
 *
 * <p>Thread-safe.
 */
public final class ReservedPort implements AutoCloseable {

    private static final int LOWEST = 15_000;
    private static final int ABOVE_HIGHEST = 32_000;
    private static final int TRIES = 1_000;

    /** One byte per port. Never closed: closing any channel to a file drops all locks the JVM has on it. */
    private static final FileChannel LOCKS = openLocks();

    /** Ports of this JVM: locks exclude other JVMs only. */
    private static final Set<Integer> TAKEN = ConcurrentHashMap.newKeySet();

    private final int port;
    private final FileLock lock;

    private ReservedPort(int port, FileLock lock) {
        this.port = port;
        this.lock = lock;
    }

    /** Reserves a port that is free now. */
    public static ReservedPort pick() {
        for (int i = 0; i < TRIES; i++) {
            int port = ThreadLocalRandom.current().nextInt(LOWEST, ABOVE_HIGHEST);
            if (!TAKEN.add(port)) {
                continue;
            }
            // First the lock: a look at a port somebody has reserved would be in the way when its owner wants to
            // listen.
            FileLock lock = tryLock(port);
            if (lock != null) {
                ReservedPort reserved = new ReservedPort(port, lock);
                if (isFree(port)) {
                    return reserved;
                }
                reserved.close();
            } else {
                TAKEN.remove(port);
            }
        }
        throw new IllegalStateException("No free port found between " + LOWEST + " and " + ABOVE_HIGHEST);
    }

    public int number() {
        return port;
    }

    public InetSocketAddress address() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    @Override
    public void close() {
        if (!lock.isValid()) {
            return; // by now the number may be somebody else's
        }
        try {
            lock.release();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            TAKEN.remove(port);
        }
    }

    private static boolean isFree(int port) {
        // Binding to every interface fails if anybody has the port on any of them.
        try (ServerSocket probe = new ServerSocket()) {
            probe.bind(new InetSocketAddress(port));
            return true;
        } catch (IOException taken) {
            return false;
        }
    }

    static @Nullable FileLock tryLock(int port) {
        try {
            return LOCKS.tryLock(port, 1, false);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot reserve port " + port, e);
        }
    }

    private static FileChannel openLocks() {
        Path file = Path.of(
                System.getProperty("java.io.tmpdir"), "holdfast-ports-" + System.getProperty("user.name") + ".lock");
        try {
            return FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot open " + file, e);
        }
    }
}
