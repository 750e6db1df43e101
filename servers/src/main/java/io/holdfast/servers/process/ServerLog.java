package io.holdfast.servers.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/** The file that takes all a server prints. */
public record ServerLog(Path file) {

    private static final int TAIL_LINES = 40;

    /** The last lines, indented. */
    public String tail() {
        if (!Files.exists(file)) {
            return "";
        }
        try {
            // Not readString: a server may print bytes that are not UTF-8.
            List<String> lines = new String(Files.readAllBytes(file), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
            return lines.stream()
                    .skip(Math.max(0, lines.size() - TAIL_LINES))
                    .map(line -> "  " + line + "\n")
                    .collect(Collectors.joining());
        } catch (IOException e) {
            return "  (cannot read " + file + ": " + e + ")\n";
        }
    }
}
