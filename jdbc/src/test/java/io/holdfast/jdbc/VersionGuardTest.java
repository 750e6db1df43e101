package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.jdbc.VersionGuard.VersionConflictException;
import java.sql.Connection;
import java.util.NoSuchElementException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("A version guard")
class VersionGuardTest extends RecipeTest {

    private final VersionGuard guard = VersionGuard.of("counter", "id", "version");

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void loosesNoUpdateWithManyThreads(Database database) throws Exception {
        String id = newCounter(database, 0);

        inThreads(8, () -> {
            for (int i = 0; i < 10; i++) {
                guard.retrying(pool(database), id, 1000, connection -> {
                    write(connection, id, read(connection, id) + 1);
                    return null;
                });
            }
            return null;
        });

        assertThat(amount(database, id)).isEqualTo(80);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void refusesAChangeThatCameSecond(Database database) throws Exception {
        String id = newCounter(database, 3);
        try (Connection first = begin(database)) {
            long seen = guard.version(first, id);
            try (Connection second = begin(database)) {
                guard.advance(second, id, guard.version(second, id));
                second.commit();
            }

            assertThatThrownBy(() -> guard.advance(first, id, seen)).isInstanceOf(VersionConflictException.class);
            first.rollback();
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void givesUpAfterSoManyTriesAndChangesNothing(Database database) throws Exception {
        String id = newCounter(database, 3);
        AtomicInteger tries = new AtomicInteger();

        assertThatThrownBy(() -> guard.retrying(pool(database), id, 4, connection -> {
                    tries.incrementAndGet();
                    database.execute("UPDATE counter SET version = version + 1 WHERE id = '" + id + "'");
                    write(connection, id, 99);
                    return null;
                }))
                .isInstanceOfSatisfying(
                        VersionConflictException.class,
                        e -> assertThat(e.tries()).isEqualTo(4));

        assertThat(tries).hasValue(4);
        assertThat(amount(database, id)).isEqualTo(3);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void saysThatTheRowIsMissing(Database database) {
        assertThatThrownBy(() -> guard.retrying(pool(database), "nobody", 3, connection -> null))
                .isInstanceOf(NoSuchElementException.class)
                .hasMessageContaining("nobody");
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void rollsBackWhatFails(Database database) throws Exception {
        String id = newCounter(database, 3);

        assertThatThrownBy(() -> guard.<Void, IllegalStateException>retrying(pool(database), id, 3, connection -> {
                    write(connection, id, 99);
                    throw new IllegalStateException("no");
                }))
                .hasMessage("no");

        assertThat(amount(database, id)).isEqualTo(3);
    }
}
