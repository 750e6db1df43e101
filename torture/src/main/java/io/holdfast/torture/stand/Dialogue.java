package io.holdfast.torture.stand;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** One request to a server in a protocol of plain text, after which the server closes the connection. */
final class Dialogue {

    private static final int TIMEOUT_MILLIS = 2000;

    private Dialogue() {}

    static String exchange(InetSocketAddress server, String request) throws IOException {
        try (Socket socket = new Socket()) {
            socket.connect(server, TIMEOUT_MILLIS);
            socket.setSoTimeout(TIMEOUT_MILLIS);
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        }
    }

    /** The same, empty if the server does not answer. */
    static String ask(InetSocketAddress server, String request) {
        try {
            return exchange(server, request);
        } catch (IOException unreachable) {
            return "";
        }
    }
}
