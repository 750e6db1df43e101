package io.holdfast.jdbc;

import io.holdfast.Demand;
import io.holdfast.jdbc.LockSql.Kind;
import io.holdfast.spi.Ticket;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;

/**
 * A lock as a look at its row shows it, perhaps of a moment ago: good for deciding whether asking pays. Immutable.
 *
 * @param kind how it is or was held
 * @param heldUntil the server's time when that ends unless renewed
 * @param line who waits
 * @param token of the last grant
 * @param now the server's time
 */
record Sight(Kind kind, long heldUntil, String line, long token, long now) {

    static Optional<Sight> of(Session session, LockSql sql, String name) throws SQLException {
        return session.query(sql.look, Sight::read, sql.name(name)).stream().findFirst();
    }

    /** Kind, expiry, line, token and the server's time, in this order. */
    static Sight read(ResultSet row) throws SQLException {
        return new Sight(
                Kind.parse(row.getString(1)), row.getLong(2), row.getString(3), row.getLong(4), row.getLong(5));
    }

    /** Whether a request would be refused now: by a holder it cannot share with, or by others who were there first. */
    boolean refuses(Ticket ticket, String client) {
        Kind wanted = Kind.of(ticket.demand());
        boolean shares = wanted == kind && !(ticket.demand() instanceof Demand.Exclusive);
        return (isHeld() && !shares) || !waiting().admits(client, wanted);
    }

    boolean isHeld() {
        return heldUntil > now;
    }

    /** Whether the first in line has died: then somebody who waits has to clear its place away. */
    boolean hasDeadFirst() {
        return line.length() >= Line.PLACE_LENGTH
                && !Line.isKept(Long.parseLong(line.substring(Line.WHO_LENGTH, Line.PLACE_LENGTH)), now);
    }

    /** Whether nobody holds it, and those who have batons come first if there are any. */
    boolean isLeftToRelay() {
        return !isHeld() && waiting().startsWith(Line.RELAY);
    }

    /** Whether a client's place in line is kept for so long that it need not be renewed yet. */
    boolean keepsPlace(String client, Kind wanted) {
        return placeLeft(client, wanted).multipliedBy(2).compareTo(Line.KEPT) >= 0;
    }

    /** How long a client's place in line will be kept; zero if it has none. */
    Duration placeLeft(String client, Kind wanted) {
        return LockSql.ofMicros(waiting().placeUntil(client, wanted) - now);
    }

    Line waiting() {
        return Line.parse(line, now);
    }

    String reason() {
        return isHeld() ? "it is held " + kind.text : "others wait for it";
    }
}
