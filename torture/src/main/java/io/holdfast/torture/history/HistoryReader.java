package io.holdfast.torture.history;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Reads the files of a run and merges them into one time line. */
public final class HistoryReader {

    /** How the files of a history end. */
    public static final String SUFFIX = ".jsonl";

    private HistoryReader() {}

    /** All histories of a directory, in order of time. */
    public static List<Event> directory(Path directory) {
        try (Stream<Path> files = Files.list(directory)) {
            return files(files.filter(file -> file.toString().endsWith(SUFFIX))
                    .sorted()
                    .toList());
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read the histories in " + directory, e);
        }
    }

    /** These files, in order of time; events of one moment stay in the order in which they were written. */
    public static List<Event> files(Collection<Path> files) {
        List<Event> events = new ArrayList<>();
        for (Path file : files) {
            read(file, events);
        }
        events.sort(Comparator.comparingLong(Event::nanos));
        return events;
    }

    private static void read(Path file, List<Event> into) {
        try {
            // Bytes that are no UTF-8 become replacement characters: a torn last line may end inside a character.
            String text = new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
            int start = 0;
            for (int end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
                into.add(EventJson.parse(text.substring(start, end)));
                start = end + 1;
            }
            // Whatever follows the last line end was cut off when its process was killed: it never happened.
        } catch (NoSuchFileException e) {
            // Killed before it had begun to write.
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read the history " + file, e);
        }
    }
}
