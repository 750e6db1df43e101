package io.holdfast.jdbc.row;

import io.holdfast.Demand;
import io.holdfast.spi.Refusal;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;

/**
 * A lock as one SELECT showed it, perhaps of a moment ago: good for deciding whether asking pays. Immutable.
 *
 * @param kind how it is or was held
 * @param taken how many permits are taken; one if it is held alone
 * @param total of how many
 * @param expiresAt the server's time when an exclusive grant ends; far ahead for others
 * @param token of the last grant
 * @param queuedUntil the server's time after which nobody waits
 * @param now the server's time
 * @param ahead how many live tickets are in the way, counted up to {@link LockSql#COUNTED_AHEAD}
 * @param before of a reader in the queue: how many tickets came before its own, readers included, counted as far
 */
public record LockState(
        Kind kind,
        int taken,
        int total,
        long expiresAt,
        long token,
        long queuedUntil,
        long now,
        int ahead,
        int before) {

    /** Reads the columns in the order of the components. */
    static LockState read(ResultSet row) throws SQLException {
        return new LockState(
                Kind.parse(row.getString(1)),
                row.getInt(2),
                row.getInt(3),
                row.getLong(4),
                row.getLong(5),
                row.getLong(6),
                row.getLong(7),
                row.getInt(8),
                row.getInt(9));
    }

    boolean isFree() {
        return taken == 0 || expiresAt <= now;
    }

    /** Whether a holder died that had it alone, and nobody took it since. */
    public boolean isLeftByTheDead() {
        return kind == Kind.EXCLUSIVE && taken > 0 && expiresAt <= now;
    }

    /** Whether it is held by tickets, of which some may be dead. */
    public boolean isHeldByTickets() {
        return kind != Kind.EXCLUSIVE && taken > 0;
    }

    /** For how much longer it is marked as queued for. */
    public Duration queuedFor() {
        return LockSql.ofMicros(queuedUntil - now);
    }

    /** For how long one has had it alone: a token is the server's time, unless that was set back, or the token raised. */
    public Duration heldFor() {
        return kind == Kind.EXCLUSIVE && !isFree() ? LockSql.ofMicros(now - token) : Duration.ZERO;
    }

    /** Whether a request would be granted now. */
    public boolean admits(Demand demand) {
        return ahead == 0 && (isFree() || fits(demand));
    }

    private boolean fits(Demand demand) {
        return kind != Kind.EXCLUSIVE
                && kind == Kind.of(demand)
                && (long) taken + Kind.permits(demand) <= Math.min(total, Kind.total(demand));
    }

    public Refusal refusal() {
        if (isFree()) {
            return new Refusal("others wait for it");
        }
        Optional<Duration> timeLeft =
                isHeldByTickets() ? Optional.empty() : Optional.of(LockSql.ofMicros(expiresAt - now));
        return new Refusal(timeLeft, "it is held " + kind.text);
    }
}
