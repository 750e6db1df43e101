package io.holdfast.cli.console;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What results are written to. Remembers why some were lost, as on a full disk, which a {@code PrintStream} keeps to itself. */
public final class ResultStream extends FilterOutputStream {

    private volatile @Nullable IOException failure;

    public ResultStream(OutputStream to) {
        super(to);
    }

    @Override
    public void write(int oneByte) throws IOException {
        write(new byte[] {(byte) oneByte}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
        try {
            out.write(bytes, from, length);
        } catch (IOException e) {
            failure = e;
            throw e;
        }
    }

    /** Why results were lost that somebody wants: {@code | head} has read all it wants. */
    public Optional<String> loss() {
        return Optional.ofNullable(failure)
                .map(IOException::getMessage)
                .filter(reason -> !reason.toLowerCase(Locale.ROOT).contains("pipe"));
    }
}
