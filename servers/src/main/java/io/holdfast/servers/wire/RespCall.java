package io.holdfast.servers.wire;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Commands to a Redis server, for launching and asking it; replies come as text, lists of text, or error. */
public final class RespCall {

    private RespCall() {}

    /** A reply: a text, or a list of replies; an error or nil is a text too. */
    public record Reply(String text, List<Reply> parts) {

        public boolean isError() {
            return text.startsWith("-");
        }

        /** The reply's texts, nested lists left out. */
        public List<String> texts() {
            return parts.stream().map(Reply::text).toList();
        }
    }

    /** Whether a server answers commands. */
    public static boolean serves(InetSocketAddress address, @Nullable TlsMaterial tls) throws IOException {
        try (Probe probe = Probe.connect(address, tls)) {
            Reply reply = send(probe, "PING");
            // Who must log in first has been answered too; a server that is still loading says -LOADING.
            return !reply.isError()
                    || reply.text().startsWith("-NOAUTH")
                    || reply.text().startsWith("-NOPERM");
        }
    }

    /** Writes one command on an open connection and reads its reply. */
    public static Reply send(Probe probe, String... command) throws IOException {
        ByteArrayOutputStream request = new ByteArrayOutputStream();
        request.writeBytes(("*" + command.length + "\r\n").getBytes(StandardCharsets.UTF_8));
        for (String argument : command) {
            byte[] bytes = argument.getBytes(StandardCharsets.UTF_8);
            request.writeBytes(("$" + bytes.length + "\r\n").getBytes(StandardCharsets.UTF_8));
            request.writeBytes(bytes);
            request.writeBytes("\r\n".getBytes(StandardCharsets.UTF_8));
        }
        probe.send(request.toByteArray());
        return read(probe.input());
    }

    private static Reply read(InputStream in) throws IOException {
        String line = readLine(in);
        char type = line.charAt(0);
        String rest = line.substring(1);
        return switch (type) {
            case '+', ':' -> new Reply(rest, List.of());
            case '-' -> new Reply(line, List.of());
            case '$' -> new Reply(readBulk(in, Integer.parseInt(rest)), List.of());
            case '*' -> readList(in, Integer.parseInt(rest));
            default -> throw new IOException("Not a RESP reply: " + line);
        };
    }

    private static String readBulk(InputStream in, int length) throws IOException {
        if (length < 0) {
            return "";
        }
        byte[] bytes = in.readNBytes(length + 2);
        return new String(bytes, 0, Math.min(length, bytes.length), StandardCharsets.UTF_8);
    }

    private static Reply readList(InputStream in, int length) throws IOException {
        List<Reply> parts = new ArrayList<>();
        for (int i = 0; i < length; i++) {
            parts.add(read(in));
        }
        return new Reply("", parts);
    }

    private static String readLine(InputStream in) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int b = in.read(); b != '\r'; b = in.read()) {
            if (b < 0) {
                throw new EOFException("The server closed the connection");
            }
            line.write(b);
        }
        in.read(); // the \n
        return line.toString(StandardCharsets.UTF_8);
    }
}
