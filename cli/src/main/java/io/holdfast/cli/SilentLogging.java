package io.holdfast.cli;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.logging.LogManager;

/** Turns java.util.logging off; the log manager makes one of these when a client library first logs. */
public final class SilentLogging {

    public SilentLogging() throws IOException {
        LogManager.getLogManager()
                .readConfiguration(new ByteArrayInputStream(".level=OFF".getBytes(StandardCharsets.ISO_8859_1)));
    }
}
