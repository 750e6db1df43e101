package io.holdfast.bench.server;

import io.holdfast.spi.StoreUri;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A store's URI, as far as the bench has to understand it: who can share it, and where its one server is. Immutable; its text
 * has no credentials.
 */
public final class StoreAddress {

    private static final Map<String, Integer> PORTS = Map.of(
            "redis",
            6379,
            "etcd",
            2379,
            "zookeeper",
            2181,
            "jdbc:mariadb",
            3306,
            "jdbc:mysql",
            3306,
            "jdbc:postgresql",
            5432);

    private static final Pattern SERVER =
            Pattern.compile("^([a-z:]+)://((?:[^@/?]*@)?)([^:/?,\\[]+)(?::(\\d+))?(?=[/?]|$)");

    private final String uri;
    private final String label;
    private final Optional<Matcher> server;

    private StoreAddress(String uri, String label, Optional<Matcher> server) {
        this.uri = uri;
        this.label = label;
        this.server = server;
    }

    /** @throws IllegalArgumentException if it is not a URI */
    public static StoreAddress of(String uri) {
        String label = StoreUri.parse(uri).toString();
        Matcher matcher = SERVER.matcher(uri);
        boolean known = matcher.find() && PORTS.containsKey(matcher.group(1));
        return new StoreAddress(uri, label, known ? Optional.of(matcher) : Optional.empty());
    }

    /** The same under another name in reports. */
    public StoreAddress called(String newLabel) {
        return new StoreAddress(uri, newLabel, server);
    }

    public String uri() {
        return uri;
    }

    /** {@code redis}, {@code jdbc:mariadb}, {@code file}, … */
    public String kind() {
        int end = uri.indexOf("://");
        return end < 0 ? uri.substring(0, uri.indexOf(':')) : uri.substring(0, end);
    }

    /** How many JVMs of the bench can share it. */
    public int mostJvms() {
        return kind().equals("memory") ? 1 : 4;
    }

    /** If it is one server without encryption, which can be looked at and put behind a proxy. */
    public Optional<InetSocketAddress> server() {
        return server.map(found -> new InetSocketAddress(
                found.group(3),
                found.group(4) == null ? PORTS.getOrDefault(found.group(1), 0) : Integer.parseInt(found.group(4))));
    }

    /** The same store through a proxy. */
    public String through(InetSocketAddress proxy) {
        Matcher found = server.orElseThrow();
        return found.group(1) + "://" + found.group(2) + proxy.getHostString() + ":" + proxy.getPort()
                + uri.substring(found.end());
    }

    /** For people, without credentials. */
    @Override
    public String toString() {
        return label;
    }
}
