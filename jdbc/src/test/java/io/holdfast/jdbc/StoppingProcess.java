package io.holdfast.jdbc;

import io.holdfast.Acquirable;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import javax.sql.DataSource;

/**
 * A process of its own that sends requests and goes no further than the n-th statement of each: there it waits to be stopped.
 * It says of each request how it went.
 */
final class StoppingProcess {

    /** What it asks for. */
    enum Wish {
        /** To share a lock. */
        SHARE,
        /** To get one of two permits. */
        PERMIT,
        /** To share a lock that somebody else has: it waits. */
        WAIT,
        /** To have a lock for itself that somebody else has: it waits. */
        WAIT_ALONE,
        /** To share no longer. */
        LEAVE;

        Acquirable<Lease> of(Holdfast client, String name, Duration ttl) {
            LockOptions options = LockOptions.defaults().withTtl(ttl);
            return switch (this) {
                case PERMIT -> client.semaphore(name, 2, options).permits(1);
                case WAIT_ALONE -> client.readWriteLock(name, options).writeLock();
                default -> client.readWriteLock(name, options).readLock();
            };
        }
    }

    /** A request and where it ends. */
    record Stop(Wish wish, int statements, String name) {

        static Stop parse(String text) {
            String[] parts = text.split(":", 3);
            return new Stop(Wish.valueOf(parts[0]), Integer.parseInt(parts[1]), parts[2]);
        }

        @Override
        public String toString() {
            return wish + ":" + statements + ":" + name;
        }
    }

    /** What it prints before the name of a lock whose request has come to its statement. */
    static final String REACHED = "reached ";

    /** What it prints before the name of a lock whose request had fewer statements. */
    static final String OVER = "over ";

    private static final ThreadLocal<Stop> STOPS = new ThreadLocal<>();
    private static final ThreadLocal<Integer> STATEMENTS = ThreadLocal.withInitial(() -> 0);

    private StoppingProcess() {}

    /** Whose connections it uses. */
    enum Through {
        OWN_POOL {
            @Override
            Holdfast connect(String url, int connections) throws SQLException {
                WatchedConnections.ofDriver(url, COUNTING);
                return Holdfast.connect(url + "&connections=" + connections);
            }
        },
        DATA_SOURCE {
            @Override
            Holdfast connect(String url, int connections) {
                DataSource source = WatchedConnections.of(() -> DriverManager.getConnection(url), COUNTING);
                return Holdfast.builder()
                        .store(JdbcStore.on(source).withConnections(connections))
                        .connect();
            }
        };

        abstract Holdfast connect(String url, int connections) throws SQLException;
    }

    private static final WatchedConnections.Watcher COUNTING = new WatchedConnections.Watcher() {
        @Override
        public void after(Connection connection) {
            count();
        }
    };

    /** Arguments: how to connect, the database's URL, the ttl, stops. */
    public static void main(String[] args) throws Exception {
        Duration ttl = Duration.parse(args[2]);
        List<Stop> stops =
                List.of(args).subList(3, args.length).stream().map(Stop::parse).toList();
        // Each that stops keeps a connection.
        try (Holdfast client = Through.valueOf(args[0]).connect(args[1], stops.size() + 4)) {
            List<Thread> threads = new ArrayList<>();
            for (Stop stop : stops) {
                Thread thread = new Thread(() -> request(client, stop, ttl));
                thread.start();
                threads.add(thread);
            }
            for (Thread thread : threads) {
                thread.join();
            }
        }
    }

    private static void request(Holdfast client, Stop stop, Duration ttl) {
        Acquirable<Lease> lock = stop.wish().of(client, stop.name(), ttl);
        try {
            if (stop.wish() == Wish.LEAVE) {
                Lease lease = lock.acquire();
                STOPS.set(stop);
                lease.release();
            } else {
                STOPS.set(stop);
                lock.acquire();
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        } finally {
            System.out.println(OVER + stop.name());
        }
        await();
    }

    private static void count() {
        Stop stop = STOPS.get();
        if (stop == null) {
            return;
        }
        STATEMENTS.set(STATEMENTS.get() + 1);
        if (STATEMENTS.get() == stop.statements()) {
            System.out.println(REACHED + stop.name());
            await();
        }
    }

    /** Until it is killed. */
    private static void await() {
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
