package io.holdfast.peers.shedlock;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.holdfast.bench.Contender;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbc.JdbcLockProvider;

/**
 * ShedLock on JDBC. It does not wait, so whoever is refused asks again after 1 to 2 ms. Settings: {@code url}. Thread-safe.
 */
public final class ShedLockContender implements Contender {

    private final HikariDataSource dataSource;
    private final JdbcLockProvider provider;

    private ShedLockContender(HikariDataSource dataSource) {
        this.dataSource = dataSource;
        this.provider = new JdbcLockProvider(dataSource);
    }

    /** Connects, and makes the table. */
    public static final class Factory implements Contender.Factory {

        @Override
        public Contender open(Map<String, String> settings) throws SQLException {
            HikariConfig config = new HikariConfig();
            config.setJdbcUrl(settings.get("url"));
            config.setMaximumPoolSize(32);
            HikariDataSource dataSource = new HikariDataSource(config);
            try (Connection connection = dataSource.getConnection();
                    Statement statement = connection.createStatement()) {
                statement.execute(
                        "CREATE TABLE IF NOT EXISTS shedlock (name VARCHAR(64) NOT NULL, lock_until TIMESTAMP(3)"
                                + " NOT NULL, locked_at TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3), locked_by VARCHAR(255)"
                                + " NOT NULL, PRIMARY KEY (name))");
            } catch (SQLException madeByAnother) {
                // Two JVMs may try at once.
            }
            return new ShedLockContender(dataSource);
        }
    }

    @Override
    public Mutex mutex(String name) {
        return () -> {
            while (true) {
                Optional<SimpleLock> lock =
                        provider.lock(new LockConfiguration(Instant.now(), name, TTL, Duration.ZERO));
                if (lock.isPresent()) {
                    return lock.get()::unlock;
                }
                TimeUnit.MICROSECONDS.sleep(1000 + ThreadLocalRandom.current().nextInt(1000));
            }
        };
    }

    @Override
    public void close() {
        dataSource.close();
    }
}
