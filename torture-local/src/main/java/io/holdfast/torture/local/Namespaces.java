package io.holdfast.torture.local;

import io.holdfast.torture.stand.NotPossibleException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * Network namespaces on one bridge, each with an address of its own: machines on a network, as far as servers can tell. Needs
 * root, and removes what it made, even if this JVM is killed. Thread-safe.
 */
final class Namespaces implements AutoCloseable {

    /*
     * A cut between two of them is an entry in the neighbour table that names a hardware address nobody has. Packets leave and
     * reach no one, nobody is told, and who else talks to either is not disturbed: what a switch with a broken rule does. (A
     * blackhole route would give the sender an error, a link that is down would cut it off from everybody.)
     */

    private static final Path IP = Path.of("/usr/sbin/ip");
    private static final String NOBODY = "02:00:00:00:00:01";
    private static final int SUBNETS = 250;
    private static final int TRIES = 20;

    /** Reads from a pipe that only this JVM holds open, then tidies up. */
    private static final String GUARD = """
            trap '' HUP INT TERM
            cat >/dev/null
            for number in $2; do ip netns del "$1-$number"; done
            ip link del "$1"
            """;

    private final String bridge;
    private final int subnet;
    private final int count;
    private final Process guard;

    private Namespaces(String bridge, int subnet, int count, Process guard) {
        this.bridge = bridge;
        this.subnet = subnet;
        this.count = count;
        this.guard = guard;
    }

    /** @throws NotPossibleException without root, or without iproute2 */
    static Namespaces create(int count) {
        if (!System.getProperty("user.name").equals("root") || !Files.isExecutable(IP)) {
            throw new NotPossibleException(
                    "partitions between servers need network namespaces: run as root, with iproute2 installed");
        }
        for (int tries = 0; tries < TRIES; tries++) {
            int subnet = ThreadLocalRandom.current().nextInt(1, SUBNETS);
            String bridge = "hftort" + subnet;
            if (succeeds("link", "add", bridge, "type", "bridge")) {
                Namespaces made = new Namespaces(bridge, subnet, count, guard(bridge, count));
                made.connect();
                return made;
            }
        }
        throw new NotPossibleException("no network bridge could be made: are namespaces allowed here?");
    }

    /** Where a server in that namespace, from 1 on, is reached. */
    InetSocketAddress address(int number, int port) {
        return new InetSocketAddress(host(number), port);
    }

    String host(int number) {
        return "10.251." + subnet + "." + number;
    }

    /** A command that runs another in that namespace. */
    List<String> in(int number, List<String> command) {
        List<String> full = new ArrayList<>(List.of(IP.toString(), "netns", "exec", namespace(number)));
        full.addAll(command);
        return full;
    }

    /** Lets nothing pass between one and the others, in either direction. */
    void isolate(int number) {
        for (int other = 1; other <= count; other++) {
            if (other != number) {
                run(
                        "-n",
                        namespace(number),
                        "neigh",
                        "replace",
                        host(other),
                        "lladdr",
                        NOBODY,
                        "nud",
                        "permanent",
                        "dev",
                        "eth0");
                run(
                        "-n",
                        namespace(other),
                        "neigh",
                        "replace",
                        host(number),
                        "lladdr",
                        NOBODY,
                        "nud",
                        "permanent",
                        "dev",
                        "eth0");
            }
        }
    }

    void heal(int number) {
        for (int other = 1; other <= count; other++) {
            if (other != number) {
                run("-n", namespace(number), "neigh", "del", host(other), "dev", "eth0");
                run("-n", namespace(other), "neigh", "del", host(number), "dev", "eth0");
            }
        }
    }

    @Override
    public void close() {
        try {
            guard.getOutputStream().close();
            guard.waitFor(10, TimeUnit.SECONDS);
        } catch (IOException e) {
            throw new IllegalStateException("Cannot remove the namespaces " + bridge + "-*", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void connect() {
        run("addr", "add", host(254) + "/24", "dev", bridge);
        run("link", "set", bridge, "up");
        for (int number = 1; number <= count; number++) {
            String outside = bridge + "v" + number;
            run("netns", "add", namespace(number));
            run("link", "add", outside, "type", "veth", "peer", "name", "eth0", "netns", namespace(number));
            run("link", "set", outside, "master", bridge);
            run("link", "set", outside, "up");
            run("-n", namespace(number), "addr", "add", host(number) + "/24", "dev", "eth0");
            run("-n", namespace(number), "link", "set", "eth0", "up");
            run("-n", namespace(number), "link", "set", "lo", "up");
        }
    }

    private String namespace(int number) {
        return bridge + "-" + number;
    }

    private static Process guard(String bridge, int count) {
        StringBuilder numbers = new StringBuilder();
        for (int number = 1; number <= count; number++) {
            numbers.append(number).append(' ');
        }
        try {
            return new ProcessBuilder("setsid", "sh", "-c", GUARD, "holdfast-torture-guard", bridge, numbers.toString())
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
        } catch (IOException e) {
            throw new IllegalStateException("Cannot start a guard for the namespaces", e);
        }
    }

    private static void run(String... arguments) {
        if (!succeeds(arguments)) {
            throw new IllegalStateException("ip " + String.join(" ", arguments) + " failed");
        }
    }

    private static boolean succeeds(String... arguments) {
        List<String> command = new ArrayList<>(List.of(IP.toString()));
        command.addAll(List.of(arguments));
        try {
            return new ProcessBuilder(command)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .redirectError(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
