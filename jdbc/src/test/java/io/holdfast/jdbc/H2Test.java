package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Holdfast;
import io.holdfast.Lease;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("H2 of each sort")
class H2Test {

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "mem:NAME;DB_CLOSE_DELAY=-1",
                "mem:NAME;DB_CLOSE_DELAY=-1;MODE=MySQL",
                "mem:NAME;DB_CLOSE_DELAY=-1;MODE=MariaDB",
                "mem:NAME;DB_CLOSE_DELAY=-1;MODE=PostgreSQL",
                "mem:NAME;DB_CLOSE_DELAY=-1;MODE=PostgreSQL;DATABASE_TO_LOWER=TRUE;DEFAULT_NULL_ORDERING=HIGH",
                "file:DIRECTORY/NAME",
                "file:DIRECTORY/NAME;AUTO_SERVER=TRUE",
                "tcp://127.0.0.1:PORT/mem:NAME;DB_CLOSE_DELAY=-1"
            })
    void keepsLocksOfAllKinds(String where) throws Exception {
        String url = "jdbc:h2:"
                + where.replace("NAME", "h2-" + Database.unique("x"))
                        .replace("DIRECTORY", directory.toString())
                        .replace("PORT", Integer.toString(Database.H2.port()))
                + "?createSchema=true";
        try (Holdfast one = Holdfast.connect(url);
                Holdfast two = Holdfast.connect(url)) {
            Lease held = one.lock("job").acquire();
            assertThat(two.lock("job").tryAcquire()).isEmpty();
            assertThat(two.lock("Job").tryAcquire()).isPresent();
            CompletableFuture<Lease> next = two.lock("job").acquireAsync();
            held.extend(Duration.ofMinutes(1));
            held.release();
            assertThat(next.get(10, TimeUnit.SECONDS).token()).isGreaterThan(held.token());

            try (Lease reader = one.readWriteLock("rw").readLock().acquire();
                    Lease other = two.readWriteLock("rw").readLock().acquire()) {
                assertThat(two.readWriteLock("rw").writeLock().tryAcquire()).isEmpty();
                assertThat(one.readWriteLock("rw").readLock().acquire().isValid())
                        .isTrue();
            }
            try (Lease permit = one.semaphore("s", 1).acquire()) {
                assertThat(two.semaphore("s", 1).tryAcquire()).isEmpty();
                assertThat(one.locks("s")).hasSize(1);
            }
            assertThat(two.semaphore("s", 1).tryAcquire()).isPresent();
        }
    }
}
