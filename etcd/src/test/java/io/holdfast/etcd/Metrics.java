package io.holdfast.etcd;

import io.holdfast.servers.EtcdServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;

/** What an etcd counts of itself. */
final class Metrics {

    private final URI address;

    Metrics(EtcdServer server) {
        address = URI.create(server.endpoint() + "/metrics");
    }

    /** The sum of a metric over all its labels. */
    long sum(String metric) {
        try (InputStream body = address.toURL().openStream()) {
            String text = new String(body.readAllBytes(), StandardCharsets.UTF_8);
            return text.lines()
                    .filter(line -> line.startsWith(metric + "{") || line.startsWith(metric + " "))
                    .mapToLong(line -> (long) Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                    .sum();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
