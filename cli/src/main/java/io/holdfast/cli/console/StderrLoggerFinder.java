package io.holdfast.cli.console;

import java.text.MessageFormat;
import java.util.ResourceBundle;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Logs warnings and errors of the library as one line each, the rest not at all. Found by the JDK as a service, which
 * also spares the start of java.util.logging.
 */
public final class StderrLoggerFinder extends System.LoggerFinder {

    /** What becomes of a lease the command tells in its own words. */
    private static final String LEASES = "io.holdfast.internal.lease.";

    /** Warns of renewals that fail, as {@code run} does; its errors are others. */
    private static final String RENEWALS = "io.holdfast.internal.ticket.Keeper";

    private static volatile Consumer<String> warnings = line -> {};

    public static void sendWarningsTo(Output output) {
        warnings = output::warn;
    }

    /** For {@code --quiet}. */
    public static void dropWarnings() {
        warnings = line -> {};
    }

    @Override
    public System.Logger getLogger(String name, Module module) {
        return new LineLogger(name);
    }

    private record LineLogger(String name) implements System.Logger {

        @Override
        public String getName() {
            return name;
        }

        @Override
        public boolean isLoggable(Level level) {
            return name.startsWith("io.holdfast")
                    && !name.startsWith(LEASES)
                    && !(name.equals(RENEWALS) && level == Level.WARNING)
                    && level.compareTo(Level.WARNING) >= 0
                    && level != Level.OFF;
        }

        @Override
        public void log(Level level, @Nullable ResourceBundle bundle, String message, @Nullable Throwable thrown) {
            if (isLoggable(level)) {
                warnings.accept(oneLine(thrown == null ? message : message + ": " + thrown.getMessage()));
            }
        }

        @Override
        public void log(Level level, @Nullable ResourceBundle bundle, String format, @Nullable Object... parameters) {
            if (isLoggable(level)) {
                boolean plain = parameters == null || parameters.length == 0;
                warnings.accept(oneLine(plain ? format : MessageFormat.format(format, parameters)));
            }
        }

        private static String oneLine(String text) {
            return text.lines().reduce((a, b) -> a + " " + b.strip()).orElse("");
        }
    }
}
