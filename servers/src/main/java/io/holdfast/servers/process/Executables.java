package io.holdfast.servers.process;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Finds the programs that servers need, or says how to install them. */
public final class Executables {

    /** Where Debian puts server programs that are not on everybody's {@code PATH}. */
    private static final List<Path> SYSTEM = List.of(
            Path.of("/usr/local/sbin"),
            Path.of("/usr/local/bin"),
            Path.of("/usr/sbin"),
            Path.of("/usr/bin"),
            Path.of("/sbin"),
            Path.of("/bin"));

    private static final Path POSTGRES_VERSIONS = Path.of("/usr/lib/postgresql");

    private Executables() {}

    /** Returns the path of a program that the Debian package brings. */
    public static String find(String program, String debianPackage) {
        return find(program, debianPackage, searchPath());
    }

    /** Returns the path of a PostgreSQL program; Debian keeps these in one directory per version. */
    public static String findPostgres(String program) {
        List<Path> path = new ArrayList<>();
        if (Files.isDirectory(POSTGRES_VERSIONS)) {
            try (DirectoryStream<Path> versions = Files.newDirectoryStream(POSTGRES_VERSIONS, "[0-9]*")) {
                versions.forEach(version -> path.add(version.resolve("bin")));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            path.sort(Comparator.comparingInt((Path bin) ->
                            Integer.parseInt(bin.getName(bin.getNameCount() - 2).toString()))
                    .reversed());
        }
        path.addAll(searchPath());
        return find(program, "postgresql", path);
    }

    public static String find(String program, String debianPackage, List<Path> path) {
        return path.stream()
                .map(directory -> directory.resolve(program))
                .filter(Files::isExecutable)
                .findFirst()
                .map(Path::toString)
                .orElseThrow(() -> new ServerStartException("The program '" + program
                        + "' is not installed. Install it with: apt-get install " + debianPackage));
    }

    private static List<Path> searchPath() {
        List<Path> path = new ArrayList<>();
        for (String directory : System.getenv().getOrDefault("PATH", "").split(File.pathSeparator)) {
            if (!directory.isEmpty()) {
                path.add(Path.of(directory));
            }
        }
        path.addAll(SYSTEM);
        return path;
    }
}
