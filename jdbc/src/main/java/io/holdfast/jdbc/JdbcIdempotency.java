package io.holdfast.jdbc;

import io.holdfast.DistributedLock;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockOptions;
import io.holdfast.StoreUnavailableException;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.jdbc.OutcomeTable.Outcome;
import io.holdfast.jdbc.OutcomeTable.State;
import io.holdfast.jdbc.dialect.TableName;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BiConsumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Records outcomes in a table of MySQL, MariaDB or PostgreSQL; the lock that keeps duplicates waiting can be in any store.
 *
 * <p>Immutable and thread-safe; each {@code with…} returns a changed copy.
 */
public final class JdbcIdempotency implements Idempotency {

    /*
     * A key's life: nothing → running (token) → done or failed → forgotten at its time. Failed is also what had its effect and left
     * a result that cannot be recorded: to forget that run would be to repeat the effect.
     *
     * The lease lets one run at a time; the token in the row is what makes it true. A run claims the row by writing its token
     * over a smaller one, and records its outcome only where its own token still stands. So a run that lost its lease, slept
     * and woke up finds a newer token and records nothing, whatever it believes. Forgetting a key forgets its token too, so a
     * sleeper that wakes after that can still claim it: it must look at its lease before it runs.
     */

    private static final TableName STANDARD_TABLE = new TableName("holdfast_idempotency");
    private static final String LOCK_PREFIX = "idempotency/";
    private static final int LONGEST_KEY = 400;
    private static final int LONGEST_FINGERPRINT = 128;

    /** Of the reason why a result was not recorded, which may hold the result. */
    private static final int LONGEST_REASON = 1_000;

    private final Holdfast holdfast;
    private final DataSource dataSource;
    private final OutcomeTable outcomes;
    private final LockOptions lockOptions;
    private final OnFailure onFailure;

    private JdbcIdempotency(
            Holdfast holdfast,
            DataSource dataSource,
            OutcomeTable outcomes,
            LockOptions lockOptions,
            OnFailure onFailure) {
        this.holdfast = holdfast;
        this.dataSource = dataSource;
        this.outcomes = outcomes;
        this.lockOptions = lockOptions;
        this.onFailure = onFailure;
    }

    /**
     * Failures are forgotten and locks have default options unless told otherwise.
     *
     * @param dataSource a plain one, not one that hands out the connection of the caller's transaction
     */
    public static JdbcIdempotency on(Holdfast holdfast, DataSource dataSource) {
        Transactions.requireOwn(dataSource);
        return new JdbcIdempotency(
                Objects.requireNonNull(holdfast, "holdfast"),
                dataSource,
                new OutcomeTable(dataSource, STANDARD_TABLE),
                LockOptions.defaults(),
                OnFailure.FORGET);
    }

    /** Instead of {@code holdfast_idempotency}. */
    public JdbcIdempotency withTable(String name) {
        OutcomeTable table = new OutcomeTable(dataSource, new TableName(name));
        return new JdbcIdempotency(holdfast, dataSource, table, lockOptions, onFailure);
    }

    /** Of the lock held while an action runs. Its ttl says how soon another takes over when a process dies. */
    public JdbcIdempotency withLockOptions(LockOptions options) {
        return new JdbcIdempotency(holdfast, dataSource, outcomes, options, onFailure);
    }

    public JdbcIdempotency withOnFailure(OnFailure policy) {
        return new JdbcIdempotency(holdfast, dataSource, outcomes, lockOptions, policy);
    }

    @Override
    public <T, X extends Exception> T run(
            String key, String fingerprint, Duration remembered, ResultCodec<T> codec, Action<T, X> action)
            throws X, InterruptedException {
        return this.<T, X, RuntimeException>once(
                key,
                fingerprint,
                remembered,
                codec,
                (lease, claim) -> action.run(lease),
                (claim, result) -> claim.record(codec, result));
    }

    /** What is to happen once, in a transaction it neither commits nor rolls back. */
    @FunctionalInterface
    public interface TransactionalAction<T, X extends Exception> {
        T run(Connection transaction, Lease lease) throws SQLException, X;
    }

