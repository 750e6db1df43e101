package io.holdfast.servers;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.servers.process.ServerStartException;
import org.junit.jupiter.api.Test;

class MariaDbServerTest extends ServerContract<MariaDbServer> {

    @Override
    MariaDbServer start() {
        return MariaDbServer.start();
    }

    @Override
    void write(MariaDbServer server, String key, String value) throws Exception {
        JdbcTable.write(server.jdbcUrl(), key, value);
    }

    @Override
    String read(MariaDbServer server, String key) throws Exception {
        return JdbcTable.read(server.jdbcUrl(), key);
    }

    @Test
    void quotesTheLogWhenItCannotStart() {
        assertThatThrownBy(
                        () -> MariaDbServer.builder().args("--no-such-option").start())
                .isInstanceOf(ServerStartException.class)
                .hasMessageContaining("unknown option '--no-such-option'");
    }
}
