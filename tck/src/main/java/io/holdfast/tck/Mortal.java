package io.holdfast.tck;

import io.holdfast.spi.StoreFactory;
import io.holdfast.tck.tap.StoreTap;

/** A store whose clients can be made to die like a killed process, and to wake up again as if they had only slept. */
public interface Mortal {

    StoreFactory store();

    /** From now on nothing its clients say reaches the store, and nothing the store says reaches them. */
    void die();

    /** Clients reach the store again. */
    void revive();

    /** Dies by having each of its requests fail before it is sent. */
    static Mortal unplugged(StoreFactory real) {
        StoreTap tap = new StoreTap(real);
        return new Mortal() {
            @Override
            public StoreFactory store() {
                return tap;
            }

            @Override
            public void die() {
                tap.unplug();
            }

            @Override
            public void revive() {
                tap.heal();
            }
        };
    }
}
