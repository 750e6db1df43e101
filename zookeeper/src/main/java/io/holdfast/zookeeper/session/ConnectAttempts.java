package io.holdfast.zookeeper.session;

import io.holdfast.spi.TimeSource;
import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.Optional;
import org.apache.zookeeper.client.HostProvider;
import org.jspecify.annotations.Nullable;

/**
 * Notes when the attempt began by which ZooKeeper's client connected, and tells of those that failed. It is asked for an
 * address just before each.
 *
 * <p>Thread-safe.
 */
public final class ConnectAttempts implements HostProvider {

    private final TimeSource time;
    private final Runnable failed;
    private volatile @Nullable HostProvider hosts;
    private volatile boolean attempted;
    private volatile long attemptNanos;
    private volatile @Nullable Long connectedNanos;

    /** @param failed runs after each attempt that failed */
    ConnectAttempts(TimeSource time, Runnable failed) {
        this.time = time;
        this.failed = failed;
    }

    void among(HostProvider newHosts) {
        this.hosts = newHosts;
    }

    /** When the attempt began that led to the present connection, or the last one; empty for a client not ours. */
    Optional<Long> connectedNanos() {
        return Optional.ofNullable(connectedNanos);
    }

    @Override
    public InetSocketAddress next(long spinDelay) {
        if (attempted) {
            failed.run();
        }
        attempted = true;
        InetSocketAddress address = hosts().next(spinDelay);
        attemptNanos = time.nanoTime();
        return address;
    }

    @Override
    public void onConnected() {
        attempted = false;
        connectedNanos = attemptNanos;
        hosts().onConnected();
    }

    @Override
    public int size() {
        return hosts().size();
    }

    @Override
    public boolean updateServerList(Collection<InetSocketAddress> addresses, InetSocketAddress current) {
        return hosts().updateServerList(addresses, current);
    }

    private HostProvider hosts() {
        HostProvider known = hosts;
        if (known == null) {
            throw new IllegalStateException("no servers to connect to");
        }
        return known;
    }
}
