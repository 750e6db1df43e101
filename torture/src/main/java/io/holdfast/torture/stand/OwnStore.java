package io.holdfast.torture.stand;

import io.holdfast.spi.StoreUri;
import io.holdfast.torture.nemesis.Fault;
import io.holdfast.torture.nemesis.Healing;
import io.holdfast.torture.nemesis.PlannedFault;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A store somebody already has. Nothing is done to its servers; the network before them can be disturbed where clients dial
 * only what the URI names, and without TLS, which would rightly refuse a proxy.
 */
public final class OwnStore implements Stand {

    private static final Map<String, Integer> DEFAULT_PORTS = Map.of(
            "redis", 6379,
            "redlock", 6379,
            "etcd", 2379,
            "zookeeper", 2181,
            "jdbc:mariadb", 3306,
            "jdbc:mysql", 3306,
            "jdbc:postgresql", 5432);

    private static final Pattern PARTS =
            Pattern.compile("((?:jdbc:)?[A-Za-z0-9+.-]+)://((?:[^@/?]*@)?)([^/?]*)(.*)", Pattern.DOTALL);
    private static final Pattern HOST = Pattern.compile("(\\[[^\\]]+\\]|[^:,]+)(?::(\\d+))?");

    private final String uri;
    private final Optional<Matcher> parts;
    private final List<InetSocketAddress> addresses;

    public OwnStore(String uri) {
        this.uri = uri;
        Matcher matcher = PARTS.matcher(uri);
        parts = matcher.matches() && DEFAULT_PORTS.containsKey(matcher.group(1))
                ? Optional.of(matcher)
                : Optional.empty();
        addresses = parts.filter(found ->
                        !found.group(4).contains("tls=true") && !found.group(4).contains("ssl=true"))
                .map(found -> hosts(found.group(3), DEFAULT_PORTS.getOrDefault(found.group(1), 0)))
                .orElse(List.of());
    }

    /** What can be done without a hand on the servers. */
    public Set<Fault> faults() {
        Set<Fault> faults =
                EnumSet.of(Fault.KILL_HOLDER, Fault.KILL_WAITER, Fault.PAUSE, Fault.STALL, Fault.STOP, Fault.MISCHIEF);
        faults.add(Fault.EXECUTOR);
        if (WallClock.isPossible()) {
            faults.add(Fault.CLIENT_CLOCK);
        }
        if (!addresses.isEmpty()) {
            faults.addAll(List.of(Fault.CUT, Fault.CUT_REQUESTS, Fault.CUT_REPLIES, Fault.DELAY, Fault.RESET));
        }
        return faults;
    }

    /** The URI without credentials. */
    public String shown() {
        return StoreUri.parse(uri).toString();
    }

    @Override
    public List<InetSocketAddress> addresses() {
        return addresses;
    }

    @Override
    public String uri(List<InetSocketAddress> dialled) {
        if (dialled.isEmpty() || parts.isEmpty()) {
            return uri;
        }
        Matcher found = parts.get();
        return found.group(1) + "://" + found.group(2) + Stand.hosts(dialled) + found.group(4);
    }

    @Override
    public String uri() {
        return uri;
    }

    @Override
    public Duration failover() {
        return Duration.ofSeconds(5);
    }

    @Override
    public boolean freesTheDeadAtOnce() {
        return uri.startsWith("file:");
    }

    @Override
    public Optional<Healing> begin(PlannedFault fault) {
        return Optional.empty();
    }

    @Override
    public void close() {
        // Not ours.
    }

    private static List<InetSocketAddress> hosts(String text, int defaultPort) {
        List<InetSocketAddress> hosts = new ArrayList<>();
        Matcher host = HOST.matcher(text);
        while (host.find()) {
            int port = host.group(2) == null ? defaultPort : Integer.parseInt(host.group(2));
            hosts.add(new InetSocketAddress(host.group(1), port));
        }
        return hosts;
    }
}
