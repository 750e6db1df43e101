package io.holdfast.zookeeper.ticket;

import io.holdfast.zookeeper.session.Session;
import io.holdfast.zookeeper.session.WatchHub;
import org.apache.zookeeper.Watcher.Event.EventType;

/** Up to which number the nodes in a directory are gone, as one session knows from its own nodes there. Thread-safe. */
final class QuietDirectory implements WatchHub.Listener {

    /*
     * A lock that one client takes again and again needs no listing. ZooKeeper numbers all children of a directory without a
     * gap and never uses a number twice, so "all below n are gone" is true for ever once it was. Our node was the first in a
     * listing: all below its number are gone. We deleted it: it is gone too. The next node we make there has the next number:
     * nobody came between, so it is the first in the queue and holds the lock, whatever it asks for.
     *
     * For ever, but for one thing: a directory that is removed and made anew counts from zero. Removed it is only when empty,
     * as it is between two of our nodes. So a watch is set on the directory itself first, and what is known is
     * known from nodes made after that, on the same connection. Its removal is an event that comes before the answer to
     * whatever is created later, and ends this object; so does anything else that happens to the watch or the
     * connection. Nodes keep the object they were made with: what they find out late does not reach its successor.
     * (Servers hide the event from those who may not read the directory. Who may not cannot list either, and gets no lock;
     * but do not take that right away from clients while a lock is in use.)
     *
     * A watch and the lost pipelining of a wrong guess cost more than a listing where others use the lock too, or where
     * it is used once or twice. So the first two nodes list, and only if they had successive numbers the third sets the watch.
     */

    private enum Knowledge {
        /** Others may use the directory as well: who makes a node lists. */
        GUESSED,
        /** Two nodes in a row were ours: the next one watches. */
        WORTH_WATCHING,
        /** The removal of the directory would be told. */
        WATCHED,
        /** Final: the next node begins anew. */
        OVER
    }

    private static final int NOTHING = -1;

    private final Session session;
    private final String directory;

    // Guarded by this.
    private Knowledge knowledge = Knowledge.GUESSED;
    private int goneBelow = NOTHING;
    private boolean watchLeft;
    private long usedNanos;

    QuietDirectory(Session session, String directory) {
        this(session, directory, false);
    }

    private QuietDirectory(Session session, String directory, boolean watchLeft) {
        this.session = session;
        this.directory = directory;
        this.watchLeft = watchLeft;
    }

    /** To be asked for each node that is made: this, or what takes its place. */
    synchronized QuietDirectory used(long nowNanos) {
        usedNanos = nowNanos;
        return switch (knowledge) {
            case GUESSED, WATCHED -> this;
            case WORTH_WATCHING -> new QuietDirectory(session, directory, true).watched(nowNanos);
            case OVER -> new QuietDirectory(session, directory, watchLeft).used(nowNanos);
        };
    }

    private synchronized QuietDirectory watched(long nowNanos) {
        usedNanos = nowNanos;
        knowledge = Knowledge.WATCHED;
        session.hub().register(directory, this);
        session.requests().exists(directory, session.hub()).whenComplete((stat, failure) -> {
            if (failure != null) {
                end();
            }
        });
        return this;
    }

    /** Whether the next node will do without a listing, unless somebody comes between. */
    synchronized boolean isKnown() {
        return knowledge == Knowledge.WATCHED && goneBelow != NOTHING;
    }

    /** Whether a node made after this was {@link #used} is surely the first. */
    synchronized boolean isFirst(int number) {
        return isKnown() && goneBelow == number;
    }

    /** A listing has shown whether a node of ours is the first. */
    synchronized void listed(int number, boolean first) {
        if (knowledge == Knowledge.GUESSED) {
            knowledge = first && goneBelow == number ? Knowledge.WORTH_WATCHING : Knowledge.GUESSED;
            goneBelow = first ? number : NOTHING;
        } else if (first && goneBelow == NOTHING) {
            goneBelow = number;
        } else {
            // Others use it too.
            end();
        }
    }

    /** A node of ours was deleted. */
    synchronized void deleted(int number) {
        if (goneBelow == number) {
            goneBelow++;
        }
    }

    /** Gives the watch back, if nobody has used this for some time. False if somebody has. */
    synchronized boolean endIfIdle(long sinceNanos) {
        if (sinceNanos - usedNanos < 0) {
            return false;
        }
        if (watchLeft) {
            session.unwatchNode(directory);
        }
        end();
        return true;
    }

    /** Whatever happens to the directory itself, or to the watch, which fires once. */
    @Override
    public synchronized void changed(String path, EventType change) {
        watchLeft = false;
        end();
    }

    synchronized void end() {
        knowledge = Knowledge.OVER;
        session.hub().unregister(directory, this);
    }
}
