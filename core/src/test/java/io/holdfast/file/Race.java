package io.holdfast.file;

import io.holdfast.spi.Answer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;

/**
 * Runners of several processes that want the same locks at the same moments. Whoever holds a lock makes a mark, a file
 * that must not be there yet.
 *
 * <p>Where each runner is stands in a file, so that they keep step: a race for a lock file that is not there yet happens
 * only if two come at once.
 */
final class Race {

    private final Path marks;
    private final Path steps;

    Race(Path directory) throws IOException {
        this.marks = Files.createDirectories(directory.resolve("marks"));
        this.steps = directory.resolve("steps");
    }

    /** Wants one lock after the other, each together with the other runner, and keeps what it gets. */
    int keepEach(StoreClient client, int runner, int locks) throws IOException {
        int overlaps = 0;
        try {
            for (int i = 1; i <= locks; i++) {
                meet(runner, i);
                if (client.attempt("lock-" + i) instanceof Answer.Granted && !mark("lock-" + i)) {
                    overlaps++;
                }
            }
            meet(runner, locks + 1);
        } finally {
            arrive(runner, Long.MAX_VALUE);
        }
        return overlaps;
    }

    /** Holds one lock for a moment, many times. */
    int holdShortly(StoreClient client, int runner, int times) throws IOException {
        int overlaps = 0;
        try {
            for (int i = 1; i <= times; i++) {
                if (i % 50 == 1) {
                    meet(runner, i);
                }
                overlaps += holdOnce(client, "short");
            }
        } finally {
            arrive(runner, Long.MAX_VALUE);
        }
        return overlaps;
    }

    /** How often somebody else held it meanwhile: 0 or 1. */
    int holdOnce(StoreClient client, String lock) throws IOException {
        if (!(client.attempt(lock) instanceof Answer.Granted granted)) {
            return 0;
        }
        boolean marked = mark(lock);
        if (marked) {
            Files.deleteIfExists(marks.resolve(lock));
        }
        client.store.release(granted.grant(), Duration.ZERO, StoreClient.soon());
        return marked ? 0 : 1;
    }

    /** How far that runner is. */
    long step(int runner) {
        try (FileChannel all = FileChannel.open(steps, StandardOpenOption.READ)) {
            ByteBuffer step = ByteBuffer.allocate(Long.BYTES);
            return all.read(step, (long) runner * Long.BYTES) < Long.BYTES ? 0 : step.getLong(0);
        } catch (NoSuchFileException e) {
            return 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Waits for the other of the two runners, unless it has ended. */
    private void meet(int runner, long step) throws IOException {
        arrive(runner, step);
        while (step(1 - runner) < step) {
            Thread.yield();
        }
    }

    private void arrive(int runner, long step) throws IOException {
        try (FileChannel all = FileChannel.open(steps, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            all.write(ByteBuffer.allocate(Long.BYTES).putLong(0, step), (long) runner * Long.BYTES);
        }
    }

    private boolean mark(String lock) throws IOException {
        try {
            Files.createFile(marks.resolve(lock));
            return true;
        } catch (FileAlreadyExistsException e) {
            return false;
        }
    }
}
