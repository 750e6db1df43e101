package io.holdfast.torture.history;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Appends one process's events to a file of its own.
 *
 * <p>Thread-safe, and deaf to interrupts. When {@link #write} has returned, the operating system has the line: killing this
 * process loses nothing.
 */
public final class HistoryWriter implements AutoCloseable {

    private final OutputStream file;
    private final ReentrantLock lock = new ReentrantLock();
    private boolean closed;

    private HistoryWriter(OutputStream file) {
        this.file = file;
    }

    /** Makes the file; fails if there is one, since two processes in one file would tear each other's lines. */
    public static HistoryWriter create(Path path) {
        try {
            if (Files.exists(path)) {
                throw new FileAlreadyExistsException(path.toString());
            }
            // A plain file stream: no buffer that dies with the process, and no channel that an interrupt would close.
            return new HistoryWriter(new FileOutputStream(path.toFile(), true));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write the history " + path, e);
        }
    }

    /** Once closed, the history is over: callbacks of a client that was just closed may still come, and change nothing. */
    public void write(Event event) {
        byte[] line = EventJson.line(event);
        lock.lock();
        try {
            if (!closed) {
                file.write(line);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write the history", e);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            file.close();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot close the history", e);
        } finally {
            lock.unlock();
        }
    }
}
