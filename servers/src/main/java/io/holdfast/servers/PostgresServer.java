package io.holdfast.servers;

import io.holdfast.servers.process.Executables;
import io.holdfast.servers.process.Launcher;
import io.holdfast.servers.process.ProcessTree;
import io.holdfast.servers.wire.Probe;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A {@code postgres} on loopback, with a user {@code postgres} without password and an empty database {@code postgres}.
 *
 * <p>Runs as the user {@code postgres} when this JVM runs as root. By default it does not sync to disk: data survives a kill
 * of the process, not of the machine. Thread-safe.
 */
public final class PostgresServer extends ServerProcess {

    private static final int PROTOCOL_3_0 = 3 << 16;
    private static final int AUTHENTICATION = 'R';

    private final boolean durable;

    private PostgresServer(Builder builder) {
        super("postgres", builder);
        durable = builder.durable;
    }

    /** Starts a server with default options. */
    public static PostgresServer start() {
        return builder().start();
    }

    public static Builder builder() {
        return new Builder();
    }

    /** A URL for PostgreSQL's driver, user included. */
    public String jdbcUrl() {
        return jdbcUrl(port());
    }

    /** The same through another port, such as a proxy's. */
    public String jdbcUrl(int port) {
        return "jdbc:postgresql://127.0.0.1:" + port + "/postgres?user=postgres&sslmode=disable";
    }

    @Override
    @Nullable
    String user() {
        return serviceUser("postgres");
    }

    @Override
    void initialise() throws IOException {
        Launcher.run(
                List.of(
                        Executables.findPostgres("initdb"),
                        "--pgdata=" + data(),
                        "--auth=trust",
                        "--username=postgres",
                        "--encoding=UTF8",
                        "--locale=C",
                        "--no-sync",
                        "--no-instructions"),
                user(),
                data());
    }

    @Override
    List<String> command() {
        List<String> command = new ArrayList<>(List.of(
                Executables.findPostgres("postgres"),
                "-D",
                data().toString(),
                "-p",
                Integer.toString(port()),
                "-c",
                "listen_addresses=127.0.0.1",
                "-c",
                "unix_socket_directories=",
                "-c",
                "max_connections=500"));
        if (!durable) {
            command.addAll(List.of("-c", "fsync=off", "-c", "full_page_writes=off"));
        }
        command.addAll(arguments());
        return command;
    }

    /** SIGINT is its fast shutdown; SIGTERM would wait for every client to leave. */
    @Override
    void requestStop(Process running) {
        ProcessTree.signal("INT", List.of(running.pid()));
    }

    /** A server that is still recovering answers the start-up message with an error. */
    @Override
    boolean answers() throws IOException {
        return answersAt(address());
    }

    static boolean answersAt(InetSocketAddress address) throws IOException {
        byte[] parameters = "user\0postgres\0database\0postgres\0\0".getBytes(StandardCharsets.US_ASCII);
        ByteBuffer startup = ByteBuffer.allocate(8 + parameters.length);
        startup.putInt(startup.capacity()).putInt(PROTOCOL_3_0).put(parameters);
        try (Probe probe = Probe.connect(address, null)) {
            probe.send(startup.array());
            return probe.input().read() == AUTHENTICATION;
        }
    }

    /** Options of a {@link PostgresServer}. */
    public static final class Builder extends ServerBuilder<PostgresServer, Builder> {

        private Builder() {}

        @Override
        public PostgresServer start() {
            return startOnFreePorts(() -> new PostgresServer(this));
        }

        @Override
        Builder self() {
            return this;
        }
    }
}
