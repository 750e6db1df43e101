package io.holdfast.redis;

import io.holdfast.proxy.Direction;
import io.holdfast.proxy.TcpProxy;
import io.holdfast.tck.Faults;
import java.time.Duration;

/** The faults of a network, by a proxy. */
record ProxyFaults(TcpProxy proxy) implements Faults {

    @Override
    public void delayReplies(Duration delay) {
        proxy.delay(Direction.TO_CLIENT, delay);
    }

    @Override
    public void cut() {
        proxy.cut();
    }

    @Override
    public void heal() {
        proxy.heal();
    }
}
