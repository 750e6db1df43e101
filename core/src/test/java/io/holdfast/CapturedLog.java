package io.holdfast;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/** What the library logs while this is open. */
final class CapturedLog extends Handler implements AutoCloseable {

    /** One line. */
    record Line(Level level, String text) {}

    private final Logger logger = Logger.getLogger("io.holdfast");
    private final SimpleFormatter formatter = new SimpleFormatter();
    private final List<Line> lines = new CopyOnWriteArrayList<>();

    CapturedLog() {
        logger.addHandler(this);
    }

    /** So far, about that lock. */
    List<Line> about(String lock) {
        return lines.stream()
                .filter(line -> line.text.contains("'" + lock + "'"))
                .toList();
    }

    List<String> textsAbout(String lock) {
        return about(lock).stream().map(Line::text).toList();
    }

    @Override
    public void publish(LogRecord message) {
        lines.add(new Line(message.getLevel(), formatter.formatMessage(message)));
    }

    @Override
    public void flush() {}

    @Override
    public void close() {
        logger.removeHandler(this);
    }
}
