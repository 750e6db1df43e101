package io.holdfast.proxy;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Counts changes of direction. */
final class BurstCounter implements RequestCounter {

    private @Nullable Direction last;

    @Override
    public int count(Direction direction, ByteBuffer bytes) {
        if (direction == last) {
            return 0;
        }
        last = direction;
        return 1;
    }
}
