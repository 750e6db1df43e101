package io.holdfast.redis;

import io.holdfast.redis.server.TlsFiles;
import io.holdfast.spi.StoreUri;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import redis.clients.jedis.HostAndPort;

/**
 * What a store URI says. Immutable.
 *
 * @param shape how the servers stand together
 * @param store the URI without credentials
 * @param hosts servers, or Sentinels
 * @param login at the servers
 * @param sentinelLogin at the Sentinels
 * @param database its number; 0 in a cluster
 * @param master what the Sentinels call the primary
 * @param tls how connections are encrypted, if they are
 * @param prefix what the keys begin with
 * @param timeout the longest a single request may take, whatever the caller's deadline
 * @param connections how many connections callers share per server
 * @param replicas how many replicas must have a grant before it counts
 * @param counterLife how long a fencing counter is kept after its last use
 */
record RedisConfig(
        Shape shape,
        String store,
        List<HostAndPort> hosts,
        Login login,
        Login sentinelLogin,
        int database,
        String master,
        Optional<TlsFiles> tls,
        String prefix,
        Duration timeout,
        int connections,
        int replicas,
        Duration counterLife) {

    /** How servers stand together. */
    enum Shape {
        STANDALONE,
        SENTINEL,
        CLUSTER,
        /** Servers that know nothing of each other. */
        QUORUM
    }

    /** How a client logs in, if it does. */
    record Login(Optional<String> user, Optional<String> password) {

        static final Login NONE = new Login(Optional.empty(), Optional.empty());
    }

    static final String DEFAULT_PREFIX = "holdfast:";
    static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(5);
    static final int DEFAULT_CONNECTIONS = 64;
    static final Duration DEFAULT_COUNTER_LIFE = Duration.ofDays(7);
    /** Without its counter a token is the clock, which may be set back a little. */
    private static final Duration SHORTEST_COUNTER_LIFE = Duration.ofMinutes(1);

    private static final int PORT = 6379;
    private static final int SENTINEL_PORT = 26379;
    private static final Set<String> COMMON =
            Set.of("prefix", "timeout", "connections", "replicas", "counter-life", "tls-ca", "tls-cert", "tls-key");

    static RedisConfig of(StoreUri uri) {
        Shape shape = shapeOf(uri.scheme());
        uri.requireParametersIn(known(uri.scheme()));
        int standardPort = shape == Shape.SENTINEL ? SENTINEL_PORT : PORT;
        List<HostAndPort> hosts = uri.hosts().stream()
                .map(host -> new HostAndPort(host.host(), host.portOr(standardPort)))
                .toList();
        if (hosts.isEmpty()) {
            throw new IllegalArgumentException(uri + " names no host, as in redis://localhost:6379");
        }
        if (shape == Shape.STANDALONE && hosts.size() > 1) {
            throw new IllegalArgumentException(uri
                    + " names several hosts: use redis-sentinel://, redis-cluster:// or redlock:// for more than one");
        }
        String path = uri.path().startsWith("/") ? uri.path().substring(1) : uri.path();
        return new RedisConfig(
                shape,
                uri.toString(),
                hosts,
                new Login(uri.user(), uri.password()),
                new Login(uri.text("sentinel-user"), uri.text("sentinel-password")),
                database(uri, shape, path),
                master(uri, shape, path),
                tls(uri),
                prefix(uri),
                timeout(uri),
                atLeast(1, uri, "connections", DEFAULT_CONNECTIONS),
                atLeast(0, uri, "replicas", 0),
                counterLife(uri));
    }

    /** For a client the user already has, who knows all but the prefix. */
    static RedisConfig ofGivenClient(String prefix) {
        return new RedisConfig(
                Shape.STANDALONE,
                "redis",
                List.of(),
                Login.NONE,
                Login.NONE,
                0,
                "",
                Optional.empty(),
                requirePrefix(prefix, "redis"),
                DEFAULT_TIMEOUT,
                DEFAULT_CONNECTIONS,
                0,
                DEFAULT_COUNTER_LIFE);
    }

    /** One server of several that know nothing of each other, for a quorum. */
    List<RedisConfig> servers() {
        return hosts.stream()
                .map(host -> new RedisConfig(
                        Shape.STANDALONE,
                        host.toString(),
                        List.of(host),
                        login,
                        Login.NONE,
                        database,
                        "",
                        tls,
                        prefix,
                        timeout,
                        connections,
                        replicas,
                        counterLife))
                .toList();
    }

    private static Shape shapeOf(String scheme) {
        return switch (scheme) {
            case "redis-sentinel" -> Shape.SENTINEL;
            case "redis-cluster" -> Shape.CLUSTER;
            case "redlock" -> Shape.QUORUM;
            default -> Shape.STANDALONE;
        };
    }

    private static Set<String> known(String scheme) {
        Set<String> known = new java.util.TreeSet<>(COMMON);
        if (scheme.equals("redis-sentinel")) {
            known.addAll(Set.of("sentinel-user", "sentinel-password", "database", "tls"));
        } else if (scheme.equals("redis-cluster")) {
            known.add("tls");
        } else if (scheme.equals("redlock")) {
            known.addAll(Set.of("tls", "node-timeout"));
        }
        return known;
    }

    private static int database(StoreUri uri, Shape shape, String path) {
        String text = shape == Shape.SENTINEL ? uri.text("database").orElse("") : path;
        if (text.isEmpty()) {
            return 0;
        }
        if (shape == Shape.CLUSTER) {
            throw new IllegalArgumentException(uri + " names a database, but a cluster has only one");
        }
        try {
            int database = Integer.parseInt(text);
            if (database >= 0) {
                return database;
            }
        } catch (NumberFormatException e) {
            // Said below, in one place.
        }
        throw new IllegalArgumentException("the database in " + uri + " must be a number, not '" + text + "'");
    }

    private static String master(StoreUri uri, Shape shape, String path) {
        if (shape != Shape.SENTINEL) {
            return "";
        }
        if (path.isEmpty() || path.contains("/")) {
            throw new IllegalArgumentException(
                    uri + " must end with the name of the primary, as in redis-sentinel://h1,h2,h3/mymaster");
        }
        return path;
    }

    private static Optional<TlsFiles> tls(StoreUri uri) {
        boolean wanted = uri.scheme().equals("rediss") || uri.flag("tls").orElse(false);
        TlsFiles tls = new TlsFiles(
                uri.text("tls-ca").map(Path::of),
                uri.text("tls-cert").map(Path::of),
                uri.text("tls-key").map(Path::of));
        boolean given = tls.authorities().isPresent()
                || tls.certificate().isPresent()
                || tls.key().isPresent();
        if (!wanted && given) {
            throw new IllegalArgumentException(
                    uri + " has tls- parameters but does not use TLS: begin it with rediss:// or add tls=true");
        }
        if (tls.certificate().isPresent() != tls.key().isPresent()) {
            throw new IllegalArgumentException(uri + " must have both tls-cert and tls-key, or neither");
        }
        return wanted ? Optional.of(tls) : Optional.empty();
    }

    private static String prefix(StoreUri uri) {
        return requirePrefix(uri.text("prefix").orElse(DEFAULT_PREFIX), uri.toString());
    }

    private static String requirePrefix(String prefix, String where) {
        if (prefix.chars().anyMatch(c -> c == '{' || c == '}' || c <= ' ' || c == 0x7f)) {
            throw new IllegalArgumentException(
                    "the prefix in " + where + " must not contain braces, spaces or control characters");
        }
        return prefix;
    }

    private static Duration timeout(StoreUri uri) {
        Duration timeout = uri.duration("timeout").orElse(DEFAULT_TIMEOUT);
        if (timeout.isNegative() || timeout.isZero()) {
            throw new IllegalArgumentException("the timeout in " + uri + " must be positive");
        }
        return timeout;
    }

    private static Duration counterLife(StoreUri uri) {
        Duration life = uri.duration("counter-life").orElse(DEFAULT_COUNTER_LIFE);
        if (life.compareTo(SHORTEST_COUNTER_LIFE) < 0) {
            throw new IllegalArgumentException("parameter 'counter-life' in " + uri + " must be at least a minute");
        }
        return life;
    }

    private static int atLeast(int least, StoreUri uri, String parameter, int standard) {
        int value = uri.integer(parameter).orElse(standard);
        if (value < least) {
            throw new IllegalArgumentException(
                    "parameter '" + parameter + "' in " + uri + " must be at least " + least + ", not " + value);
        }
        return value;
    }
}
