package io.holdfast.examples.sql;

import io.holdfast.jdbc.Idempotency;
import io.holdfast.jdbc.ResultCodec;
import java.time.Duration;

/**
 * A payment is charged once, though its message is delivered again and again. The gateway is another system: if we die between
 * its charge and our record, the next run charges again, so it gets our key to tell repetitions by.
 */
public final class DuplicatePayment {

    /** Somebody else's service. */
    interface Gateway {
        /** Returns the receipt; the same one for the same key. */
        String charge(String key, long cents);
    }

    private final Idempotency idempotency;
    private final Gateway gateway;

    DuplicatePayment(Idempotency idempotency, Gateway gateway) {
        this.idempotency = idempotency;
        this.gateway = gateway;
    }

    /** @throws Idempotency.PayloadConflictException if this payment was made before with another amount */
    String pay(String paymentId, long cents) throws InterruptedException {
        return idempotency.run(
                "payment/" + paymentId,
                Idempotency.fingerprint(Long.toString(cents)),
                Duration.ofDays(7),
                ResultCodec.strings(),
                lease -> gateway.charge("payment/" + paymentId, cents));
    }
}
