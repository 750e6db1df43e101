package io.holdfast.bench.server;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * A bare connection to Redis: one request, one answer, nothing else. The floor below which no client gets, and a way to read
 * the server's own counts. Not thread-safe.
 */
public final class RespConnection implements AutoCloseable {

    private final Socket socket;
    private final InputStream in;
    private final OutputStream out;
    private final ByteArrayOutputStream buffer = new ByteArrayOutputStream(256);

    public RespConnection(String host, int port) throws IOException {
        socket = new Socket();
        socket.setTcpNoDelay(true);
        socket.connect(new InetSocketAddress(host, port), 5000);
        in = new BufferedInputStream(socket.getInputStream(), 8192);
        out = socket.getOutputStream();
    }

    /** Text or number as text; null for nil; of an array the last element. */
    public @Nullable String call(String... words) throws IOException {
        buffer.reset();
        write("*" + words.length + "\r\n");
        for (String word : words) {
            byte[] bytes = word.getBytes(StandardCharsets.UTF_8);
            write("$" + bytes.length + "\r\n");
            buffer.write(bytes, 0, bytes.length);
            write("\r\n");
        }
        buffer.writeTo(out);
        return answer();
    }

    private void write(String ascii) {
        buffer.writeBytes(ascii.getBytes(StandardCharsets.US_ASCII));
    }

    private @Nullable String answer() throws IOException {
        String line = line();
        char type = line.charAt(0);
        String rest = line.substring(1);
        switch (type) {
            case '+', ':' -> {
                return rest;
            }
            case '-' -> throw new IOException(rest);
            case '$' -> {
                int length = Integer.parseInt(rest);
                if (length < 0) {
                    return null;
                }
                byte[] bytes = in.readNBytes(length);
                in.skipNBytes(2);
                return new String(bytes, StandardCharsets.UTF_8);
            }
            case '*' -> {
                String last = null;
                for (int i = Integer.parseInt(rest); i > 0; i--) {
                    last = answer();
                }
                return last;
            }
            default -> throw new IOException("not an answer of Redis: " + line);
        }
    }

    private String line() throws IOException {
        StringBuilder line = new StringBuilder();
        while (true) {
            int next = in.read();
            if (next < 0) {
                throw new EOFException("the server closed the connection");
            }
            if (next == '\r') {
                in.skipNBytes(1);
                return line.toString();
            }
            line.append((char) next);
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
