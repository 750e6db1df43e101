package io.holdfast.etcd.session;

import io.holdfast.LossReason;
import io.holdfast.etcd.client.WatchHub;
import io.holdfast.etcd.internal.wire.KeyValue;
import io.holdfast.etcd.layout.Keys;
import java.util.List;

/** Hears of a session's own key: gone if the lease is, changed by a forced release. Called on the stream's thread only. */
final class SessionWatcher implements WatchHub.Watcher {

    private final Session session;
    private final Sessions sessions;
    private final TicketKeys ticketKeys;

    SessionWatcher(Session session, Sessions sessions, TicketKeys ticketKeys) {
        this.session = session;
        this.sessions = sessions;
        this.ticketKeys = ticketKeys;
    }

    /** What happened before, or during a gap, shows in the keys. */
    @Override
    public void opened(long revision) {
        if (!session.live().isEmpty()) {
            sessions.checkHeld(session);
        }
    }

    @Override
    public void deleted(List<KeyValue> gone) {
        sessions.lose(session, LossReason.GONE, "its " + session + " was revoked or has expired");
    }

    @Override
    public void changed(KeyValue now) {
        if (now.getValue().toStringUtf8().startsWith(Keys.FORCED)) {
            TicketKey key = session.live().get(now.getValue().substring(Keys.FORCED.length()));
            if (key != null) {
                ticketKeys.lose(key, LossReason.FORCED, "an administrator released it by force");
            }
        }
    }
}
