package io.holdfast.jdbc.ticket;

import io.holdfast.Demand;
import io.holdfast.jdbc.connection.Session;
import io.holdfast.jdbc.row.Kind;
import io.holdfast.jdbc.row.LockSql;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.Withdrawal;
import java.sql.SQLException;

/** Removes whatever a ticket may have left, by its owner. */
public final class Withdrawals {

    private Withdrawals() {}

    public static Withdrawal withdraw(Session session, LockSql sql, Ticket ticket) throws SQLException {
        String owner = ticket.owner().toString();
        // The ticket first: without it a request that is still under way at the server comes to nothing.
        boolean removed = sql.removeUnlessHeld(session, owner);
        removed |= ticket.demand() instanceof Demand.Exclusive && sql.withdraw(session, ticket);
        if (!removed) {
            // Also if it was to hold the lock alone: whether it was downgraded may be what is not known.
            removed = sql.leave(session, owner, Kind.permits(ticket.demand()));
            // If its time was over it was nobody's already.
            sql.remove(session, owner);
        }
        return removed ? Withdrawal.REMOVED : Withdrawal.NOT_FOUND;
    }
}
