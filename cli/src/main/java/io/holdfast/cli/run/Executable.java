package io.holdfast.cli.run;

import io.holdfast.cli.console.FailedException;
import io.holdfast.cli.console.Failure;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Finds programs as a shell does, so that a mistyped command is reported before anybody waits for a lock. */
public final class Executable {

    private Executable() {}

    /** @throws FailedException with the shell's exit code if there is no such command */
    static void require(String command) {
        if (command.contains("/")) {
            Path path = Path.of(command);
            if (!Files.exists(path)) {
                throw new FailedException(Failure.NOT_FOUND, "there is no file " + command + "; check the path.");
            }
            if (Files.isDirectory(path) || !Files.isExecutable(path)) {
                throw new FailedException(
                        Failure.NOT_RUNNABLE, command + " is not an executable file; try: chmod +x " + command);
            }
        } else if (find(command).isEmpty()) {
            throw new FailedException(
                    Failure.NOT_FOUND,
                    "there is no command '" + command + "' on the PATH; check its name, or give its path as in ./"
                            + command);
        }
    }

    public static Optional<Path> find(String command) {
        if (command.isEmpty()) {
            return Optional.empty();
        }
        return List.of(System.getenv().getOrDefault("PATH", "/usr/bin:/bin").split(":", -1)).stream()
                .map(directory -> Path.of(directory.isEmpty() ? "." : directory, command))
                .filter(path -> Files.isExecutable(path) && !Files.isDirectory(path))
                .findFirst();
    }
}
