package io.holdfast.jdbc.connection;

import io.holdfast.jdbc.connection.Connections.Purpose;
import io.holdfast.jdbc.dialect.Dialect;
import io.holdfast.jdbc.dialect.SqlFailure;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreUri;
import io.holdfast.spi.TimeSource;
import io.holdfast.spi.support.EarliestAlarm;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Connections to a URL, opened as they are needed and kept for the next who needs one. Thread-safe. */
final class OwnConnections implements ConnectionSource {

    /*
     * Whoever finds none idle waits in line for the next: one that is given back, or one that is being opened on another thread. There
     * are as many tries to open one as there are who wait, and what they open is for the first in line. A try that takes long may hang
     * (packets are dropped, a name server is silent) and counts no more: another is started beside it. So it holds up nobody, and if it
     * succeeds after all, it serves whoever is in line by then.
     */

    /** After that a try may hang. */
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    /** What was used so recently is taken to be alive. Others are asked first, so that no request meets one the server has closed. */
    private static final long TRUSTED_NANOS = Duration.ofMillis(300).toNanos();

    private static final Duration TIME_FOR_SIGN_OF_LIFE = Duration.ofMillis(500);

    /** Unused for so long they are closed, but for the last one. */
    private static final long IDLE_NANOS = Duration.ofSeconds(30).toNanos();

    /** Then a new one may find that the address leads elsewhere. */
    private static final long LONGEST_LIFE_NANOS = Duration.ofMinutes(30).toNanos();

    /** Then a driver gives a try up that nobody waits for any more. Statements have limits of their own. */
    private static final Duration HANGING = Duration.ofSeconds(10);

    private final String url;
    private final Properties driverSettings;
    private final String connectionSettings;
    private final TimeSource time;
    private final Connecting<Pooled> connecting;
    private final EarliestAlarm idleAlarm;

    // Guarded by this.
    private final Deque<Pooled> idle = new ArrayDeque<>();
    private final Deque<CompletableFuture<Pooled>> waiting = new ArrayDeque<>();
    private final Map<CompletableFuture<Pooled>, Long> tries = new HashMap<>();
    private volatile boolean closed;

    private final AtomicInteger open = new AtomicInteger();

    private volatile long distrustedNanos;
    private volatile long brokenNanos;

    OwnConnections(String url, Dialect dialect, int size, StoreContext context) {
        this.url = url;
        this.driverSettings = driverSettings(url);
        this.connectionSettings = dialect.connectionSettings();
        this.time = context.time();
        this.distrustedNanos = time.nanoTime();
        this.brokenNanos = distrustedNanos;
        String address = StoreUri.parse(url).toString();
        this.connecting = new Connecting<>(this::open, Pooled::end, address, size, context.clientName());
        this.idleAlarm = new EarliestAlarm(context.timer(), () -> {
            if (!closed) {
                context.background().execute(this::closeIdle);
            }
        });
    }

    /** What the URL says wins. */
    private static Properties driverSettings(String url) {
        String millis = Long.toString(HANGING.toMillis());
        Map<String, String> ours = switch (url.split(":", 3)[1]) {
            case "postgresql" -> Map.of("socketTimeout", Long.toString(HANGING.toSeconds()));
            case "mysql" -> Map.of("connectTimeout", millis, "socketTimeout", millis);
            // Parsing our few statements costs the server as much as running them. MySQL's driver prepares in a round
            // trip of its own.
            case "mariadb" -> Map.of("connectTimeout", millis, "socketTimeout", millis, "useServerPrepStmts", "true");
            default -> Map.of();
        };
        Properties settings = new Properties();
        ours.forEach((name, value) -> {
            if (!url.contains(name)) {
                settings.setProperty(name, value);
            }
        });
        return settings;
    }

    private final class Pooled {

        private final Connection connection;
        private final long openedNanos = time.nanoTime();
        private volatile long usedNanos = openedNanos;

        Pooled(Connection connection) {
            this.connection = connection;
        }

        Loan loan() {
            return new Loan(connection, this::end);
        }

        /** To the next who waits, or to be kept. */
        void end() {
            usedNanos = time.nanoTime();
            if (isOfUse()) {
                keep(this);
            } else {
                close();
            }
        }

        private boolean isOfUse() {
            try {
                return usedNanos - openedNanos < LONGEST_LIFE_NANOS
                        && openedNanos - brokenNanos >= 0
                        && !connection.isClosed();
            } catch (SQLException | RuntimeException e) {
                return false;
            }
        }

        boolean isTrusted() {
            return time.nanoTime() - usedNanos < TRUSTED_NANOS && usedNanos - distrustedNanos >= 0;
        }

        boolean isAlive(Deadline deadline) {
            try (Session session = new Session(connection, deadline.within(TIME_FOR_SIGN_OF_LIFE), () -> {})) {
                return !session.query("SELECT 1", row -> true).isEmpty();
            } catch (SQLException | RuntimeException e) {
                return false;
            }
        }

        void close() {
            open.decrementAndGet();
            try {
                connection.close();
            } catch (SQLException | RuntimeException e) {
                // It is gone already.
            }
        }
    }

