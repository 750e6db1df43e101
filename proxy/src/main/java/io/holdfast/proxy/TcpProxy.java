package io.holdfast.proxy;

import io.holdfast.proxy.ProxyConditions.Flow;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/**
 * A TCP proxy on loopback that passes bytes on to a server, and on demand delays, cuts, drops, resets or refuses.
 *
 * <p>Faults hold for all connections, present and future, and add up until {@link #heal}. Each call returns when its effect is
 * there. One daemon thread per proxy, however many connections. Thread-safe.
 *
 * <pre>{@code
 * try (TcpProxy proxy = TcpProxy.to(address)) {
 *     // a client connects to proxy.port()
 *     proxy.dropReplies();  // the server does what it is asked, and nobody hears of it
 *     proxy.heal();
 * }
 * }</pre>
 */
public final class TcpProxy implements AutoCloseable {

    private static final int MOST_TRIES = 5;

    private final ReservedPort port;
    private final ProxyConditions conditions;
    private final ProxyTraffic traffic = new ProxyTraffic();
    private final ProxyLoop loop;
    private final Thread thread;
    private final AtomicBoolean closed = new AtomicBoolean();

    private TcpProxy(InetSocketAddress target, Supplier<RequestCounter> counters) throws IOException {
        conditions = new ProxyConditions(target);
        ReservedPort picked = ReservedPort.pick();
        ProxyLoop started = null;
        for (int tries = 1; started == null; tries++) {
            try {
                started = new ProxyLoop(picked.address(), conditions, traffic, counters);
            } catch (UncheckedIOException e) {
                // Somebody who knows nothing of reservations may have been faster.
                picked.close();
                if (tries == MOST_TRIES) {
                    throw e;
                }
                picked = ReservedPort.pick();
            }
        }
        port = picked;
        loop = started;
        thread = new Thread(loop, "holdfast-proxy-" + port.number());
        thread.setDaemon(true);
        thread.start();
    }

    /** Starts a proxy that counts requests as {@link RequestCounter#bursts()}. */
    public static TcpProxy to(InetSocketAddress target) {
        return to(target, RequestCounter::bursts);
    }

    /** Starts a proxy with a counter of requests for each connection. */
    public static TcpProxy to(InetSocketAddress target, Supplier<RequestCounter> counters) {
        try {
            return new TcpProxy(target, counters);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot start a proxy to " + target, e);
        }
    }

    /** Where clients connect; the same for the life of the proxy. */
    public InetSocketAddress address() {
        return port.address();
    }

    /** The port of {@link #address()}. */
    public int port() {
        return port.number();
    }

    /** Passes bytes on no sooner than this after they have come, both ways. A round trip takes twice as long. */
    public void delay(Duration duration) {
        loop.call(() -> List.of(Direction.values()).forEach(direction -> conditions.delay(direction, duration)));
    }

    /** Delays one way only. */
    public void delay(Direction direction, Duration duration) {
        loop.call(() -> conditions.delay(direction, duration));
    }

    /**
     * Lets nothing through either way, as a network that is cut: connections stay open and nobody is told. What is sent
     * meanwhile, a close included, arrives when the cut is healed, as TCP would retransmit it.
     */
    public void cut() {
        loop.call(() -> List.of(Direction.values()).forEach(direction -> conditions.flow(direction, Flow.HOLD)));
    }

    /** Cuts one way only. */
    public void cut(Direction direction) {
        loop.call(() -> conditions.flow(direction, Flow.HOLD));
    }

    /** Lets requests through and loses the replies for good; {@link #heal} resets the connections that lost any. */
    public void dropReplies() {
        swallow(Direction.TO_CLIENT);
    }

    /** Loses what is sent this way for good; {@link #heal} resets the connections that lost any. */
    public void swallow(Direction direction) {
        loop.call(() -> conditions.flow(direction, Flow.SWALLOW));
    }

    /** Resets every open connection, on both sides; new ones are welcome. */
    public void resetConnections() {
        loop.call(() -> loop.connections().forEach(ProxyConnection::reset));
    }

    /** Refuses new connections, as a machine where nothing listens; open ones go on. */
    public void refuseConnections() {
        loop.call(loop::stopListening);
    }

    /** Ends every fault: bytes pass without delay, connections are accepted. */
    public void heal() {
        loop.call(() -> {
            conditions.clear();
            loop.connections().stream().filter(ProxyConnection::hasHole).forEach(ProxyConnection::reset);
            loop.listen();
        });
    }

    /** Sends new connections to another server; open ones stay where they are. */
    public void retarget(InetSocketAddress target) {
        loop.call(() -> conditions.target(target));
    }

    /** How many connections have been accepted so far. */
    public long connections() {
        return traffic.connections();
    }

    /** How many connections are open. */
    public int openConnections() {
        return loop.openConnections();
    }

    /** How many bytes have come in for this direction so far, whatever became of them. */
    public long bytes(Direction direction) {
        return traffic.bytes(direction);
    }

    /** How many requests (to the server) or replies (to the client) have come in so far, as counted by the counter. */
    public long requests(Direction direction) {
        return traffic.requests(direction);
    }

    /** Resets every connection and ends the proxy's thread. */
    @Override
    public void close() {
        if (closed.getAndSet(true)) {
            return;
        }
        loop.call(() -> {
            loop.connections().forEach(ProxyConnection::reset);
            loop.stopListening();
            loop.stop();
        });
        try {
            Uninterruptibly.get(() -> {
                thread.join();
                return true;
            });
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        port.close();
    }
}
