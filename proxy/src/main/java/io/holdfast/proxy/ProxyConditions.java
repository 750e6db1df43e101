package io.holdfast.proxy;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;

/** What a proxy does to traffic now; used by its thread alone. */
final class ProxyConditions {

    /** What becomes of bytes. */
    enum Flow {
        /** They are passed on. */
        PASS,
        /** They wait until the flow passes again, as TCP would retransmit them. */
        HOLD,
        /** They are gone, and the connection with them as soon as the flow passes again. */
        SWALLOW
    }

    private final Map<Direction, Flow> flows = new EnumMap<>(Direction.class);
    private final Map<Direction, Long> delayNanos = new EnumMap<>(Direction.class);
    private InetSocketAddress target;

    ProxyConditions(InetSocketAddress target) {
        this.target = target;
        clear();
    }

    void clear() {
        for (Direction direction : Direction.values()) {
            flows.put(direction, Flow.PASS);
            delayNanos.put(direction, 0L);
        }
    }

    Flow flow(Direction direction) {
        return flows.get(direction);
    }

    void flow(Direction direction, Flow flow) {
        flows.put(direction, flow);
    }

    long delayNanos(Direction direction) {
        return delayNanos.get(direction);
    }

    void delay(Direction direction, Duration delay) {
        delayNanos.put(direction, delay.toNanos());
    }

    InetSocketAddress target() {
        return target;
    }

    void target(InetSocketAddress address) {
        target = address;
    }
}
