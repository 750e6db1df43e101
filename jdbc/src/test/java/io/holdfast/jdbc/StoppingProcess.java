package io.holdfast.jdbc;

import io.holdfast.DistributedReadWriteLock;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;

/**
 * A process of its own with a client per request, each of which goes no further than the n-th statement after its request began:
 * there it waits to be stopped. It says of each request how it went.
 */
final class StoppingProcess {

    /** What is asked for, and after how many statements it may be stopped: as many as it has, or a few where one waits. */
    enum Wish {
        TAKE(2),
        RELEASE(1),
        SHARE(4),
        PERMIT(4),
        LEAVE(2),
        EXTEND(1),
        EXTEND_ALONE(1),
        /** To take the lock from those who share it. */
        FORCE(6),
        DOWNGRADE(4),
        /** To share a lock that somebody else has. */
        WAIT(5),
        /** To have a lock alone that somebody else has. */
        WAIT_ALONE(5),
        /** To wait for it, and to leave the queue again. */
        GIVE_UP(8);

        final int mostStatements;

        Wish(int mostStatements) {
            this.mostStatements = mostStatements;
        }

        boolean waits() {
            return this == WAIT || this == WAIT_ALONE || this == GIVE_UP;
        }

        private void run(Holdfast client, String name, Duration ttl, Runnable begins) throws Exception {
            LockOptions options = LockOptions.defaults().withTtl(ttl);
            DistributedReadWriteLock lock = client.readWriteLock(name, options);
            Optional<Lease> before = switch (this) {
                case RELEASE, DOWNGRADE, EXTEND_ALONE ->
                    Optional.of(lock.writeLock().acquire());
                case LEAVE, EXTEND, FORCE -> Optional.of(lock.readLock().acquire());
                default -> Optional.empty();
            };
            begins.run();
            switch (this) {
                case RELEASE, LEAVE -> before.orElseThrow().release();
                case DOWNGRADE -> lock.downgrade(before.orElseThrow());
                case EXTEND, EXTEND_ALONE -> before.orElseThrow().extend(ttl);
                case PERMIT -> client.semaphore(name, 2, options).permits(1).acquire();
                case FORCE -> client.administration().forceRelease(name);
                case GIVE_UP -> lock.writeLock().tryAcquire(Duration.ofMillis(2));
                case TAKE, WAIT_ALONE -> lock.writeLock().acquire();
                case SHARE, WAIT -> lock.readLock().acquire();
            }
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

    private StoppingProcess() {}

    /** Whose connections it uses. */
    enum Through {
        OWN_POOL {
            @Override
            Holdfast connect(String url, Counting counting) throws SQLException {
                // So that the driver knows whose connection it opens.
                String own = url + "&stop=" + counting.stop.name();
                WatchedConnections.ofDriver(own, url, counting);
                return Holdfast.connect(own + "&connections=1");
            }
        },
        DATA_SOURCE {
            @Override
            Holdfast connect(String url, Counting counting) {
                DataSource source = WatchedConnections.of(() -> DriverManager.getConnection(url), counting);
                return Holdfast.builder()
                        .store(JdbcStores.using(source).withConnections(1))
                        .connect();
            }
        };

        abstract Holdfast connect(String url, Counting counting) throws SQLException;
    }

    /** Counts the statements of one client, on whatever thread, once its request has begun. */
    private static final class Counting implements WatchedConnections.Watcher {

        private final Stop stop;
        private final AtomicInteger statements = new AtomicInteger();
        private final AtomicBoolean said = new AtomicBoolean();
        private volatile boolean begun;

        Counting(Stop stop) {
            this.stop = stop;
        }

        /** Once: a request that is over may be followed by renewals. */
        void say(String what) {
            if (said.compareAndSet(false, true)) {
                System.out.println(what + stop.name());
            }
        }

        @Override
        public void before(Connection connection) {
            if (begun && statements.get() >= stop.statements()) {
                await();
            }
        }

        @Override
        public void after(Connection connection) {
            if (!begun) {
                return;
            }
            int done = statements.incrementAndGet();
            if (done == stop.statements()) {
                say(REACHED);
            }
            if (done >= stop.statements()) {
                await();
            }
        }
    }

    /** Arguments: how to connect, the database's URL, the ttl, stops. */
    public static void main(String[] args) throws Exception {
        Duration ttl = Duration.parse(args[2]);
        for (String text : List.of(args).subList(3, args.length)) {
            Counting counting = new Counting(Stop.parse(text));
            Holdfast client = Through.valueOf(args[0]).connect(args[1], counting);
            client.ping(ttl.multipliedBy(10));
            new Thread(() -> request(client, counting, ttl)).start();
        }
    }

    private static void request(Holdfast client, Counting counting, Duration ttl) {
        Stop stop = counting.stop;
        try {
            stop.wish().run(client, stop.name(), ttl, () -> counting.begun = true);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        } finally {
            counting.say(OVER);
        }
        await();
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
