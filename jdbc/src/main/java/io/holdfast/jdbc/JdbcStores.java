package io.holdfast.jdbc;

import io.holdfast.jdbc.dialect.Dialect;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.StoreProvider;
import io.holdfast.spi.StoreUri;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import javax.sql.DataSource;

/** Serves {@code jdbc:} URLs: those of the driver, with a few parameters of ours that the driver does not see. */
public final class JdbcStores implements StoreProvider {

    private static final String TABLE = "table";
    private static final String CREATE_SCHEMA = "createSchema";
    private static final String CONNECTIONS = "connections";
    private static final Set<String> OURS = Set.of(TABLE, CREATE_SCHEMA, CONNECTIONS);

    /**
     * Over connections of the user's, which stay the user's to close. Give it a plain {@code DataSource}: one that hands out
     * the connection of the transaction under way would mix locks with the caller's data.
     */
    public static JdbcStore using(DataSource dataSource) {
        return JdbcStore.using(dataSource);
    }

    @Override
    public Set<String> schemes() {
        return Set.of("jdbc");
    }

    @Override
    public String example() {
        return "jdbc:postgresql://localhost/app?user=app";
    }

    @Override
    public StoreFactory store(StoreUri uri) {
        String url = driverUrl(uri.raw());
        String product = url.split(":", 3)[1];
        String drivable = drivable(url, JdbcStores::hasDriver);
        JdbcStore store = JdbcStore.at(uri.toString(), drivable, Dialect.named(product));
        if (uri.text(TABLE).isPresent()) {
            store = store.withTable(uri.text(TABLE).get());
        }
        if (uri.flag(CREATE_SCHEMA).orElse(false)) {
            store = store.withSchemaCreated();
        }
        return uri.integer(CONNECTIONS).isPresent()
                ? store.withConnections(uri.integer(CONNECTIONS).get())
                : store;
    }

    /** The URL without the parameters that are ours. */
    static String driverUrl(String raw) {
        int question = raw.indexOf('?');
        if (question < 0) {
            return raw;
        }
        String rest = Arrays.stream(raw.substring(question + 1).split("&"))
                .filter(pair -> !OURS.contains(pair.split("=", 2)[0]))
                .collect(Collectors.joining("&"));
        return rest.isEmpty() ? raw.substring(0, question) : raw.substring(0, question + 1) + rest;
    }

    /** MariaDB's driver speaks to MySQL too, and serves its URLs where MySQL's own driver is not there. */
    static String drivable(String url, Predicate<String> hasDriver) {
        String mariaDb = url.replaceFirst("(?i)^jdbc:mysql:", "jdbc:mariadb:");
        if (hasDriver.test(url)) {
            return url;
        }
        if (hasDriver.test(mariaDb)) {
            return mariaDb;
        }
        throw new IllegalArgumentException("no JDBC driver on the class path serves " + StoreUri.parse(url)
                + ": add org.postgresql:postgresql or org.mariadb.jdbc:mariadb-java-client");
    }

    private static boolean hasDriver(String url) {
        return DriverManager.drivers().anyMatch(driver -> accepts(driver, url));
    }

    private static boolean accepts(Driver driver, String url) {
        try {
            return driver.acceptsURL(url);
        } catch (SQLException e) {
            return false;
        }
    }
}
