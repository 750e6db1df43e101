package io.holdfast.tck;

import io.holdfast.spi.StoreFactory;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What the kit asks of a store's author. Only {@link #store} is a must; the others let the kit see more.
 *
 * <p>What a store can do (queue, shared, permits, linger, downgrade, administration, ttls) the kit reads from its traits
 * and interfaces; tests of what it cannot do are skipped with the reason.
 */
public interface StoreUnderTest {

    /** The store, running. Several clients are opened on it at once, and all tests share it. */
    StoreFactory store();

    /**
     * A ttl worth waiting for: tests in which something expires use it and small multiples. Never below what the
     * store's traits allow. Default 500 ms.
     */
    default Duration shortTtl() {
        return Duration.ofMillis(500);
    }

    /** How long the kit waits for what should happen at once: long, since it only decides how late a failure shows. */
    default Duration patience() {
        return Duration.ofSeconds(20);
    }

    /**
     * A client that can be made to die like a killed process. By default nothing it asks reaches the store any more,
     * which is right wherever claims live by {@code renew} alone. A store whose client library keeps a session alive by
     * itself needs its own: say, a client behind its own proxy that is cut.
     */
    default Mortal mortal() {
        return Mortal.unplugged(store());
    }

    /** Faults on the way between all clients of {@link #store} and the server, if they can be made. */
    default Optional<Faults> faults() {
        return Optional.empty();
    }

    /**
     * Whether a waiter may hear of its grant long after the store made it. Not where the client itself asks once more when its turn may
     * have come: then the grant counts from that request.
     */
    default boolean pushesGrants() {
        return true;
    }

    /** How many requests the server has received so far, if that can be counted. */
    default OptionalLong requestsReceived() {
        return OptionalLong.empty();
    }

    /** What the server still keeps of a lock but its fencing counter, read past the store, if that can be read. */
    default Optional<List<String>> leftovers(String name) {
        return Optional.empty();
    }
}
