package io.holdfast.jdbc;

import io.holdfast.Demand;
import io.holdfast.jdbc.LockSql.Kind;
import io.holdfast.spi.Request;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;

/**
 * A lock as a look at its row shows it, perhaps of a moment ago: good for deciding whether asking pays. Immutable.
 *
 * @param kind how it is or was held
 * @param heldUntil the server's time when that ends unless renewed
 * @param line who waits
 * @param now the server's time
 */
record Sight(Kind kind, long heldUntil, String line, long now) {

    static Optional<Sight> of(Session session, LockSql sql, String name) throws SQLException {
        return session.query(sql.look, Sight::read, sql.name(name)).stream().findFirst();
    }

    /** Kind, expiry, line and the server's time, in this order. */
    static Sight read(ResultSet row) throws SQLException {
        return new Sight(Kind.parse(row.getString(1)), row.getLong(2), row.getString(3), row.getLong(4));
    }

    /** Whether a request would be refused now: by a holder it cannot share with, or by others who were there first. */
    boolean refuses(Request request) {
        Kind wanted = Kind.of(request.demand());
        boolean shares = wanted == kind && !(request.demand() instanceof Demand.Exclusive);
        return (isHeld() && !shares) || !waiting().admits(request.owner().client(), wanted);
    }

    boolean isHeld() {
        return heldUntil > now;
    }

    /** Whether the first in line has died: then somebody who waits has to clear its place away. */
    boolean hasDeadFirst() {
        return line.length() >= Line.PLACE_LENGTH
                && Long.parseLong(line.substring(Line.WHO_LENGTH, Line.PLACE_LENGTH)) <= now;
    }

    Line waiting() {
        return Line.parse(line, now);
    }

    String reason() {
        return isHeld() ? "it is held " + kind.text : "others wait for it";
    }
}
