package io.holdfast.torture.stand;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.torture.nemesis.Fault;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("a store of the user's own")
class OwnStoreTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = ' ',
            value = {
                "redis://db 6379 redis://127.0.0.1:1000",
                "redis://:pass@db:7000/3?prefix=a 7000 redis://:pass@127.0.0.1:1000/3?prefix=a",
                "etcd://a,b:99,c 2379,99,2379 etcd://127.0.0.1:1000,127.0.0.1:1001,127.0.0.1:1002",
                "zookeeper://u:p@a:1/locks?tick=1s 1 zookeeper://u:p@127.0.0.1:1000/locks?tick=1s",
                "redlock://a,b,c 6379,6379,6379 redlock://127.0.0.1:1000,127.0.0.1:1001,127.0.0.1:1002",
                "jdbc:postgresql://db/app?user=x 5432 jdbc:postgresql://127.0.0.1:1000/app?user=x",
                "jdbc:mariadb://db:33/app 33 jdbc:mariadb://127.0.0.1:1000/app"
            })
    void isReachedThroughProxies(String uri, String ports, String proxied) {
        OwnStore store = new OwnStore(uri);
        List<InetSocketAddress> proxies = new ArrayList<>();
        for (int i = 0; i < store.addresses().size(); i++) {
            proxies.add(new InetSocketAddress("127.0.0.1", 1000 + i));
        }

        assertThat(store.addresses()).extracting(InetSocketAddress::getPort).containsExactlyElementsOf(numbers(ports));
        assertThat(store.uri(proxies)).isEqualTo(proxied);
        assertThat(store.uri()).isEqualTo(uri);
        assertThat(store.faults()).contains(Fault.CUT, Fault.PAUSE).doesNotContain(Fault.SERVER_KILL);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "redis-sentinel://a,b/main",
                "redis-cluster://a",
                "rediss://a",
                "etcds://a",
                "redlock://a,b,c?tls=true",
                "file:/var/lib/locks"
            })
    void hasNoNetworkFaultsWhereAProxyWouldBePassedByOrRefused(String uri) {
        OwnStore store = new OwnStore(uri);

        assertThat(store.addresses()).isEmpty();
        assertThat(store.uri(List.of())).isEqualTo(uri);
        assertThat(store.faults()).contains(Fault.KILL_HOLDER).doesNotContain(Fault.CUT);
    }

    @Test
    void isShownWithoutItsPassword() {
        assertThat(new OwnStore("redis://:secret@db").shown()).doesNotContain("secret");
    }

    private static List<Integer> numbers(String text) {
        return List.of(text.split(",")).stream().map(Integer::valueOf).toList();
    }
}
