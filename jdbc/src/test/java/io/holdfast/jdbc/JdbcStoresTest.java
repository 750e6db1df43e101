package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.spi.StoreUri;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A jdbc URL")
class JdbcStoresTest {

    @Test
    void goesToTheDriverWithoutOurParameters() {
        assertThat(JdbcStores.driverUrl(
                        "jdbc:postgresql://h/db?user=u&table=t&createSchema=true&ssl=true&connections=2"))
                .isEqualTo("jdbc:postgresql://h/db?user=u&ssl=true");
        assertThat(JdbcStores.driverUrl("jdbc:mariadb://h/db?table=t")).isEqualTo("jdbc:mariadb://h/db");
        assertThat(JdbcStores.driverUrl("jdbc:mariadb://h/db")).isEqualTo("jdbc:mariadb://h/db");
    }

    @Test
    void ofMySqlIsServedByMariaDbsDriverWhereMySqlsIsMissing() {
        assertThat(JdbcStores.drivable("jdbc:mysql://h/db?a=b", url -> url.startsWith("jdbc:mariadb:")))
                .isEqualTo("jdbc:mariadb://h/db?a=b");
        assertThat(JdbcStores.drivable("jdbc:mysql://h/db", url -> true)).isEqualTo("jdbc:mysql://h/db");
    }

    @Test
    void withoutADriverSaysWhichToAddAndHidesThePassword() {
        assertThatThrownBy(() -> JdbcStores.drivable("jdbc:postgresql://h/db?password=secret", url -> false))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("org.postgresql:postgresql")
                .hasMessageNotContaining("secret");
    }

    @Test
    void ofAnotherDatabaseIsRefused() {
        assertThatThrownBy(() -> new JdbcStores().store(StoreUri.parse("jdbc:oracle:thin:@h")))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void withAWrongValueIsRefused() {
        for (String wrong : new String[] {"table=a-b", "createSchema=yes", "connections=0", "connections=x"}) {
            assertThatThrownBy(() -> new JdbcStores().store(StoreUri.parse("jdbc:postgresql://h/db?" + wrong)))
                    .as(wrong)
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }
}
