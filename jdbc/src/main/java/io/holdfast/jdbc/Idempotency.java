package io.holdfast.jdbc;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.UnknownOutcomeException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;

/**
 * Runs an action for the first who asks for a key and gives everybody else the recorded result.
 *
 * <pre>{@code
 * Receipt receipt = idempotency.run(
 *         "payment/" + requestId, Idempotency.fingerprint(body), Duration.ofDays(1), receipts, lease -> gateway.charge(order));
 * }</pre>
 *
 * <p>Duplicates that come while the action runs wait for it. If the process dies in the middle, the lease passes on and the
 * next one runs the action again: what it does elsewhere should be safe to repeat, or be guarded by the lease's token. Only
 * the run that holds the newest token can record its result. An action that has returned is not run again for the sake of its
 * result: if that cannot be recorded, the key is recorded as failed. Thread-safe.
 */
public interface Idempotency {

    /**
     * Returns the recorded result of the key, or runs the action and records what it returns, be it null.
     *
     * @param key names the request, such as an order number; at most 400 UTF-8 bytes
     * @param fingerprint tells payloads apart, such as {@link #fingerprint}; at most 128 characters
     * @param remembered how long the result is kept for duplicates
     * @throws PayloadConflictException if the key was used with another payload
     * @throws RecordedFailureException if the action failed before and failures are recorded, or its result could not be
     * @throws UnknownOutcomeException if the action has returned and its result could not be recorded
     * @throws LeaseLostException if the lease was lost while the action ran: its result was not recorded, and another
     *     run may have taken its place
     */
    <T, X extends Exception> T run(
            String key, String fingerprint, Duration remembered, ResultCodec<T> codec, Action<T, X> action)
            throws X, InterruptedException;

    /** What is to happen once. */
    @FunctionalInterface
    interface Action<T, X extends Exception> {

        /** @param lease held while this runs; its token guards what is written elsewhere */
        T run(Lease lease) throws X;
    }

    /** What becomes of an action that throws. */
    enum OnFailure {
        /** Nothing is recorded: the next one runs it again. */
        FORGET,
        /** The failure is recorded as a result would be: duplicates get {@link RecordedFailureException}. */
        RECORD
    }

    /** The SHA-256 of a payload in hex. */
    static String fingerprint(byte[] payload) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(payload));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    /** The SHA-256 of a text in UTF-8 in hex. */
    static String fingerprint(String payload) {
        return fingerprint(payload.getBytes(StandardCharsets.UTF_8));
    }

    /** A key was used again with another payload: two different requests must not share a key. */
    final class PayloadConflictException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        private final String key;

        public PayloadConflictException(String key) {
            super("Key '" + key + "' was used before with another payload; use a new key for a new request.");
            this.key = key;
        }

        public String key() {
            return key;
        }
    }

    /** The action of a key failed before, or left a result that could not be recorded, and that is its recorded outcome. */
    final class RecordedFailureException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        private final String key;

        public RecordedFailureException(String key, String failure) {
            super("The action of key '" + key + "' failed before: " + failure);
            this.key = key;
        }

        public String key() {
            return key;
        }
    }
}
