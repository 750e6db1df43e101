package io.holdfast.torture.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Summaries in a directory, one file per cell: a matrix can be run in parts and on several days. Thread-safe. */
public final class Results {

    private static final String SUFFIX = ".json";

    private final Path directory;

    public Results(Path directory) throws IOException {
        this.directory = Files.createDirectories(directory);
    }

    public void put(CellSummary summary) throws IOException {
        Files.writeString(fileOf(summary.store() + "-" + summary.title()), SummaryJson.text(summary) + "\n");
    }

    /** What is known of a cell: what could not be run or not be judged is not, and is to be run again. */
    public Optional<CellSummary> find(String cellName) throws IOException {
        Path file = fileOf(cellName);
        return Files.exists(file)
                ? Optional.of(SummaryJson.parse(Files.readString(file)))
                        .filter(summary -> summary.isBroken() || summary.wasRun() && summary.isJudged())
                : Optional.empty();
    }

    public List<CellSummary> all() throws IOException {
        List<CellSummary> all = new ArrayList<>();
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.filter(path -> path.toString().endsWith(SUFFIX))
                    .sorted()
                    .toList()) {
                all.add(SummaryJson.parse(Files.readString(file)));
            }
        }
        return all;
    }

    /** One summary as a line of JSON. */
    public static String json(CellSummary summary) {
        return SummaryJson.text(summary);
    }

    private Path fileOf(String cellName) {
        return directory.resolve(cellName + SUFFIX);
    }
}
