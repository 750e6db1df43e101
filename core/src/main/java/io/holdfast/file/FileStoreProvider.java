package io.holdfast.file;

import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.StoreProvider;
import io.holdfast.spi.StoreUri;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;

/** Serves {@code file:/dir}, {@code file:relative/dir}, {@code file:~/dir} and, for the default, {@code file:}. */
public final class FileStoreProvider implements StoreProvider {

    @Override
    public Set<String> schemes() {
        return Set.of("file");
    }

    @Override
    public String example() {
        return "file:/var/lib/app/locks";
    }

    @Override
    public StoreFactory store(StoreUri uri) {
        uri.requireParametersIn(Set.of());
        if (!uri.hosts().isEmpty() || uri.user().isPresent()) {
            throw new IllegalArgumentException(uri
                    + " names a host, but file stores live on this machine: write file:/absolute/dir or"
                    + " file:relative/dir");
        }
        return FileStore.in(directory(uri.path(), System::getenv, Path.of(System.getProperty("user.home"))));
    }

    /** Without a path it is {@code $XDG_STATE_HOME/holdfast}, else {@code ~/.local/state/holdfast}. */
    static Path directory(String path, UnaryOperator<String> environment, Path home) {
        try {
            // As shells do; the JVM asks the user database instead.
            Path ownHome = absolute("HOME", environment).orElse(home);
            if (path.isEmpty()) {
                return absolute("XDG_STATE_HOME", environment)
                        .orElse(ownHome.resolve(".local").resolve("state"))
                        .resolve("holdfast");
            }
            return path.startsWith("~/") ? ownHome.resolve(path.substring(2)) : Path.of(path);
        } catch (InvalidPathException e) {
            throw new IllegalArgumentException("'" + path + "' is not the path of a directory", e);
        }
    }

    /** A relative one is invalid and to be ignored, says the XDG specification. */
    private static Optional<Path> absolute(String variable, UnaryOperator<String> environment) {
        return Optional.ofNullable(environment.apply(variable)).map(Path::of).filter(Path::isAbsolute);
    }
}