    /** Renewals are never kept waiting: they take no turn, so there is one more than turns. */
    @Override
    public Loan take(Purpose purpose, Deadline deadline) throws SQLException, InterruptedException {
        CompletableFuture<Pooled> coming = new CompletableFuture<>();
        for (Pooled kept = idleOrWait(coming); kept != null; kept = idleOrWait(coming)) {
            if (kept.isTrusted()) {
                return kept.loan();
            }
            if (deadline.hasPassed()) {
                keep(kept);
                throw noTimeLeft();
            }
            if (kept.isAlive(deadline)) {
                return kept.loan();
            }
            kept.close();
            if (deadline.hasPassed()) {
                // Too short a time to judge others by. But if all of them are silent, the next is not to meet another
                // of them.
                startReplacement();
                throw noTimeLeft();
            }
            // The others are as old or older.
            takeAllIdle().forEach(Pooled::close);
        }
        try {
            do {
                startTryIfMissing(coming);
            } while (!connecting.isOverBy(coming, deadline.within(PATIENCE)) && !deadline.hasPassed());
            return connecting.await(coming, deadline).loan();
        } finally {
            waitNoMore(coming);
        }
    }

    /**
     * Unless as many are under way already as there are who wait. Only who started it hears of its failure; if the server has no more
     * to give, it waits for one of those that are open.
     */
    private void startTryIfMissing(CompletableFuture<Pooled> coming) {
        CompletableFuture<Pooled> opening = new CompletableFuture<>();
        if (isMissing(opening) && connecting.start(opening)) {
            opening.whenComplete((opened, failure) -> {
                synchronized (this) {
                    tries.remove(opening);
                }
                if (failure == null) {
                    opened.end();
                } else if (!SqlFailure.isServerFull(failure) || open.get() == 0) {
                    coming.completeExceptionally(failure);
                }
            });
        }
    }

    /** Whether somebody in line has no try; then this one counts as under way. */
    private synchronized boolean isMissing(CompletableFuture<Pooled> opening) {
        long now = time.nanoTime();
        tries.values().removeIf(sinceNanos -> now - sinceNanos >= PATIENCE.toNanos());
        return tries.size() < waiting.size() && tries.put(opening, now) == null;
    }

    /** One that is idle; if there is none, the future is to get the next. */
    private synchronized @Nullable Pooled idleOrWait(CompletableFuture<Pooled> coming) throws SQLException {
        requireOpen();
        Pooled last = idle.pollFirst();
        if (last == null) {
            waiting.addLast(coming);
        }
        return last;
    }

    private static SQLException noTimeLeft() {
        return new SQLTimeoutException("no time was left to use a connection");
    }

    /** For whoever comes next. */
    private void startReplacement() {
        CompletableFuture<Pooled> opening = new CompletableFuture<>();
        connecting.start(opening);
        opening.thenAccept(Pooled::end);
    }

    private void keep(Pooled one) {
        if (!pass(one)) {
            one.close();
        }
    }

    private synchronized void waitNoMore(CompletableFuture<Pooled> coming) {
        waiting.remove(coming);
    }

    /** False if this is closed. */
    private boolean pass(Pooled one) {
        synchronized (this) {
            if (closed) {
                return false;
            }
            for (var first = waiting.pollFirst(); first != null; first = waiting.pollFirst()) {
                if (first.complete(one)) {
                    return true;
                }
            }
            idle.addFirst(one);
        }
        idleAlarm.at(time.nanoTime() + IDLE_NANOS);
        return true;
    }

    private synchronized List<Pooled> takeAllIdle() {
        List<Pooled> all = new ArrayList<>(idle);
        idle.clear();
        return all;
    }

    private void closeIdle() {
        List<Pooled> old = new ArrayList<>();
        boolean severalLeft;
        synchronized (this) {
            while (idle.size() > 1 && time.nanoTime() - idle.getLast().usedNanos >= IDLE_NANOS) {
                old.add(idle.removeLast());
            }
            severalLeft = idle.size() > 1;
        }
        old.forEach(Pooled::close);
        if (severalLeft) {
            idleAlarm.at(time.nanoTime() + IDLE_NANOS);
        }
    }

    private Pooled open() throws SQLException {
        Pooled opened = new Pooled(DriverManager.getConnection(url, driverSettings));
        open.incrementAndGet();
        try {
            opened.connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
            if (!connectionSettings.isEmpty()) {
                try (Statement statement = opened.connection.createStatement()) {
                    statement.execute(connectionSettings);
                }
            }
            requireOpen();
            return opened;
        } catch (SQLException | RuntimeException | Error e) {
            opened.close();
            throw e;
        }
    }

    private void requireOpen() throws SQLException {
        if (closed) {
            throw new SQLException("the client is closed");
        }
    }

    /** After a connection failed, others may be dead too. If it was merely slow, to open new ones would be a storm of them. */
    @Override
    public void distrust(boolean merelySlow) {
        distrustedNanos = time.nanoTime();
        if (!merelySlow) {
            brokenNanos = distrustedNanos;
            takeAllIdle().forEach(Pooled::close);
        }
    }

    @Override
    public void close() {
        List<CompletableFuture<Pooled>> deserted;
        synchronized (this) {
            closed = true;
            deserted = List.copyOf(waiting);
        }
        connecting.close();
        deserted.forEach(coming -> coming.completeExceptionally(new SQLException("the client is closed")));
        takeAllIdle().forEach(Pooled::close);
    }
}
