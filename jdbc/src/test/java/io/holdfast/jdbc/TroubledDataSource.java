package io.holdfast.jdbc;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import javax.sql.DataSource;

/** Lets a test step in around each change that goes through a {@link DataSource}. */
final class TroubledDataSource {

    /** What happens around a change. */
    interface Trouble {
        default void before(String sql) throws Exception {}

        /** The server has carried it out. */
        default void after(String sql) throws Exception {}
    }

    private TroubledDataSource() {}

    static DataSource around(DataSource real, Trouble trouble) {
        return proxy(DataSource.class, (self, method, values) -> {
            Object result = call(real, method, values);
            return result instanceof Connection connection ? around(connection, trouble) : result;
        });
    }

    static SQLException connectionLost() {
        return new SQLException("connection lost", "08006");
    }

    private static Connection around(Connection real, Trouble trouble) {
        return proxy(Connection.class, (self, method, values) -> {
            Object result = call(real, method, values);
            return method.getName().equals("prepareStatement")
                    ? around((PreparedStatement) result, (String) values[0], trouble)
                    : result;
        });
    }

    private static PreparedStatement around(PreparedStatement real, String sql, Trouble trouble) {
        return proxy(PreparedStatement.class, (self, method, values) -> {
            if (!method.getName().equals("executeUpdate")) {
                return call(real, method, values);
            }
            trouble.before(sql);
            Object result = call(real, method, values);
            trouble.after(sql);
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

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }
}
