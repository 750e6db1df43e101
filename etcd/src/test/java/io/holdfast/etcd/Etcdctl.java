package io.holdfast.etcd;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/** The real {@code etcdctl}, as others use it. */
final class Etcdctl {

    private final List<String> start;

    Etcdctl(String endpoint, String... options) {
        start = new ArrayList<>(List.of("etcdctl", "--endpoints", endpoint));
        start.addAll(List.of(options));
    }

    /** A new lease, as keys name it: without the leading zeros etcdctl writes. */
    String newLease(Duration ttl) {
        String id = run("lease", "grant", String.valueOf(ttl.toSeconds())).split(" ")[1];
        return Long.toHexString(Long.parseUnsignedLong(id, 16));
    }

    /** Runs to its end and returns what it printed. */
    String run(String... arguments) {
        try {
            Process process = launch(arguments);
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (!process.waitFor(30, TimeUnit.SECONDS) || process.exitValue() != 0) {
                throw new IllegalStateException("etcdctl " + List.of(arguments) + ": " + output);
            }
            return output;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The keys that begin so. */
    List<String> keys(String prefix) {
        return run("get", "--prefix", "--keys-only", prefix)
                .lines()
                .filter(line -> !line.isEmpty())
                .toList();
    }

    /** The leases, in hex, of the keys that begin so. */
    List<String> leases(String prefix) {
        return Pattern.compile("\"lease\":(\\d+)")
                .matcher(run("get", "--prefix", "-w", "json", prefix))
                .results()
                .map(found -> Long.toHexString(Long.parseLong(found.group(1))))
                .toList();
    }

    Process launch(String... arguments) {
        List<String> command = new ArrayList<>(start);
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("ETCDCTL_API", "3");
        try {
            return builder.start();
        } catch (IOException e) {
            throw new UncheckedIOException("etcdctl does not start; install it with: apt-get install etcd-client", e);
        }
    }
}
