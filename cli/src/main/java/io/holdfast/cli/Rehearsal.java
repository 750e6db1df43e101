package io.holdfast.cli;

import io.holdfast.spi.StoreProvider;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.ServiceLoader;
import java.util.stream.Stream;

/** Runs the usual commands once, so that the launcher can archive the classes a start needs. */
final class Rehearsal {

    private Rehearsal() {}

    public static void main(String[] arguments) throws IOException {
        PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream(), true, StandardCharsets.UTF_8);
        Path directory = Files.createTempDirectory("holdfast-rehearsal-");
        try {
            String store = "file:" + directory;
            run(nowhere, "run", "--store", store, "-w", "1", "rehearsal", "--", "true");
            run(nowhere, "run", "--store", store, "-n", "rehearsal", "--json", "--", "true");
            run(nowhere, "ls", "--store", store);
            run(nowhere, "show", "--store", store, "rehearsal", "--json");
            run(nowhere, "run", "--help");
            run(nowhere, "--help");
            callServers(nowhere);
        } finally {
            delete(directory);
        }
    }

    private static void run(PrintStream nowhere, String... arguments) {
        Main.run(nowhere, StandardCharsets.UTF_8, nowhere, arguments);
    }

    /** Knocks for every kind of server where there is none: that takes most of what talking to one takes. */
    private static void callServers(PrintStream nowhere) throws IOException {
        int freePort;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            freePort = socket.getLocalPort();
        }
        ServiceLoader.load(StoreProvider.class).stream()
                .map(provider -> provider.get().example())
                .filter(example -> example.contains("://"))
                .map(example -> example.replaceFirst("//[^/?]*", "//127.0.0.1:" + freePort))
                .parallel()
                .forEach(store -> run(nowhere, "ls", "--store", store));
    }

    private static void delete(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
