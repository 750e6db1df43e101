package io.holdfast.torture.resource;

import io.holdfast.torture.history.Guard;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** One worker thread's connection to the protected lists. Not thread-safe. */
public final class ResourceClient implements AutoCloseable {

    private final Socket socket;
    private final BufferedReader answers;
    private final OutputStream requests;

    public ResourceClient(int port) throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        answers = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
        requests = socket.getOutputStream();
    }

    /** Returns the id of the last write, empty if there is none; nothing if the list has seen a larger token. */
    public Optional<String> read(Guard guard, String list, long token, boolean shared) throws IOException {
        return ask("read " + guard + " " + list + " " + token + (shared ? " shared" : " exclusive"));
    }

    /** Writes back what was read and one value more; nothing if the list has seen a larger token. */
    public Optional<String> write(Guard guard, String list, long token, String id) throws IOException {
        return ask("write " + guard + " " + list + " " + token + " exclusive " + id);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }

    private Optional<String> ask(String request) throws IOException {
        requests.write((request + "\n").getBytes(StandardCharsets.US_ASCII));
        String answer = answers.readLine();
        if (answer == null) {
            throw new IOException("The run is over");
        }
        return answer.startsWith("+") ? Optional.of(answer.substring(1)) : Optional.empty();
    }
}
