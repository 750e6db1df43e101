package io.holdfast.servers;

import io.holdfast.servers.process.Executables;
import io.holdfast.servers.process.Launcher;
import io.holdfast.servers.wire.Probe;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A {@code mariadbd} on loopback, with a user {@code root} without password and an empty database {@code holdfast}.
 *
 * <p>Runs as the user {@code mysql} when this JVM runs as root. By default commits reach the operating system but are synced
 * to disk once a second only: data survives a kill of the process, not of the machine. Thread-safe.
 */
public final class MariaDbServer extends ServerProcess {

    private static final String DEBIAN_PACKAGE = "mariadb-server";
    private static final int GREETING_VERSION = 10;

    private final boolean durable;

    private MariaDbServer(Builder builder) {
        super("mariadb", builder);
        durable = builder.durable;
    }

    /** Starts a server with default options. */
    public static MariaDbServer start() {
        return builder().start();
    }

    public static Builder builder() {
        return new Builder();
    }

    /** A URL for MariaDB's driver, user included. */
    public String jdbcUrl() {
        return jdbcUrl(port());
    }

    /** The same through another port, such as a proxy's. */
    public String jdbcUrl(int port) {
        return "jdbc:mariadb://127.0.0.1:" + port + "/holdfast?user=root&sslMode=disable";
    }

    @Override
    @Nullable
    String user() {
        return serviceUser("mysql");
    }

    @Override
    void initialise() throws IOException {
        Launcher.run(
                List.of(
                        Executables.find("mariadb-install-db", DEBIAN_PACKAGE),
                        "--no-defaults",
                        "--datadir=" + data(),
                        temporaryFiles(),
                        "--auth-root-authentication-method=normal",
                        "--skip-test-db",
                        "--skip-name-resolve"),
                user(),
                data());
        Files.writeString(directory().resolve("init.sql"), "CREATE DATABASE IF NOT EXISTS holdfast;\n");
    }

    /** A server that starts clears away the temporary tables it finds, also those of another one in the same directory. */
    private String temporaryFiles() {
        return "--tmpdir=" + data();
    }

    @Override
    List<String> command() {
        List<String> command = new ArrayList<>(List.of(
                Executables.find("mariadbd", DEBIAN_PACKAGE),
                "--no-defaults",
                "--datadir=" + data(),
                temporaryFiles(),
                "--port=" + port(),
                "--bind-address=127.0.0.1",
                // Relative to the data directory: the full path may be longer than a socket's may be.
                "--socket=mariadb.sock",
                "--pid-file=mariadb.pid",
                "--init-file=" + directory().resolve("init.sql"),
                "--max-connections=500",
                "--skip-name-resolve",
                "--innodb-flush-log-at-trx-commit=" + (durable ? 1 : 2)));
        command.addAll(arguments());
        return command;
    }

    /** The server greets who connects: packet length and number, then the protocol version. */
    @Override
    boolean answers() throws IOException {
        try (Probe probe = Probe.connect(address(), null)) {
            byte[] greeting = probe.input().readNBytes(5);
            return greeting.length == 5 && greeting[4] == GREETING_VERSION;
        }
    }

    /** Options of a {@link MariaDbServer}. */
    public static final class Builder extends ServerBuilder<MariaDbServer, Builder> {

        private Builder() {}

        @Override
        public MariaDbServer start() {
            return startOnFreePorts(() -> new MariaDbServer(this));
        }

        @Override
        Builder self() {
            return this;
        }
    }
}