    /**
     * As {@link #run}, with the action and the record of its result in one transaction: what the action writes there happens
     * exactly once, whenever the process dies.
     */
    public <T, X extends Exception> T runInTransaction(
            String key, String fingerprint, Duration remembered, ResultCodec<T> codec, TransactionalAction<T, X> action)
            throws X, SQLException, InterruptedException {
        return this.<T, X, SQLException>once(
                key,
                fingerprint,
                remembered,
                codec,
                (lease, claim) -> Transactions.<T, X>run(dataSource, connection -> {
                    T result = action.run(connection, lease);
                    claim.settleIn(connection, encode(codec, result));
                    return result;
                }),
                (claim, result) -> {});
    }

    /** Removes records whose time is over, but none of a run that still holds its lock. Returns how many. */
    public int prune() {
        try {
            int removed = outcomes.pruneSettled();
            for (String key : outcomes.overdue()) {
                removed += pruneUnlessRunning(key);
            }
            return removed;
        } catch (SQLException e) {
            throw unavailable("*", e);
        }
    }

    private int pruneUnlessRunning(String key) throws SQLException {
        Optional<Lease> free = lock(key).tryAcquire();
        if (free.isEmpty()) {
            return 0;
        }
        try (Lease lease = free.get()) {
            return outcomes.pruneOverdue(key, lease.token());
        }
    }

    private DistributedLock lock(String key) {
        return holdfast.lock(LOCK_PREFIX + key, lockOptions);
    }

    /** A run that has claimed its key. */
    private interface Run<T, X extends Exception, Y extends Exception> {
        T run(Lease lease, Claim claim) throws X, Y;
    }

    /** @param afterwards what is still to be done when the run has had its effect, which must not happen again */
    private <T, X extends Exception, Y extends Exception> T once(
            String key,
            String fingerprint,
            Duration remembered,
            ResultCodec<T> codec,
            Run<T, X, Y> run,
            BiConsumer<Claim, T> afterwards)
            throws X, Y, InterruptedException {
        requireShort(key, fingerprint);
        Optional<Outcome> before = settled(key, fingerprint);
        if (before.isPresent()) {
            return recorded(key, codec, before.get());
        }
        try (Lease lease = lock(key).acquire()) {
            Claim claim = new Claim(key, lease, remembered);
            Optional<Outcome> meanwhile = claim.take(fingerprint);
            if (meanwhile.isPresent()) {
                return recorded(key, codec, meanwhile.get());
            }
            T result;
            try {
                result = run.run(lease, claim);
            } catch (LeaseLostException | UnknownOutcomeException e) {
                throw e;
            } catch (Throwable e) {
                claim.failed(e);
                throw e;
            }
            afterwards.accept(claim, result);
            return result;
        }
    }

    /** Null is recorded as such: codecs need not know it. */
    private static <T> byte @Nullable [] encode(ResultCodec<T> codec, @Nullable T result) {
        return result == null
                ? null
                : Objects.requireNonNull(codec.encode(result), "the codec made nothing of a result");
    }

    private static <T> @Nullable T recorded(String key, ResultCodec<T> codec, Outcome outcome) {
        byte[] bytes = outcome.bytes();
        if (outcome.state() == State.FAILED) {
            throw new RecordedFailureException(key, bytes == null ? "" : new String(bytes, StandardCharsets.UTF_8));
        }
        return bytes == null ? null : codec.decode(bytes);
    }

    /** The recorded outcome, if there is one yet. Another payload is told apart even while the first one runs. */
    private Optional<Outcome> settled(String key, String fingerprint) {
        Optional<Outcome> outcome;
        try {
            outcome = outcomes.find(key);
        } catch (SQLException e) {
            throw unavailable(key, e);
        }
        if (outcome.isPresent() && !outcome.get().fingerprint().equals(fingerprint)) {
            throw new PayloadConflictException(key);
        }
        return outcome.filter(found -> found.state() != State.RUNNING);
    }

    private static StoreUnavailableException unavailable(String key, SQLException e) {
        return new StoreUnavailableException(LOCK_PREFIX + key, String.valueOf(e.getMessage()), e);
    }

