package io.holdfast.examples;

import io.holdfast.Holdfast;
import io.holdfast.Lease;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** A queue delivers a message twice, to two consumers at once: it is paid once. */
public final class DuplicateMessage {

    private final Holdfast holdfast;
    private final Map<String, String> receipts = new ConcurrentHashMap<>(); // stands for a table

    DuplicateMessage(Holdfast holdfast) {
        this.holdfast = holdfast;
    }

    public static void main(String[] args) throws InterruptedException {
        try (Holdfast holdfast = Examples.connect(args)) {
            DuplicateMessage consumer = new DuplicateMessage(holdfast);
            for (int delivery = 1; delivery <= 3; delivery++) {
                System.out.println("delivery " + delivery + ": " + consumer.onMessage("payment-1"));
            }
        }
    }

    /** The lock makes check and work one step for all consumers; the receipt makes the second delivery a look-up. */
    String onMessage(String id) throws InterruptedException {
        try (Lease lease = holdfast.lock("message/" + id).acquire()) {
            String receipt = receipts.get(id);
            if (receipt == null) {
                receipt = "paid under token " + lease.token();
                receipts.put(id, receipt);
            }
            return receipt;
        }
    }
}
