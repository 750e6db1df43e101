package io.holdfast.etcd.session;

import io.holdfast.LossReason;
import io.holdfast.etcd.client.WatchHub;
import io.holdfast.etcd.internal.wire.Event;
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
        if (!session.isUnused()) {
            sessions.checkHeld(session);
        }
    }

    @Override
    public void changed(List<Event> events) {
        for (Event event : events) {
            if (event.getType() == Event.EventType.DELETE) {
                sessions.lose(session, LossReason.GONE, "its " + session + " was revoked or has expired");
            } else {
                rewritten(event.getKv().getValue().toStringUtf8());
            }
        }
    }

    private void rewritten(String value) {
        if (value.startsWith(Keys.FORCED)) {
            String created = value.substring(Keys.FORCED.length());
            session.live()
                    .filter(key -> String.valueOf(key.revision()).equals(created))
                    .forEach(key -> ticketKeys.lose(key, LossReason.FORCED, "an administrator released it by force"));
        }
    }
}
