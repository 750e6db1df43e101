package io.holdfast.file;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;

/** Runs in a class loader of its own, as a second web application with the same library would. */
public final class OtherCopy implements BiFunction<Path, String, String> {

    /** A class loader with a copy of all classes. */
    static URLClassLoader loader() throws IOException {
        List<URL> path = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            path.add(Path.of(entry).toUri().toURL());
        }
        return new URLClassLoader(path.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
    }

    /** Only classes of the JDK in its signature: the copies know nothing of each other's. */
    @SuppressWarnings("unchecked")
    static BiFunction<Path, String, String> in(URLClassLoader loader) throws ReflectiveOperationException {
        Class<?> copy = loader.loadClass(OtherCopy.class.getName());
        if (copy == OtherCopy.class) {
            throw new IllegalStateException("not a copy");
        }
        return (BiFunction<Path, String, String>) copy.getDeclaredConstructor().newInstance();
    }

    @Override
    public String apply(Path directory, String command) {
        String[] words = command.split(" ");
        try (StoreClient client = new StoreClient(directory, "other copy")) {
            return switch (words[0]) {
                case "look" -> look(client);
                case "pass" -> pass(client, directory, words[1]);
                case "reopen" -> reopen(directory.resolve(words[1]));
                default -> throw new IllegalArgumentException(command);
            };
        }
    }

    private static String look(StoreClient client) {
        String seen = client.view("job").holders().size() + " "
                + client.store.views("", StoreClient.soon()).size();
        String answer = client.attempt("job").getClass().getSimpleName();
        client.store.prune(Duration.ZERO, StoreClient.soon());
        return seen + " " + answer;
    }

    private static String reopen(Path file) {
        try {
            for (int i = 0; i < 100; i++) {
                OpenFile.open(file, OpenFile.Access.READ_WRITE).close();
            }
            return "0";
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Opens the directory, uses it a little and closes it; says how often it held what somebody else held. */
    private static String pass(StoreClient client, Path directory, String lock) {
        try {
            Race race = new Race(directory.getParent());
            return Integer.toString(race.holdOnce(client, "passing") + race.holdOnce(client, lock));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
