package io.holdfast.cli;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/**
 * What a command that ran in this JVM left.
 *
 * @param exitCode its exit code
 * @param out its standard output
 * @param err its standard error
 */
record Captured(int exitCode, String out, String err) {

    static Captured of(String... arguments) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        int exitCode = run(out, err, arguments);
        return new Captured(exitCode, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    }

    static int run(OutputStream out, OutputStream err, String... arguments) {
        return Main.run(out, StandardCharsets.UTF_8, new PrintStream(err, true, StandardCharsets.UTF_8), arguments);
    }
}
