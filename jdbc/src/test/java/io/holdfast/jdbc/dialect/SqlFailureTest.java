package io.holdfast.jdbc.dialect;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.SocketTimeoutException;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("What an error of the server means")
class SqlFailureTest {

    @ParameterizedTest(name = "{2}")
    @CsvSource({
        "40001, 1213, a deadlock on MySQL",
        "HY000, 1205, a row that stayed locked on MySQL",
        "HY000, 3572, a row that is locked and not waited for on MySQL",
        "HY000, 3101, a certification that failed in a group of primaries",
        "40000, 0, the same as Galera puts it",
        "70100, 1969, a statement that MariaDB ended",
        "40P01, 0, a deadlock on PostgreSQL",
        "40001, 0, a serialization that failed on PostgreSQL",
        "55P03, 0, a row that stayed locked on PostgreSQL",
    })
    void isThatItIsWorthDoingAgain(String state, int code, String what) {
        assertThat(SqlFailure.of(new SQLException(what, state, code))).isEqualTo(SqlFailure.RETRY);
    }

    @ParameterizedTest(name = "{2}")
    @CsvSource({"HY000, 1290, MariaDB", "HY000, 1836, MySQL in read-only mode", "25006, 0, PostgreSQL"})
    void isThatItTakesNoWrites(String state, int code, String what) {
        assertThat(SqlFailure.of(new SQLException(what, state, code))).isEqualTo(SqlFailure.READ_ONLY);
    }

    /** One slow answer says nothing of other connections, which stay. */
    @Test
    void isThatNothingWasHeardInTime() {
        SQLException slow = new SQLNonTransientConnectionException("slow", "08S01", new SocketTimeoutException());
        SQLException broken = new SQLNonTransientConnectionException("reset", "08S01");

        assertThat(SqlFailure.of(slow)).isEqualTo(SqlFailure.DISCONNECTED);
        assertThat(SqlFailure.isTimeout(slow)).isTrue();
        assertThat(SqlFailure.of(broken)).isEqualTo(SqlFailure.DISCONNECTED);
        assertThat(SqlFailure.isTimeout(broken)).isFalse();
    }
}
