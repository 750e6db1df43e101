package io.holdfast.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.holdfast.spi.StoreUri.HostPort;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StoreUriTest {

    private static final String CANARY = "s3cr3t-c4n4ry";

    @Test
    void readsHostsPathAndParameters() {
        StoreUri uri =
                StoreUri.parse("Redis://joe:p%40ss@h1:7000,h2,[::1]:7002/3?prefix=a%3A&timeout=250ms&replicas=2");

        assertThat(uri.scheme()).isEqualTo("redis");
        assertThat(uri.user()).contains("joe");
        assertThat(uri.password()).contains("p@ss");
        assertThat(uri.hosts())
                .containsExactly(
                        new HostPort("h1", Optional.of(7000)),
                        new HostPort("h2", Optional.empty()),
                        new HostPort("::1", Optional.of(7002)));
        assertThat(uri.path()).isEqualTo("/3");
        assertThat(uri.text("prefix")).contains("a:");
        assertThat(uri.duration("timeout")).contains(Duration.ofMillis(250));
        assertThat(uri.integer("replicas")).contains(2);
        assertThat(uri.text("missing")).isEmpty();
    }

    @Test
    void readsOpaqueAddresses() {
        assertThat(StoreUri.parse("memory:").path()).isEmpty();
        assertThat(StoreUri.parse("memory:test").path()).isEqualTo("test");
        assertThat(StoreUri.parse("file:/var/lib/my%20locks").path()).isEqualTo("/var/lib/my locks");
        assertThat(StoreUri.parse("file:///var/locks").path()).isEqualTo("/var/locks");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "redis://:" + CANARY + "@localhost",
                "redis://joe:" + CANARY + "@localhost/0",
                "redis://joe:a@" + CANARY + "@localhost/0",
                "redis://joe:pa#" + CANARY + "@localhost/0",
                "redis://localhost/0?prefix=" + CANARY + "@x",
                "jdbc:mariadb://localhost/db?user=joe&password=" + CANARY,
                "jdbc:postgresql://localhost/db?sslpassword=" + CANARY,
                "etcd://joe:" + CANARY + "@h1,h2?authToken=" + CANARY
            })
    void neverShowsCredentials(String text) {
        StoreUri uri = StoreUri.parse(text);

        assertThat(uri.toString()).doesNotContain(CANARY);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> StoreUri.parse(text + (text.contains("?") ? "&" : "?") + "zzz=1")
                        .requireParametersIn(Set.of("user", "password", "sslpassword", "authToken")))
                .withMessageContaining("zzz")
                .satisfies(e -> assertThat(e.getMessage()).doesNotContain(CANARY));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "redis://joe:pa/" + CANARY + "@localhost",
                "redis://joe:" + CANARY + "/ss@localhost",
                "redis://joe:pa?" + CANARY + "@localhost",
                "redis://joe:" + CANARY + "?ss@localhost",
                "redis://joe:pa#" + CANARY + "/ss@localhost",
                "redis://:" + CANARY + "/ss@localhost",
                "redis://" + CANARY + ":pa/ss@localhost",
                "redis://" + CANARY + "/ss@localhost",
                "redis://joe:1234/" + CANARY + "@localhost",
                "redis://joe:1234?" + CANARY + "@localhost",
                "redis://joe:1234?timeout=" + CANARY + "@localhost"
            })
    void credentialsThatWereNotEscapedAreNotShownEither(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> {
                    StoreUri uri = StoreUri.parse(text);
                    uri.requireParametersIn(Set.of("timeout"));
                    uri.duration("timeout");
                })
                .withMessageContaining("@localhost")
                .satisfies(e -> assertThat(e.getMessage()).doesNotContain(CANARY));
    }

    @Test
    void passwordThatWasNotEscapedIsToldFromAPort() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> StoreUri.parse("redis://joe:pa/ss@localhost"))
                .withMessageContaining("%2F");
    }

    @Test
    void errorsNameWhatIsWrongWithoutCredentials() {
        String badPort = "redis://joe:" + CANARY + "@localhost:port";
        assertThatIllegalArgumentException()
                .isThrownBy(() -> StoreUri.parse(badPort))
                .withMessageContaining("localhost")
                .satisfies(e -> assertThat(e.getMessage()).doesNotContain(CANARY));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> StoreUri.parse("//joe:" + CANARY + "@localhost"))
                .withMessageContaining("scheme")
                .satisfies(e -> assertThat(e.getMessage()).doesNotContain(CANARY));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> StoreUri.parse("x://h?timeout=soon").duration("timeout"))
                .withMessageContaining("timeout")
                .withMessageContaining("500ms");
    }
}
