package io.holdfast.cli.run;

import io.holdfast.cli.console.CommonOptions;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The user's command, running with our terminal as its own. Thread-safe. */
public final class RunningCommand {

    private static final String NAME_VARIABLE = "HOLDFAST_NAME";
    private static final String TOKEN_VARIABLE = "HOLDFAST_TOKEN";
    private static final String OUR_VARIABLES = "HOLDFAST_";
    private static final String LOCALE_VARIABLE = "LC_ALL";
    private static final String FORMER_LOCALE_VARIABLE = "HOLDFAST_FORMER_LC_ALL";

    private static final Path OWN_STAT = Path.of("/proc/self/stat");
    private static final int STAT_GROUP = 2;
    private static final int STAT_FOREGROUND_GROUP = 5;

    private final Process process;
    private final RunFamily family;

    private RunningCommand(Process process, RunFamily family) {
        this.process = process;
        this.family = family;
    }

    /** To be called by a thread that outlives the command; see {@link Guard}. */
    static RunningCommand start(List<String> command, String name, long token, Guard guard) throws IOException {
        List<String> line = new ArrayList<>();
        if (guard.kernelKills()) {
            line.addAll(List.of("setpriv", "--pdeathsig", "KILL", "--"));
        }
        line.addAll(command);
        ProcessBuilder builder = new ProcessBuilder(line).inheritIO();
        Map<String, String> environment = builder.environment();
        restoreLocale(environment);
        boolean withheld = environment.containsKey(CommonOptions.STORE_VARIABLE)
                || environment.containsKey(CommonOptions.WITHHELD_VARIABLE);
        environment.keySet().removeIf(variable -> variable.startsWith(OUR_VARIABLES));
        if (withheld) {
            environment.put(CommonOptions.WITHHELD_VARIABLE, "yes");
        }
        environment.put(NAME_VARIABLE, name);
        environment.put(TOKEN_VARIABLE, Long.toString(token));
        environment.put(RunFamily.VARIABLE, guard.marker());
        Process process = builder.start();
        guard.watch(process.pid());
        return new RunningCommand(process, new RunFamily(process.toHandle(), guard.marker()));
    }

    /** The launcher gives Java a locale in which it can read every argument; the command gets its own back. */
    private static void restoreLocale(Map<String, String> environment) {
        String former = environment.get(FORMER_LOCALE_VARIABLE);
        if (former != null && former.isEmpty()) {
            environment.remove(LOCALE_VARIABLE);
        } else if (former != null) {
            environment.put(LOCALE_VARIABLE, former);
        }
    }

    /** Waits for its end, whatever happens meanwhile, and returns its exit code, 128 + n for a signal. */
    int await() {
        while (true) {
            try {
                return process.waitFor();
            } catch (InterruptedException e) {
                // Nobody has a reason to interrupt us now: signals go to the command.
            }
        }
    }

    /** Passes a signal on to the command itself, which knows best what to do about its own children. */
    void signal(String name, int number) {
        if (name.equals("INT") && isTypedAtTerminal()) {
            // The terminal sent it to the whole foreground group. A second one often means "do not even clean up".
            return;
        }
        if (!process.isAlive()) {
            return;
        }
        try {
            new ProcessBuilder("sh", "-c", "kill -" + number + " " + process.pid())
                    .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
        } catch (IOException e) {
            process.destroy();
        }
    }

    /** Ends the command and everything it started; returns when they are gone. */
    void terminate(Duration grace) {
        family.terminate(grace);
    }

    /** Whether we are in the foreground of a terminal: then an interrupt comes from its keyboard. */
    private static boolean isTypedAtTerminal() {
        try {
            String stat = Files.readString(OWN_STAT);
            // The second field, the program's name, may contain anything but its closing parenthesis is the last one.
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
            return fields[STAT_GROUP].equals(fields[STAT_FOREGROUND_GROUP]);
        } catch (IOException noProc) {
            return System.console() != null;
        }
    }
}
