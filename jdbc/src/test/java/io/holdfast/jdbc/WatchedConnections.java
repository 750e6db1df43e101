package io.holdfast.jdbc;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Properties;
import java.util.concurrent.Callable;
import javax.sql.DataSource;

/** Lets a test step in around every statement, on the thread that runs it, whatever the statement says. */
final class WatchedConnections {

    /** What happens around a statement. */
    interface Watcher {
        default void before(Connection connection) throws SQLException {}

        /** The server has answered. */
        default void after(Connection connection) throws SQLException {}
    }

    private WatchedConnections() {}

    /** A new connection each time. */
    static DataSource of(Callable<Connection> connect, Watcher watcher) {
        return proxy(DataSource.class, (self, method, values) -> watched(connect.call(), watcher));
    }

    /** For all connections this process opens from now on to that URL, whoever opens them; they go to the real one. */
    static void ofDriver(String url, String realUrl, Watcher watcher) throws SQLException {
        Driver known = DriverManager.getDriver(realUrl);
        // In front of all others, which would take this URL for theirs.
        DriverManager.deregisterDriver(known);
        DriverManager.registerDriver(proxy(Driver.class, (self, method, values) -> {
            boolean ours = values != null && url.equals(values[0]);
            return switch (method.getName()) {
                case "connect" ->
                    ours
                            ? watched(known.connect(realUrl, (Properties) values[1]), watcher)
                            : known.connect((String) values[0], (Properties) values[1]);
                default -> call(known, method, values);
            };
        }));
    }

    private static Object watched(Object result, Watcher watcher) {
        if (!(result instanceof Connection real)) {
            return result;
        }
        return proxy(Connection.class, (self, method, values) -> {
            Object made = call(real, method, values);
            if (made instanceof PreparedStatement statement) {
                return watched(PreparedStatement.class, statement, real, watcher);
            }
            return made instanceof Statement statement ? watched(Statement.class, statement, real, watcher) : made;
        });
    }

    private static <T extends Statement> T watched(Class<T> type, T real, Connection connection, Watcher watcher) {
        return proxy(type, (self, method, values) -> {
            if (!method.getName().startsWith("execute")) {
                return call(real, method, values);
            }
            watcher.before(connection);
            Object result = call(real, method, values);
            watcher.after(connection);
            return result;
        });
    }

    private static Object call(Object target, Method method, Object[] values) throws Throwable {
        try {
            return method.invoke(target, values);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    /** Equal to itself only, as pools and the driver manager want it. */
    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (self, method, values) -> {
                    if (method.getDeclaringClass() != Object.class) {
                        return handler.invoke(self, method, values);
                    }
                    return switch (method.getName()) {
                        case "equals" -> self == values[0];
                        case "hashCode" -> System.identityHashCode(self);
                        default -> "watched " + type.getSimpleName();
                    };
                }));
    }
}
