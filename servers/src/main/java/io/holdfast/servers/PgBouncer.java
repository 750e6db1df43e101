package io.holdfast.servers;

import io.holdfast.servers.process.Executables;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A {@code pgbouncer} on loopback before a {@link PostgresServer}, in transaction mode: whoever connects gets another of the
 * server's connections with every transaction.
 *
 * <p>Runs as the user {@code postgres} when this JVM runs as root. Thread-safe.
 */
public final class PgBouncer extends ServerProcess {

    private final PostgresServer behind;

    private PgBouncer(Builder builder) {
        super("pgbouncer", builder);
        behind = builder.behind;
    }

    /** Starts one before that server. */
    public static PgBouncer before(PostgresServer server) {
        return new Builder(server).start();
    }

    /** A URL for PostgreSQL's driver, user included. The driver must not count on prepared statements. */
    public String jdbcUrl() {
        return behind.jdbcUrl(port()) + "&prepareThreshold=0";
    }

    @Override
    @Nullable
    String user() {
        return serviceUser("postgres");
    }

    @Override
    void initialise() throws IOException {
        Files.writeString(configuration(), """
                [databases]
                * = host=127.0.0.1 port=%d user=postgres
                [pgbouncer]
                listen_addr = 127.0.0.1
                listen_port = %d
                unix_socket_dir =
                auth_type = any
                pool_mode = transaction
                default_pool_size = 20
                ignore_startup_parameters = extra_float_digits
                """.formatted(behind.port(), port()));
    }

    private Path configuration() {
        return data().resolve("pgbouncer.ini");
    }

    @Override
    List<String> command() {
        return List.of(
                Executables.find("pgbouncer", "pgbouncer"), configuration().toString());
    }

    @Override
    boolean answers() throws IOException {
        return PostgresServer.answersAt(address());
    }

    private static final class Builder extends ServerBuilder<PgBouncer, Builder> {

        private final PostgresServer behind;

        Builder(PostgresServer behind) {
            this.behind = behind;
        }

        @Override
        public PgBouncer start() {
            return startOnFreePorts(() -> new PgBouncer(this));
        }

        @Override
        Builder self() {
            return this;
        }
    }
}
