package io.holdfast.jdbc.dialect;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

/** The schema files, which are those of {@code docs/stores/}. */
public final class SqlFile {

    /** What PostgreSQL's IF NOT EXISTS still says when a twin creates the same at the same time. */
    private static final Set<String> COLLISIONS = Set.of("23505", "42P07", "42710");

    private SqlFile() {}

    public static List<String> statements(String resource) {
        String code =
                read(resource).lines().filter(line -> !line.startsWith("--")).collect(Collectors.joining("\n"));
        return Arrays.stream(code.split(";"))
                .map(String::strip)
                .filter(statement -> !statement.isEmpty())
                .toList();
    }

    public static boolean isCollision(SQLException e) {
        return e.getSQLState() != null && COLLISIONS.contains(e.getSQLState());
    }

    private static String read(String resource) {
        try (InputStream in =
                Objects.requireNonNull(SqlFile.class.getResourceAsStream("/io/holdfast/jdbc/" + resource), resource)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
