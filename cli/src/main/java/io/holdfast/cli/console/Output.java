package io.holdfast.cli.console;

import io.holdfast.ui.json.JsonText;
import java.io.PrintStream;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Where the command writes: results to standard output, everything else to standard error, as text or as JSON.
 *
 * <p>Thread-safe. Nothing it writes shows credentials.
 */
public final class Output {

    private final PrintStream results;
    private final PrintStream messages;
    private final boolean json;
    private final Redaction redaction;

    public Output(PrintStream results, PrintStream messages, boolean json, Redaction redaction) {
        this.results = results;
        this.messages = messages;
        this.json = json;
        this.redaction = redaction;
    }

    public boolean isJson() {
        return json;
    }

    public PrintStream results() {
        return results;
    }

    public PrintStream messages() {
        return messages;
    }

    /** A line of results. */
    public void print(String line) {
        results.println(line);
    }

    /** A result as one line of JSON. */
    public void printJson(Consumer<JsonText> fields) {
        results.println(JsonText.object(fields));
    }

    /** Whether the reader of the results is still there; {@code holdfast watch | head} goes away. */
    public boolean isReaderGone() {
        return results.checkError();
    }

    /** The same text as far as it may be shown. */
    public String withoutCredentials(String text) {
        return redaction.apply(text);
    }

    /** Something people should know that changes nothing about the result. */
    public void warn(String message) {
        String safe = redaction.apply(message);
        messages.println(
                json ? JsonText.object(line -> line.text("warning", safe)) : "holdfast: " + Names.visible(safe));
    }

    /** A report beside the output of somebody else's command: one line of JSON on standard error. */
    public void reportJson(Consumer<JsonText> fields) {
        messages.println(JsonText.object(fields));
    }

    /** Says why the command ends, in one line. */
    public void fail(Failure failure, String message, int exitCode) {
        fail(failure, List.of(message), exitCode);
    }

    /** The same in several lines, such as tables to create. */
    public void fail(Failure failure, List<String> message, int exitCode) {
        List<String> safe = message.stream().map(redaction::apply).toList();
        messages.println(
                json
                        ? JsonText.object(line -> line.text("error", failure.word)
                                .text("message", String.join("\n", safe))
                                .number("exitCode", exitCode))
                        : "holdfast: " + safe.stream().map(Names::visible).collect(Collectors.joining("\n")));
    }
}
