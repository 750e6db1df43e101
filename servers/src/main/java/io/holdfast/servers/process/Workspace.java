package io.holdfast.servers.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The temporary directory of this JVM, with one directory per server in it; it goes away with the JVM.
 *
 * <p>On a normal end a shutdown hook kills the servers and deletes the directory; otherwise the guard does (see the essay in
 * {@link Launcher}).
 */
public final class Workspace {

    /** What the guard runs; $1 is the root, and {@link PausedProcesses} writes the files it looks for. */
    private static final String GUARD = """
            trap '' HUP INT TERM
            cat >/dev/null
            for paused in "$1"/*/paused; do
                [ -f "$paused" ] && kill -KILL $(cat "$paused")
            done
            for try in 1 2 3 4 5 6 7 8 9 10; do
                rm -rf -- "$1" && break
                sleep 0.2
            done
            """;

    private static final Workspace OF_THIS_JVM = new Workspace();

    private final Path root;

    /** Kept for its pipe, which must stay open; a collected Process would close it. */
    private final Process guard;

    private final AtomicInteger directories = new AtomicInteger();
    private final Set<Process> running = ConcurrentHashMap.newKeySet();

    private Workspace() {
        try {
            root = Files.createTempDirectory("holdfast-servers-");
            // PostgreSQL and MariaDB run as users of their own and must get through.
            Files.setPosixFilePermissions(root, PosixFilePermissions.fromString("rwxr-xr-x"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        guard = Launcher.fork(new ProcessBuilder("setsid", "sh", "-c", GUARD, "holdfast-servers-guard", root.toString())
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD));
        Runtime.getRuntime().addShutdownHook(new Thread(this::clear, "holdfast-servers-clear"));
    }

    public static Workspace ofThisJvm() {
        return OF_THIS_JVM;
    }

    public Path newDirectory(String name) {
        try {
            return Files.createDirectory(root.resolve(name + "-" + directories.incrementAndGet()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Has a server's process killed when this JVM ends. */
    public void add(Process server) {
        running.add(server);
    }

    public void remove(Process server) {
        running.remove(server);
    }

    private void clear() {
        running.forEach(ProcessTree::kill);
        delete(root);
    }

    /** Deletes a directory and all in it; a server's children may still be writing there, so it tries a few times. */
    public static void delete(Path directory) {
        for (int tries = 1; ; tries++) {
            try {
                deleteOnce(directory);
                return;
            } catch (IOException e) {
                if (tries == 10) {
                    throw new UncheckedIOException("Cannot delete " + directory, e);
                }
                Thread.yield();
            }
        }
    }

    private static void deleteOnce(Path directory) throws IOException {
        if (!Files.exists(directory)) {
            return;
        }
        Files.walkFileTree(directory, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.deleteIfExists(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
                if (e instanceof NoSuchFileException) {
                    return FileVisitResult.CONTINUE;
                }
                throw e;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path visited, @Nullable IOException e) throws IOException {
                Files.deleteIfExists(visited);
                return FileVisitResult.CONTINUE;
            }
        });
    }
}
