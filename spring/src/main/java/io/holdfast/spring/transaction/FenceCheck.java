package io.holdfast.spring.transaction;

import io.holdfast.Lease;
import io.holdfast.jdbc.Fence;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.support.SQLExceptionSubclassTranslator;

/** Checks a token in the transaction of the calling thread. Loaded only where it is asked for: its dependencies are optional. */
final class FenceCheck {

    private FenceCheck() {}

    /** @throws io.holdfast.jdbc.Fence.StaleTokenException if a newer token was seen */
    static void check(BeanFactory beans, Lease lease) {
        DataSource database = beans.getBean(DataSource.class);
        Connection connection = DataSourceUtils.getConnection(database);
        try {
            Fence.check(connection, lease.name(), lease.token());
        } catch (SQLException e) {
            var translated = new SQLExceptionSubclassTranslator().translate("fence of lock " + lease.name(), null, e);
            throw translated != null ? translated : new IllegalStateException(e);
        } finally {
            DataSourceUtils.releaseConnection(connection, database);
        }
    }
}
