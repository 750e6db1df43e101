package io.holdfast.tck;

import java.time.Duration;

/** Faults on the way between the clients of a store and its server. */
public interface Faults {

    /** From now on every answer takes this much longer to arrive. */
    void delayReplies(Duration delay);

    /** From now on nothing arrives in either direction, while connections stay open. */
    void cut();

    /** Everything works again. */
    void heal();
}
