package io.holdfast.cli;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.stream.Stream;

/** What {@code ./holdfast} has built: a test that starts a build of what is being built would not end well. */
final class BuiltCommand {

    static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    static final Path JAR = ROOT.resolve(".built/holdfast.jar");
    private static final Path LOCAL_JAR = ROOT.resolve(".built/holdfast-local.jar");

    private BuiltCommand() {}

    /** Skips a test if there is nothing to test, or it is not of these sources. */
    static void require() throws IOException {
        assumeTrue(
                isNewerThanSources(JAR) && isNewerThanSources(LOCAL_JAR),
                "what the command is made of is missing or older than the sources: run ./holdfast torture --help once");
    }

    private static boolean isNewerThanSources(Path jar) throws IOException {
        if (!Files.exists(jar)) {
            return false;
        }
        FileTime built = Files.getLastModifiedTime(jar);
        try (Stream<Path> modules = Files.list(ROOT)) {
            for (Path module : modules.toList()) {
                if (isNewer(module.resolve("pom.xml"), built) || isNewer(module.resolve("src/main"), built)) {
                    return false;
                }
            }
        }
        return !isNewer(ROOT.resolve("pom.xml"), built);
    }

    private static boolean isNewer(Path path, FileTime than) throws IOException {
        if (!Files.exists(path)) {
            return false;
        }
        try (Stream<Path> files = Files.walk(path)) {
            for (Path file : files.toList()) {
                if (Files.getLastModifiedTime(file).compareTo(than) > 0) {
                    return true;
                }
            }
        }
        return false;
    }
}
