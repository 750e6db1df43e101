package io.holdfast.torture.resource;

import io.holdfast.torture.history.Guard;
import io.holdfast.torture.resource.GuardedList.Check;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;

/** Serves the protected lists to the workers of a run, one line per request, on a loopback port. Thread-safe. */
public final class ResourceServer implements AutoCloseable {

    private final ServerSocket socket;
    private final Map<String, GuardedList> checked = new ConcurrentSkipListMap<>();
    private final Map<String, GuardedList> unchecked = new ConcurrentSkipListMap<>();

    public ResourceServer() throws IOException {
        socket = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
        start("accept", this::accept);
    }

    public int port() {
        return socket.getLocalPort();
    }

    /** The last write to each list, by the lock's name. */
    public Map<String, String> lastWrites(Guard guard) {
        Map<String, String> last = new TreeMap<>();
        lists(guard).forEach((name, list) -> last.put(name, list.last()));
        return last;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }

    private void accept() {
        while (true) {
            try {
                Socket client = socket.accept();
                start("client", () -> serve(client));
            } catch (IOException closed) {
                return;
            }
        }
    }

    private void serve(Socket client) {
        try (client;
                BufferedReader requests =
                        new BufferedReader(new InputStreamReader(client.getInputStream(), StandardCharsets.US_ASCII));
                OutputStream answers = client.getOutputStream()) {
            client.setTcpNoDelay(true);
            String request;
            while ((request = requests.readLine()) != null) {
                answers.write((answer(request.split(" ")) + "\n").getBytes(StandardCharsets.US_ASCII));
            }
        } catch (IOException gone) {
            // A killed worker.
        }
    }

    /** {@code read|write checked|unchecked NAME TOKEN exclusive|shared [ID]}; the answer begins with {@code +} or is {@code stale}. */
    private String answer(String[] request) {
        Guard guard = Guard.valueOf(request[1]);
        GuardedList list = lists(guard)
                .computeIfAbsent(
                        request[2], name -> new GuardedList(guard == Guard.CHECKED ? Check.TOKENS : Check.NOTHING));
        long token = Long.parseLong(request[3]);
        Optional<String> answer = request[0].equals("read")
                ? list.read(token, request[4].equals("shared"))
                : list.write(token, request[5]);
        return answer.map(id -> "+" + id).orElse("stale");
    }

    private Map<String, GuardedList> lists(Guard guard) {
        return guard == Guard.CHECKED ? checked : unchecked;
    }

    private static void start(String role, Runnable task) {
        Thread thread = new Thread(task, "holdfast-torture-resource-" + role);
        thread.setDaemon(true);
        thread.start();
    }
}
