package io.holdfast.jdbc;

import static org.awaitility.Awaitility.await;

import io.holdfast.jdbc.dialect.Dialect;
import java.time.Duration;

/** Waits until the server says that somebody waits. */
final class RecipeWaits {

    private RecipeWaits() {}

    static void untilBlocked(Database database) {
        String query = database.dialect() == Dialect.POSTGRESQL
                ? "SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                : "SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'";
        await().atMost(Duration.ofSeconds(20)).until(() -> database.number(query) > 0);
    }
}
