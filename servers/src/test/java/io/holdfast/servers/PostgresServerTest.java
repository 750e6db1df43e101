package io.holdfast.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.servers.process.ProcessTree;
import io.holdfast.servers.process.ServerStartException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.Test;

class PostgresServerTest extends ServerContract<PostgresServer> {

    @Override
    PostgresServer start() {
        return PostgresServer.start();
    }

    @Override
    void write(PostgresServer server, String key, String value) throws Exception {
        JdbcTable.write(server.jdbcUrl(), key, value);
    }

    @Override
    String read(PostgresServer server, String key) throws Exception {
        return JdbcTable.read(server.jdbcUrl(), key);
    }

    @Test
    void pausesThoseItAlreadyServesToo() throws Exception {
        try (Connection connection = DriverManager.getConnection(server.jdbcUrl());
                Statement statement = connection.createStatement()) {
            statement.execute("SELECT 1");
            connection.setNetworkTimeout(Runnable::run, 1000);
            server.pause();
            assertThatThrownBy(() -> statement.execute("SELECT 1")).isInstanceOf(SQLException.class);
        } finally {
            server.resume();
        }
    }

    @Test
    void stopsAlthoughClientsAreConnected() throws Exception {
        try (Connection connection = DriverManager.getConnection(server.jdbcUrl())) {
            assertThat(connection.isValid(5)).isTrue();
            server.stop();
            assertThat(connection.isValid(5)).isFalse();
        }
        server.restart();
    }

    @Test
    void killsItsChildrenToo() throws Exception {
        try (Connection connection = DriverManager.getConnection(server.jdbcUrl())) {
            assertThat(connection.isValid(5)).isTrue();
            List<Long> children =
                    ProcessTree.descendants(ProcessHandle.of(server.pid()).orElseThrow());
            assertThat(children).isNotEmpty();

            server.kill();

            assertThat(children).allMatch(ProcessTree::isGone);
        }
        server.restart();
    }

    @Test
    void quotesTheLogWhenItCannotStart() {
        assertThatThrownBy(() ->
                        PostgresServer.builder().args("-c", "no_such_option=1").start())
                .isInstanceOf(ServerStartException.class)
                .hasMessageContaining("unrecognized configuration parameter \"no_such_option\"");
    }
}
