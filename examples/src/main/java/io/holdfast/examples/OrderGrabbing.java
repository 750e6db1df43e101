package io.holdfast.examples;

import io.holdfast.Holdfast;
import io.holdfast.Lease;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** Drivers grab an order: the first gets it, the others are told at once that it is gone. */
public final class OrderGrabbing {

    private final Holdfast holdfast;
    private final Map<String, String> driverOf = new ConcurrentHashMap<>(); // stands for a table

    OrderGrabbing(Holdfast holdfast) {
        this.holdfast = holdfast;
    }

    public static void main(String[] args) {
        try (Holdfast holdfast = Examples.connect(args)) {
            OrderGrabbing orders = new OrderGrabbing(holdfast);
            for (String driver : List.of("ann", "bob", "cyd")) {
                System.out.println(driver + (orders.grab("order-7", driver) ? " drives" : " is too late"));
            }
        }
    }

    /** Nobody waits here: whoever finds the order locked has lost the race for it. */
    boolean grab(String order, String driver) {
        Optional<Lease> taken = holdfast.lock("order/" + order).tryAcquire();
        if (taken.isEmpty()) {
            return false;
        }
        try (Lease lease = taken.get()) {
            return driverOf.putIfAbsent(order, driver) == null;
        }
    }
}
