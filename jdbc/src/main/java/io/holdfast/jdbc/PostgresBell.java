package io.holdfast.jdbc;

import io.holdfast.spi.TimeSource;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/**
 * Hears from PostgreSQL that it is this client's turn: one connection and one thread per client, while anybody waits.
 *
 * <p>Everything works without it, by polling. Thread-safe.
 */
final class PostgresBell implements AutoCloseable {

    private static final Logger LOG = System.getLogger(PostgresBell.class.getName());

    /** After this long without news the connection is tested: a silent one may be dead. */
    private static final Duration SILENCE = Duration.ofSeconds(5);

    /** How long the connection is kept when nobody waits any more. */
    private static final Duration IDLE = Duration.ofSeconds(30);

    private static final Duration RECONNECT_PAUSE = Duration.ofSeconds(1);

    private final String clientId;
    private final String threadName;
    private final Callable<Connection> connect;
    private final Bells bells;
    private final TimeSource time;
    private final ReentrantLock lifecycle = new ReentrantLock();
    private @Nullable Thread listener;
    private volatile @Nullable Connection connection;
    private volatile boolean hearing;
    private volatile boolean closed;

    PostgresBell(String clientId, String threadName, Callable<Connection> connect, Bells bells, TimeSource time) {
        this.clientId = clientId;
        this.threadName = threadName;
        this.connect = connect;
        this.bells = bells;
        this.time = time;
    }

    /** The channel of a client, to notify and to listen on. */
    static String channel(String clientId) {
        return "holdfast_" + clientId;
    }

    /** The server's process that greeted the driver, which behind a pooler is not the one that answers; 0 if it cannot be known. */
    static int process(Connection connection) throws SQLException {
        return connection.isWrapperFor(PGConnection.class)
                ? connection.unwrap(PGConnection.class).getBackendPID()
                : 0;
    }

    /** Somebody waits: starts to listen unless it does already. */
    void wanted() {
        if (hearing || closed) {
            return;
        }
        lifecycle.lock();
        try {
            if (listener == null && !closed) {
                Thread thread = new Thread(this::listen, threadName);
                thread.setDaemon(true);
                thread.start();
                listener = thread;
            }
        } catch (RuntimeException | Error e) {
            // No thread to be had: who waits polls, and asks for the bell again.
            LOG.log(Level.DEBUG, () -> "Cannot listen to PostgreSQL, polling instead: " + e);
        } finally {
            lifecycle.unlock();
        }
    }

    /** Whether a turn would be heard of, as far as is known. */
    boolean isHearing() {
        return hearing;
    }

    private void listen() {
        while (!closed) {
            try (Connection opened = connect.call()) {
                connection = opened;
                hear(opened);
                if (stopIfIdle()) {
                    return;
                }
            } catch (Exception | Error e) {
                // Of whatever kind: nobody would start to listen again.
                if (!closed) {
                    LOG.log(Level.DEBUG, () -> "No news from PostgreSQL, polling instead: " + e);
                    LockSupport.parkNanos(RECONNECT_PAUSE.toNanos());
                }
            } finally {
                hearing = false;
                connection = null;
            }
        }
    }

    /** Returns when nobody has waited for a while. */
    private void hear(Connection opened) throws SQLException {
        opened.setAutoCommit(true);
        opened.setNetworkTimeout(Runnable::run, (int) (2 * SILENCE.toMillis()));
        PGConnection notifications = opened.unwrap(PGConnection.class);
        execute(opened, "LISTEN " + channel(clientId));
        execute(opened, "LISTEN " + channel(Line.RELAY));
        hearing = true;
        // What was free before we listened nobody will tell us.
        bells.ringAll();
        long wantedNanos = time.nanoTime();
        while (!closed) {
            PGNotification[] news = notifications.getNotifications((int) SILENCE.toMillis());
            if (news == null || news.length == 0) {
                execute(opened, "SELECT 1");
            } else {
                for (PGNotification one : news) {
                    if (one.getName().equals(channel(Line.RELAY))) {
                        bells.ringRelay(one.getParameter());
                    } else {
                        bells.ring(one.getParameter());
                    }
                }
            }
            if (bells.isAnybodyListening()) {
                wantedNanos = time.nanoTime();
            } else if (time.nanoTime() - wantedNanos > IDLE.toNanos()) {
                return;
            }
        }
    }

    private static void execute(Connection opened, String sql) throws SQLException {
        try (Statement statement = opened.createStatement()) {
            statement.execute(sql);
        }
    }

    private boolean stopIfIdle() {
        lifecycle.lock();
        try {
            hearing = false;
            if (!closed && bells.isAnybodyListening()) {
                return false;
            }
            listener = null;
            return true;
        } finally {
            lifecycle.unlock();
        }
    }

    @Override
    public void close() {
        closed = true;
        Connection open = connection;
        if (open != null) {
            try {
                open.abort(Runnable::run);
            } catch (SQLException e) {
                // It is gone already.
            }
        }
        lifecycle.lock();
        try {
            if (listener != null) {
                LockSupport.unpark(listener);
            }
        } finally {
            lifecycle.unlock();
        }
    }
}
