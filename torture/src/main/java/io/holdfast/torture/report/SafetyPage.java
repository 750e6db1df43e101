package io.holdfast.torture.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The page. */
public final class SafetyPage {

    private SafetyPage() {}

    public static void write(List<CellSummary> summaries, Path file) throws IOException {
        Files.writeString(file, "");
    }
}
