package io.holdfast.ui;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Sends requests exactly as given: a client library would correct the headers that are to be wrong. */
final class RawHttp {

    /** An answer: its first line and headers, and its body. */
    record Answer(String head, String body) {

        int status() {
            return Integer.parseInt(head.split(" ")[1]);
        }

        Optional<String> header(String name) {
            Matcher matcher = Pattern.compile("(?im)^" + Pattern.quote(name) + ": *(.*?)\\r?$")
                    .matcher(head);
            return matcher.find() ? Optional.of(matcher.group(1)) : Optional.empty();
        }
    }

    private final int port;

    RawHttp(int port) {
        this.port = port;
    }

    Answer get(String path, String... headers) {
        return send("GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\n", "", headers);
    }

    Answer post(String path, String body, String... headers) {
        return send(
                "POST " + path + " HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\nContent-Length: "
                        + body.getBytes(StandardCharsets.UTF_8).length + "\r\n",
                body,
                headers);
    }

    Answer send(String start, String body, String... headers) {
        StringBuilder request = new StringBuilder(start);
        for (String header : headers) {
            request.append(header).append("\r\n");
        }
        request.append("Connection: close\r\n\r\n").append(body);
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream().write(request.toString().getBytes(StandardCharsets.UTF_8));
            String all = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            int end = all.indexOf("\r\n\r\n");
            return new Answer(all.substring(0, end), all.substring(end + 4));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Opens the address and returns the cookie header to come with. */
    String enter(String address) {
        String token = address.substring(address.indexOf("?token="));
        String cookie = get("/" + token).header("Set-Cookie").orElseThrow();
        return "Cookie: " + cookie.substring(0, cookie.indexOf(';'));
    }
}
