package io.holdfast.torture.report;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Which code is tortured: a matrix may be run in parts, on several days. */
final class CodeVersion {

    private static final String OF_THIS_RUN = commit().orElse("");

    private CodeVersion() {}

    /** The commit of the clone it was built in; empty if this is no build from source. */
    static String current() {
        return OF_THIS_RUN;
    }

    private static Optional<String> commit() {
        try {
            Path place = Path.of(CodeVersion.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI());
            Path directory =
                    Files.isDirectory(place) ? place : place.toAbsolutePath().getParent();
            Process git = new ProcessBuilder("git", "rev-parse", "--short", "HEAD")
                    .directory(directory == null ? null : directory.toFile())
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String said = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            return git.waitFor(5, TimeUnit.SECONDS) && git.exitValue() == 0 ? Optional.of(said) : Optional.empty();
        } catch (IOException | URISyntaxException noGit) {
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }
}
