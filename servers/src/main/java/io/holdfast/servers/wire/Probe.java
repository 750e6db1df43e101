package io.holdfast.servers.wire;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** A short conversation with a server over one connection, plain or TLS; never waits long. */
public final class Probe implements AutoCloseable {

    private static final int TIMEOUT_MILLIS = 1_000;

    private final Socket socket;

    private Probe(Socket socket) {
        this.socket = socket;
    }

    public static Probe connect(InetSocketAddress address, @Nullable TlsMaterial tls) throws IOException {
        Socket socket = tls == null
                ? new Socket()
                : tls.clientContext().getSocketFactory().createSocket();
        try {
            socket.setSoTimeout(TIMEOUT_MILLIS);
            socket.setTcpNoDelay(true);
            socket.connect(address, TIMEOUT_MILLIS);
            return new Probe(socket);
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    /** Sends a text and returns all that comes back until the server closes. */
    public static String exchange(InetSocketAddress address, @Nullable TlsMaterial tls, String text)
            throws IOException {
        try (Probe probe = connect(address, tls)) {
            probe.send(text.getBytes(StandardCharsets.UTF_8));
            return new String(probe.socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    public void send(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
        socket.getOutputStream().flush();
    }

    public InputStream input() throws IOException {
        return socket.getInputStream();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
