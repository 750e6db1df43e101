package io.holdfast.torture.stand;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * The wall clock of a process, to be moved while it runs: through a small library that is preloaded (its source is the
 * resource {@code clock.c}, compiled when first needed). What reads the clock without the C library, as programs in Go do, is
 * not fooled. Thread-safe.
 */
public final class WallClock {

    private static final String COMPILER = "gcc";
    private static final long COMPILE_SECONDS = 60;

    private final Path library;
    private final Path shift;

    private WallClock(Path library, Path shift) {
        this.library = library;
        this.shift = shift;
    }

    /** Whether the library can be made here. */
    public static boolean isPossible() {
        return System.getProperty("os.name").equals("Linux") && Files.isExecutable(Path.of("/usr/bin", COMPILER));
    }

    /** Makes a clock with its files in a directory that everybody may read. */
    public static WallClock in(Path directory, String name) {
        try {
            Path library = directory.resolve("clock.so");
            if (!Files.exists(library)) {
                compile(directory, library);
            }
            Path shift = directory.resolve(name + ".shift");
            Files.write(shift, new byte[Long.BYTES]);
            Files.setPosixFilePermissions(shift, PosixFilePermissions.fromString("rw-r--r--"));
            return new WallClock(library, shift);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot make a clock in " + directory, e);
        }
    }

    /** What to set in the environment of the process that is to go by this clock. */
    public Map<String, String> environment() {
        return Map.of("LD_PRELOAD", library.toString(), "HOLDFAST_TORTURE_CLOCK", shift.toString());
    }

    /** Moves the clock this far from the true time. */
    public void set(Duration ahead) {
        ByteBuffer nanos =
                ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder()).putLong(0, ahead.toNanos());
        try (FileChannel file = FileChannel.open(shift, StandardOpenOption.WRITE)) {
            // One aligned word: the process sees the old value or the new one.
            file.write(nanos, 0);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot set " + shift, e);
        }
    }

    private static void compile(Path directory, Path library) throws IOException {
        Path source = directory.resolve("clock.c");
        try (InputStream text = WallClock.class.getResourceAsStream("clock.c")) {
            Files.write(source, Objects.requireNonNull(text, "clock.c").readAllBytes());
        }
        Path made = directory.resolve("clock.so.new");
        Process compiler = new ProcessBuilder(
                        COMPILER, "-shared", "-fPIC", "-O1", "-o", made.toString(), source.toString(), "-ldl")
                .redirectErrorStream(true)
                .start();
        String output = new String(compiler.getInputStream().readAllBytes());
        try {
            if (!compiler.waitFor(COMPILE_SECONDS, TimeUnit.SECONDS) || compiler.exitValue() != 0) {
                throw new IOException(COMPILER + " failed: " + output);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("Interrupted while compiling", e);
        }
        Files.setPosixFilePermissions(made, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.move(made, library);
    }
}
