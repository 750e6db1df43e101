package io.holdfast.cli.trial;

import io.holdfast.cli.console.FailedException;
import io.holdfast.cli.console.Failure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** A file that a long run is to write at its end. Immutable. */
final class ReportFile {

    private final String option;
    private final Path file;

    private ReportFile(String option, Path file) {
        this.option = option;
        this.file = file;
    }

    /** Writes the text. */
    @FunctionalInterface
    interface Writer {
        void write(Path file) throws IOException;
    }

    /**
     * Looks before the run whether the file can be written after it.
     *
     * @param file null if none is wanted
     * @throws FailedException if it cannot: a run of minutes must not end in that
     */
    static @Nullable ReportFile check(String option, @Nullable Path file) {
        if (file == null) {
            return null;
        }
        Path directory = file.toAbsolutePath().getParent();
        String why = null;
        if (Files.isDirectory(file)) {
            why = "it is a directory";
        } else if (directory != null && !Files.isDirectory(directory)) {
            why = "there is no directory " + directory;
        } else if (Files.exists(file) ? !Files.isWritable(file) : directory != null && !Files.isWritable(directory)) {
            why = "it may not be written to";
        }
        if (why != null) {
            throw new FailedException(
                    Failure.USAGE, option + " " + file + " cannot be written: " + why + ". Nothing was run.");
        }
        return new ReportFile(option, file);
    }

    /** @throws FailedException if it cannot be written after all; the result was shown before */
    void write(Writer writer) {
        try {
            writer.write(file);
        } catch (IOException e) {
            throw new FailedException(
                    Failure.INTERNAL,
                    option + " " + file + " could not be written: " + e.getMessage() + ". The result is above.");
        }
    }
}
