package io.holdfast.bench.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("the address of a store")
class StoreAddressTest {

    private static final InetSocketAddress PROXY = new InetSocketAddress("127.0.0.1", 999);

    @ParameterizedTest
    @CsvSource({
        "redis://u:p@localhost:6379/0, 6379, redis://u:p@127.0.0.1:999/0",
        "redis://localhost, 6379, redis://127.0.0.1:999",
        "etcd://localhost?prefix=a/, 2379, etcd://127.0.0.1:999?prefix=a/",
        "zookeeper://localhost:1234, 1234, zookeeper://127.0.0.1:999",
        "jdbc:postgresql://localhost/db?user=x, 5432, jdbc:postgresql://127.0.0.1:999/db?user=x"
    })
    void knowsItsServerAndCanBePutBehindAProxy(String uri, int port, String through) {
        StoreAddress address = StoreAddress.of(uri);

        assertThat(address.server().orElseThrow().getPort()).isEqualTo(port);
        assertThat(address.through(PROXY)).isEqualTo(through);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"memory:", "file:/tmp/x", "redis://a,b", "redis-cluster://a", "etcds://a", "redlock://a,b,c"})
    void hasNoServerToLookAtIfItIsNotExactlyOne(String uri) {
        assertThat(StoreAddress.of(uri).server()).isEmpty();
    }

    @Test
    void showsNoCredentials() {
        assertThat(StoreAddress.of("redis://u:secret@localhost")).hasToString("redis://***@localhost");
    }
}
