package io.holdfast.proxy;

import io.holdfast.proxy.ProxyConditions.Flow;
import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;

/**
 * One client's connection through a proxy and the one to the server it stands for; used by the proxy's thread alone.
 *
 * <p>While bytes to the server do not pass, there is no connection to it yet: the first packet of TCP's handshake would not
 * pass either.
 */
final class ProxyConnection {

    private static final int CHUNK_BYTES = 16 * 1024;

    private final Selector selector;
    private final ProxyConditions conditions;
    private final ProxyTraffic traffic;
    private final RequestCounter counter;
    private final SocketChannel client;
    private final SocketChannel server;
    private final ProxyPipe toServer = new ProxyPipe(Direction.TO_SERVER);
    private final ProxyPipe toClient = new ProxyPipe(Direction.TO_CLIENT);
    private boolean dialled;

    ProxyConnection(
            SocketChannel client,
            Selector selector,
            ProxyConditions conditions,
            ProxyTraffic traffic,
            RequestCounter counter)
            throws IOException {
        this.client = client;
        this.selector = selector;
        this.conditions = conditions;
        this.traffic = traffic;
        this.counter = counter;
        client.configureBlocking(false);
        client.setOption(StandardSocketOptions.TCP_NODELAY, true);
        server = SocketChannel.open();
        server.configureBlocking(false);
        server.setOption(StandardSocketOptions.TCP_NODELAY, true);
    }

    boolean isOpen() {
        return client.isOpen();
    }

    /** Reads what has come and writes what is due. */
    void serve(long nowNanos) {
        try {
            connect();
            read(client, toServer, toClient, Direction.TO_SERVER, nowNanos);
            if (server.isConnected()) {
                read(server, toClient, toServer, Direction.TO_CLIENT, nowNanos);
            }
            pump(nowNanos);
            listen(nowNanos);
        } catch (IOException | RuntimeException broken) {
            reset();
        }
    }

    private void connect() throws IOException {
        if (!dialled && conditions.flow(Direction.TO_SERVER) == Flow.PASS) {
            dialled = true;
            server.connect(conditions.target());
        }
        if (server.isConnectionPending()) {
            server.finishConnect();
        }
    }

    private void read(SocketChannel source, ProxyPipe pipe, ProxyPipe back, Direction direction, long nowNanos) {
        long delayNanos = conditions.delayNanos(direction);
        while (pipe.wantsBytes()) {
            ByteBuffer bytes = ByteBuffer.allocate(CHUNK_BYTES);
            long dueNanos = nowNanos + delayNanos;
            try {
                int count = source.read(bytes);
                // Not from when the turn began: what came since would be delayed for too short a time.
                dueNanos = delayNanos == 0 ? nowNanos : System.nanoTime() + delayNanos;
                if (count == 0) {
                    return;
                }
                if (count < 0) {
                    pipe.end(ProxyPipe.Ending.CLOSED, dueNanos);
                    return;
                }
                bytes.flip();
                traffic.add(direction, count, counter.count(direction, bytes.duplicate()));
                pipe.add(bytes, dueNanos);
            } catch (IOException senderGone) {
                pipe.end(ProxyPipe.Ending.RESET, dueNanos);
                back.receiverGone();
            }
        }
    }

    private void pump(long nowNanos) throws IOException {
        if (server.isConnected()) {
            pump(toServer, toClient, server, nowNanos);
        }
        pump(toClient, toServer, client, nowNanos);
        boolean resetIsDue = toServer.resetIsDue(conditions, nowNanos) || toClient.resetIsDue(conditions, nowNanos);
        if (resetIsDue) {
            reset();
        } else if (toServer.isDone() && toClient.isDone()) {
            close();
        }
    }

    private void pump(ProxyPipe pipe, ProxyPipe back, SocketChannel receiver, long nowNanos) {
        try {
            pipe.pump(receiver, conditions, nowNanos);
        } catch (IOException receiverGone) {
            // The sender must not learn of it sooner than the way back to it lets through.
            pipe.receiverGone();
            back.end(ProxyPipe.Ending.RESET, nowNanos);
        }
    }

    /** Tells the selector what to wait for. */
    private void listen(long nowNanos) throws IOException {
        if (!isOpen()) {
            return;
        }
        register(client, interest(toServer, toClient, nowNanos));
        if (server.isConnectionPending()) {
            register(server, SelectionKey.OP_CONNECT);
        } else if (server.isConnected()) {
            register(server, interest(toClient, toServer, nowNanos));
        }
    }

    private int interest(ProxyPipe in, ProxyPipe out, long nowNanos) {
        return (in.wantsBytes() ? SelectionKey.OP_READ : 0)
                | (out.hasDueBytes(conditions, nowNanos) ? SelectionKey.OP_WRITE : 0);
    }

    private void register(SocketChannel channel, int interest) throws IOException {
        try {
            channel.register(selector, interest, this);
        } catch (CancelledKeyException e) {
            throw new IOException(e);
        }
    }

    /** Nanoseconds until a delayed chunk is due. */
    long nanosToNextDue(long nowNanos) {
        return server.isConnected()
                ? Math.min(toServer.nanosToNextDue(conditions, nowNanos), toClient.nanosToNextDue(conditions, nowNanos))
                : Long.MAX_VALUE;
    }

    boolean hasHole() {
        return toServer.hasHole() || toClient.hasHole();
    }

    /** Ends both connections with a reset, as if the peer's machine no longer knew of them. */
    void reset() {
        for (SocketChannel channel : new SocketChannel[] {client, server}) {
            try {
                channel.setOption(StandardSocketOptions.SO_LINGER, 0);
                channel.close();
            } catch (IOException alreadyClosed) {
                // Nothing left to reset.
            }
        }
    }

    private void close() throws IOException {
        client.close();
        server.close();
    }
}
