package io.holdfast.peers.springjdbc;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.holdfast.bench.Contender;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.concurrent.locks.Lock;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.jdbc.support.JdbcTransactionManager;

/** Spring Integration's {@code JdbcLockRegistry} at its defaults. Settings: {@code url}. Thread-safe. */
public final class SpringJdbcContender implements Contender {

    private final HikariDataSource dataSource;
    private final JdbcLockRegistry registry;

    private SpringJdbcContender(HikariDataSource dataSource, JdbcLockRegistry registry) {
        this.dataSource = dataSource;
        this.registry = registry;
    }

    /** Connects, and makes the table. */
    public static final class Factory implements Contender.Factory {

        @Override
        public Contender open(Map<String, String> settings) throws Exception {
            HikariConfig config = new HikariConfig();
            config.setJdbcUrl(settings.get("url"));
            config.setMaximumPoolSize(32);
            HikariDataSource dataSource = new HikariDataSource(config);
            createTable(dataSource, settings.get("url").contains("postgresql") ? "postgresql" : "mysql");
            DefaultLockRepository repository = new DefaultLockRepository(dataSource);
            repository.setTransactionManager(new JdbcTransactionManager(dataSource));
            GenericApplicationContext context = new GenericApplicationContext();
            context.refresh();
            repository.setApplicationContext(context);
            repository.afterPropertiesSet();
            repository.afterSingletonsInstantiated();
            repository.start();
            return new SpringJdbcContender(dataSource, new JdbcLockRegistry(repository, TTL));
        }

        /** The table as the library's own script has it. */
        private static void createTable(HikariDataSource dataSource, String database) throws IOException {
            String script;
            try (InputStream in = JdbcLockRegistry.class.getResourceAsStream(
                    "/org/springframework/integration/jdbc/schema-" + database + ".sql")) {
                script = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            }
            int begin = script.indexOf("CREATE TABLE INT_LOCK");
            String ddl = script.substring(begin, script.indexOf(';', begin));
            try (Connection connection = dataSource.getConnection();
                    Statement statement = connection.createStatement()) {
                statement.execute(ddl);
            } catch (SQLException thereAlready) {
                // Every JVM tries.
            }
        }
    }

    @Override
    public Mutex mutex(String name) {
        Lock lock = registry.obtain(name);
        Held held = lock::unlock;
        return () -> {
            lock.lock();
            return held;
        };
    }

    @Override
    public void close() {
        dataSource.close();
    }
}
