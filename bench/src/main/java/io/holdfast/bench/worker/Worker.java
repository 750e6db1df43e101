package io.holdfast.bench.worker;

import io.holdfast.bench.Contender;
import io.holdfast.bench.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A process that runs a part of a load: one contender, driven by lines of JSON on its standard input, one answer each on its
 * standard output. Ends with its input, so it does not outlive whoever started it.
 */
public final class Worker {

    private final PrintStream answers;
    private @Nullable Contender contender;
    private Contender.@Nullable Factory factory;
    private Map<String, String> settings = Map.of();
    private @Nullable WorkerRun run;
    private @Nullable HeldRun held;

    private Worker(PrintStream answers) {
        this.answers = answers;
    }

    public static void main(String[] arguments) throws IOException {
        PrintStream answers = System.out;
        // Libraries that write to standard output must not be taken for answers.
        System.setOut(System.err);
        new Worker(answers).obey(new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)));
        Runtime.getRuntime().halt(0);
    }

    private void obey(BufferedReader commands) throws IOException {
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            Map<String, Object> answer;
            try {
                answer = answer(Json.read(line));
            } catch (Throwable e) {
                e.printStackTrace();
                answer = Map.of("error", describe(e));
            }
            answers.println(Json.write(answer));
            answers.flush();
        }
    }

    private Map<String, Object> answer(Map<String, Object> command) throws Exception {
        String what = (String) command.get("do");
        switch (what) {
            case "open" -> open(command);
            case "start" -> run = new WorkerRun(opened(), command);
            case "state" -> {
                return running().state();
            }
            case "begin" -> running().begin();
            case "end" -> {
                return running().end();
            }
            case "hold" -> held = HeldRun.acquire(opened(), command);
            case "letGo" -> {
                try (Contender rival = factoryOf().open(settings)) {
                    return heldRun().letGo(rival);
                }
            }
            case "close" -> opened().close();
            default -> throw new IllegalArgumentException("unknown command " + what);
        }
        return Map.of();
    }

    private void open(Map<String, Object> command) throws Exception {
        Map<String, String> given = new LinkedHashMap<>();
        ((Map<?, ?>) command.get("settings")).forEach((key, value) -> given.put((String) key, (String) value));
        settings = given;
        factory = (Contender.Factory) Class.forName((String) command.get("factory"))
                .getDeclaredConstructor()
                .newInstance();
        contender = factory.open(settings);
    }

    private Contender.Factory factoryOf() {
        if (factory == null) {
            throw new IllegalStateException("no contender is open");
        }
        return factory;
    }

    private Contender opened() {
        if (contender == null) {
            throw new IllegalStateException("no contender is open");
        }
        return contender;
    }

    private HeldRun heldRun() {
        if (held == null) {
            throw new IllegalStateException("nothing is held");
        }
        return held;
    }

    private WorkerRun running() {
        if (run == null) {
            throw new IllegalStateException("nothing runs");
        }
        return run;
    }

    /** The failure and its innermost cause, on one line. */
    static String describe(Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null && cause.getCause() != cause) {
            cause = cause.getCause();
        }
        String text = failure.toString() + (cause == failure ? "" : " (" + cause + ")");
        return text.lines().findFirst().orElse(text);
    }
}
