package io.holdfast.torture.local;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;

/** One request to a server in a protocol of plain text, after which the server closes the connection. */
final class Dialogue {

    private static final int TIMEOUT_MILLIS = 1000;

    private Dialogue() {}

    static String exchange(InetSocketAddress server, String request) throws IOException {
        try (Socket socket = new Socket()) {
            socket.connect(server, TIMEOUT_MILLIS);
            socket.setSoTimeout(TIMEOUT_MILLIS);
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            return readToEnd(socket);
        }
    }

    /** Also to the end of patience: Sentinels do not know how to hang up. */
    private static String readToEnd(Socket socket) throws IOException {
        ByteArrayOutputStream answer = new ByteArrayOutputStream();
        byte[] chunk = new byte[8192];
        try {
            int length;
            while ((length = socket.getInputStream().read(chunk)) >= 0) {
                answer.write(chunk, 0, length);
            }
        } catch (SocketTimeoutException e) {
            if (answer.size() == 0) {
                throw e;
            }
        }
        return answer.toString(StandardCharsets.US_ASCII);
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
