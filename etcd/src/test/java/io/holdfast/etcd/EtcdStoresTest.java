package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.holdfast.Demand;
import io.holdfast.Holdfast;
import io.holdfast.LockView.Origin;
import io.holdfast.LockView.Standing;
import io.holdfast.etcd.layout.TicketValue;
import io.holdfast.spi.StoreUri;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("The address of an etcd")
class EtcdStoresTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "etcd://h:1?prefx=a",
                "etcd://h:1/db",
                "etcd://h:1?timeout=0s",
                "etcd://h:1?timeout=soon",
                "etcd://user@h:1",
                "etcd://h:1?ca=/dev/null",
                "etcds://h:1?cert=/dev/null",
                "etcds://h:1?ca=/dev/null/nowhere",
                "etcd://h:1?lease=xyz"
            })
    void mistakesAreToldBeforeAnythingIsConnected(String uri) {
        assertThatThrownBy(() -> new EtcdStores().store(StoreUri.parse(uri)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void theStoreIsFoundByItsScheme() {
        try (Holdfast holdfast = Holdfast.connect("etcd://127.0.0.1:1,127.0.0.1:2?connectTimeout=200ms")) {
            assertThat(holdfast.toString()).isNotNull();
        }
    }

    @Test
    void credentialsAreNotShown() {
        try (TestClient client = TestClient.of("etcd://app:secret@127.0.0.1:1")) {
            assertThat(client.store.traits().store()).contains("127.0.0.1").doesNotContain("secret");
        }
    }

    @Test
    void aTicketTellsWhoWroteItAndWhatItAsksFor() {
        for (Demand demand : List.of(Demand.exclusive(), Demand.shared(), Demand.permits(2, 5))) {
            for (Standing standing : Standing.values()) {
                TicketValue value = new TicketValue(
                        demand,
                        "abc-1",
                        Optional.of(Instant.EPOCH.plus(Duration.ofDays(1))),
                        Optional.of(new Origin("a client =%", "höst", 42, "main thread")),
                        standing);
                assertThat(TicketValue.read(value.write())).isEqualTo(value);
            }
        }
    }

    @Test
    void aNameOverSeveralLinesDoesNotHideWhatATicketAsksFor() {
        TicketValue value = new TicketValue(
                Demand.shared(),
                "abc-1",
                Optional.of(Instant.EPOCH),
                Optional.of(new Origin("a\nclient", "host\r\n", 42, "main\n\nthread")),
                Standing.HELD);
        TicketValue read = TicketValue.read(value.write());
        assertThat(read.demand()).isEqualTo(Demand.shared());
        assertThat(read.origin()).map(Origin::client).contains("a client");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "anything",
                "holdfast 2\nshared\nowner\nno time\na | b | 1 | c",
                "holdfast 2\npermits x y\nowner\n1970-01-01T00:00:00Z\na | b | 1 | c",
                "holdfast 2\npermits 3 2\nowner\n1970-01-01T00:00:00Z\na | b | 1 | c",
                "holdfast 1\nshared\nowner\n1970-01-01T00:00:00Z\na | b | 1 | c"
            })
    void aValueThatIsNotOursIsAnExclusiveDemandOfSomebodyUnknown(String value) {
        TicketValue read = TicketValue.read(ByteString.copyFromUtf8(value));
        assertThat(read.demand()).isEqualTo(Demand.exclusive());
        assertThat(read.origin()).isEmpty();
        assertThat(read.isForeign()).isTrue();
    }
}
