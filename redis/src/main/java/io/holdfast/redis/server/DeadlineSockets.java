package io.holdfast.redis.server;

import io.holdfast.spi.Deadline;
import io.holdfast.spi.support.Uninterruptibly;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.UnknownHostException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisSocketFactory;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;

/** Opens one socket by a deadline, over name lookup, connection and TLS handshake together. */
public final class DeadlineSockets implements JedisSocketFactory {

    private static final Pattern LITERAL = Pattern.compile("[0-9.]+|.*:.*");

    private final HostAndPort server;
    private final @Nullable SSLSocketFactory tls;
    private final Deadline deadline;

    DeadlineSockets(HostAndPort server, @Nullable SSLSocketFactory tls, Deadline deadline) {
        this.server = server;
        this.tls = tls;
        this.deadline = deadline;
    }

    /** What a socket call takes as its timeout: never 0, which would mean for ever. */
    public static int millisLeft(Deadline deadline) {
        long millis = (deadline.remainingNanos() + 999_999) / 1_000_000;
        return (int) Math.max(1, Math.min(millis, Integer.MAX_VALUE));
    }

    /** Closes a connection's socket, whoever may be using it. */
    public static void cut(Connection connection) {
        try {
            connection.forceDisconnect();
        } catch (IOException | JedisException e) {
            // It is gone either way.
        }
    }

    @Override
    public Socket createSocket() {
        @Nullable NoConnectionException failure = null;
        for (InetAddress address : lookUp()) {
            Socket socket = new Socket();
            boolean connected = false;
            try {
                socket.setKeepAlive(true);
                socket.setTcpNoDelay(true);
                socket.connect(new InetSocketAddress(address, server.getPort()), millisLeft(deadline));
                connected = true;
                socket.setSoTimeout(millisLeft(deadline));
                return tls == null ? socket : secure(socket, tls);
            } catch (IOException e) {
                closeQuietly(socket);
                if (failure == null) {
                    failure = connected
                            ? NoConnectionException.insecure(server, e)
                            : NoConnectionException.unreachable(server, e);
                }
            }
            if (deadline.hasPassed()) {
                break;
            }
        }
        throw failure == null ? new JedisConnectionException("cannot connect to " + server) : failure;
    }

    private Socket secure(Socket plain, SSLSocketFactory factory) throws IOException {
        SSLSocket socket = (SSLSocket) factory.createSocket(plain, server.getHost(), server.getPort(), true);
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        socket.setSSLParameters(parameters);
        socket.startHandshake();
        return socket;
    }

    /** A resolver may hang for minutes and cannot be interrupted, so it hangs on a thread nobody waits for. */
    private InetAddress[] lookUp() {
        if (LITERAL.matcher(server.getHost()).matches()) {
            try {
                return InetAddress.getAllByName(server.getHost());
            } catch (UnknownHostException e) {
                throw new NoConnectionException("'" + server.getHost() + "' is not an address", e);
            }
        }
        CompletableFuture<InetAddress[]> found = new CompletableFuture<>();
        Thread lookup = new Thread(
                () -> {
                    try {
                        found.complete(InetAddress.getAllByName(server.getHost()));
                    } catch (UnknownHostException | RuntimeException e) {
                        found.completeExceptionally(e);
                    }
                },
                "holdfast-lookup-" + server.getHost());
        lookup.setDaemon(true);
        try {
            lookup.start();
        } catch (OutOfMemoryError e) {
            // No thread to be had now: nothing that asking again later could not mend.
            throw new NoConnectionException("no thread to look up host '" + server.getHost() + "' on", e);
        }
        return await(found);
    }

    private InetAddress[] await(CompletableFuture<InetAddress[]> found) {
        return Uninterruptibly.await(deadline, (time, unit) -> {
            try {
                return found.get(time, unit);
            } catch (TimeoutException e) {
                throw new NoConnectionException("looking up host '" + server.getHost() + "' took too long", e);
            } catch (ExecutionException e) {
                throw new NoConnectionException(
                        "host '" + server.getHost() + "' is unknown; check its name", e.getCause());
            }
        });
    }

    private static void closeQuietly(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // It was of no use anyway.
        }
    }
}