    private static String shortened(String reason) {
        return reason.length() > LONGEST_REASON ? reason.substring(0, LONGEST_REASON) + "…" : reason;
    }

    private static void requireShort(String key, String fingerprint) {
        if (key.isEmpty() || key.getBytes(StandardCharsets.UTF_8).length > LONGEST_KEY) {
            throw new IllegalArgumentException(
                    "a key has between 1 and " + LONGEST_KEY + " UTF-8 bytes: '" + key + "'");
        }
        if (fingerprint.length() > LONGEST_FINGERPRINT) {
            throw new IllegalArgumentException("a fingerprint has at most " + LONGEST_FINGERPRINT
                    + " characters: use Idempotency.fingerprint(payload)");
        }
    }

    /** The right to record what comes of a key, as long as nobody with a newer token takes it. */
    private final class Claim {

        private final String key;
        private final Lease lease;
        private final Duration remembered;

        Claim(String key, Lease lease, Duration remembered) {
            this.key = key;
            this.lease = lease;
            this.remembered = remembered;
        }

        /** Takes the key, unless it has an outcome. */
        Optional<Outcome> take(String fingerprint) {
            Optional<Outcome> before = settled(key, fingerprint);
            if (before.isPresent()) {
                return before;
            }
            if (write(fingerprint)) {
                requireValid();
                return Optional.empty();
            }
            // A run that lost its lease can still record its outcome, until the next one takes the key.
            Optional<Outcome> meanwhile = settled(key, fingerprint);
            if (meanwhile.isEmpty()) {
                throw lost();
            }
            return meanwhile;
        }

        private boolean write(String fingerprint) {
            try {
                return outcomes.claim(key, fingerprint, lease.token(), remembered);
            } catch (SQLException e) {
                throw unavailable(key, e);
            }
        }

        private void requireValid() {
            try {
                lease.requireValid();
            } catch (LeaseLostException e) {
                forget(e);
                throw e;
            }
        }

        /** The action has had its effect: if its result cannot be recorded, that is recorded instead. */
        <T> void record(ResultCodec<T> codec, @Nullable T result) {
            byte[] bytes;
            try {
                bytes = encode(codec, result);
            } catch (RuntimeException | Error e) {
                withoutResult(e);
                throw e;
            }
            boolean recorded;
            try {
                recorded = settle(State.DONE, bytes);
            } catch (SQLException | RuntimeException e) {
                withoutResult(e);
                throw new UnknownOutcomeException(
                        LOCK_PREFIX + key, "recording its outcome failed: " + e.getMessage(), e);
            }
            if (!recorded) {
                throw lost();
            }
        }

        /** Does nothing if the result is there after all, or a newer run has begun. */
        private void withoutResult(Throwable because) {
            String text = "it was carried out, but its result could not be recorded: " + because;
            try {
                settle(State.FAILED, shortened(text).getBytes(StandardCharsets.UTF_8));
            } catch (SQLException | RuntimeException e) {
                because.addSuppressed(e);
            }
        }

        private boolean settle(State state, byte @Nullable [] bytes) throws SQLException {
            return outcomes.settle(key, lease.token(), state, bytes, remembered, lease::isValid);
        }

        void settleIn(Connection transaction, byte @Nullable [] bytes) throws SQLException {
            if (!outcomes.settleIn(transaction, key, lease.token(), State.DONE, bytes, remembered)) {
                throw lost();
            }
        }

        /** Trouble with recording must not hide what went wrong first. */
        void failed(Throwable failure) {
            if (onFailure == OnFailure.FORGET || !(failure instanceof Exception)) {
                forget(failure);
                return;
            }
            try {
                if (!settle(State.FAILED, failure.toString().getBytes(StandardCharsets.UTF_8))) {
                    failure.addSuppressed(lost());
                }
            } catch (SQLException | RuntimeException e) {
                failure.addSuppressed(e);
            }
        }

        private void forget(Throwable because) {
            try {
                outcomes.forget(key, lease.token());
            } catch (SQLException | RuntimeException e) {
                because.addSuppressed(e);
            }
        }

        private LeaseLostException lost() {
            return new LeaseLostException(lease.name(), lease.token(), "another run of this key has a newer token");
        }
    }
}
