package io.holdfast.zookeeper;

import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.StoreProvider;
import io.holdfast.spi.StoreTraits;
import io.holdfast.spi.StoreUri;
import io.holdfast.zookeeper.session.Connector;
import io.holdfast.zookeeper.session.Ensemble;
import io.holdfast.zookeeper.session.GivenClient;
import io.holdfast.zookeeper.session.OwnClient;
import io.holdfast.zookeeper.tree.Layout;
import io.holdfast.zookeeper.tree.LockTree;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ClientX509Util;
import org.apache.zookeeper.common.PathUtils;
import org.apache.zookeeper.data.ACL;

/**
 * Locks in ZooKeeper: {@code zookeeper://h1:2181,h2:2181,h3:2181/locks}, or around a {@link ZooKeeper} client you have.
 *
 * <p>Thread-safe. The ttl of a lock is the timeout of a ZooKeeper session, so it must lie within what the servers allow, by
 * default 2 to 20 ticks of 2 s. The path is the directory of all locks, {@code /holdfast} if there is none; a lock in it is a
 * directory as Curator's {@code InterProcessMutex} uses one, and both may use it at once.
 */
public final class ZooKeeperStores implements StoreProvider {

    private static final String PLAIN = "zookeeper";
    private static final String TLS = "zookeepers";
    private static final String DEFAULT_ROOT = "/holdfast";
    private static final int PLAIN_PORT = 2181;
    private static final int TLS_PORT = 2281;
    private static final Duration DEFAULT_TICK = Duration.ofSeconds(2);
    private static final Duration LONGEST_TTL = Duration.ofDays(1);

    private static final Set<String> PARAMETERS = Set.of(
            "tick",
            "acl",
            "layout",
            "sasl",
            "trustStore",
            "trustStorePassword",
            "keyStore",
            "keyStorePassword",
            "verifyHost");

    /** For {@link java.util.ServiceLoader}. */
    public ZooKeeperStores() {}

    /**
     * Around a client you already have, open to everybody who can connect, on servers with a tick of at most 2 s.
     *
     * @see #using(ZooKeeper, String, Duration, List)
     */
    public static StoreFactory using(ZooKeeper client, String root) {
        return using(client, root, DEFAULT_TICK, Ids.OPEN_ACL_UNSAFE);
    }

    /**
     * Around a client you already have. All locks live by its session: their ttl must be its session timeout, they are lost
     * when it ends, and no other is built then. It is not closed with the store. Its event thread must not be blocked by your
     * own watchers, for grants come through it.
     *
     * @param root the directory of all locks, below the client's chroot if it has one
     * @param tick the servers' {@code tickTime}, or more
     * @param acl who may see and remove the nodes this store makes
     */
    public static StoreFactory using(ZooKeeper client, String root, Duration tick, List<ACL> acl) {
        LockTree tree = new LockTree(rooted(root), List.copyOf(acl), Layout.MUTEX);
        return store("ZooKeeper" + root, new GivenClient(client), positive(tick), tree);
    }

    @Override
    public Set<String> schemes() {
        return Set.of(PLAIN, TLS);
    }

    @Override
    public String example() {
        return "zookeeper://h1:2181,h2:2181,h3:2181/locks";
    }

    @Override
    public StoreFactory store(StoreUri uri) {
        uri.requireParametersIn(PARAMETERS);
        if (uri.hosts().isEmpty()) {
            throw new IllegalArgumentException("a host is missing in " + uri + ", write " + example());
        }
        int port = uri.scheme().equals(TLS) ? TLS_PORT : PLAIN_PORT;
        String servers = uri.hosts().stream()
                .map(host ->
                        (host.host().contains(":") ? "[" + host.host() + "]" : host.host()) + ":" + host.portOr(port))
                .collect(Collectors.joining(","));
        Optional<String> digest =
                uri.user().map(user -> user + ":" + uri.password().orElse(""));
        Connector connector = new OwnClient(servers, digest, properties(uri));
        Duration tick = positive(uri.duration("tick").orElse(DEFAULT_TICK));
        LockTree tree = new LockTree(rooted(uri.path().isEmpty() ? DEFAULT_ROOT : uri.path()), acl(uri), layout(uri));
        return store(uri.scheme() + "://" + servers + tree.root(), connector, tick, tree);
    }

    private static StoreFactory store(String name, Connector connector, Duration tick, LockTree tree) {
        Ensemble ensemble = new Ensemble(name, connector, tick, tree.emptyPath());
        StoreTraits traits = StoreTraits.of(name)
                .withoutLinger()
                .withTtls(tick.multipliedBy(2), LONGEST_TTL)
                .withMinMargin(tick);
        return context -> new ZooKeeperStore(ensemble, tree, traits, context);
    }

    private static Map<String, String> properties(StoreUri uri) {
        Map<String, String> properties = new HashMap<>();
        uri.text("sasl").ifPresent(section -> {
            properties.put(ZKClientConfig.ENABLE_CLIENT_SASL_KEY, "true");
            properties.put(ZKClientConfig.LOGIN_CONTEXT_NAME_KEY, section);
        });
        if (!uri.scheme().equals(TLS)) {
            for (String parameter : PARAMETERS) {
                if ((parameter.contains("Store") || parameter.equals("verifyHost"))
                        && uri.text(parameter).isPresent()) {
                    throw new IllegalArgumentException(
                            "parameter '" + parameter + "' in " + uri + " is about TLS: write zookeepers://");
                }
            }
            return properties;
        }
        properties.put(ZKClientConfig.SECURE_CLIENT, "true");
        properties.put(ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET, "org.apache.zookeeper.ClientCnxnSocketNetty");
        try (ClientX509Util names = new ClientX509Util()) {
            uri.text("trustStore").ifPresent(file -> properties.put(names.getSslTruststoreLocationProperty(), file));
            uri.text("trustStorePassword")
                    .ifPresent(word -> properties.put(names.getSslTruststorePasswdProperty(), word));
            uri.text("keyStore").ifPresent(file -> properties.put(names.getSslKeystoreLocationProperty(), file));
            uri.text("keyStorePassword").ifPresent(word -> properties.put(names.getSslKeystorePasswdProperty(), word));
            uri.flag("verifyHost")
                    .ifPresent(verify ->
                            properties.put(names.getSslHostnameVerificationEnabledProperty(), verify.toString()));
        }
        return properties;
    }

    private static List<ACL> acl(StoreUri uri) {
        boolean known = uri.user().isPresent() || uri.text("sasl").isPresent();
        return switch (uri.text("acl").orElse(known ? "creator" : "open")) {
            case "creator" -> Ids.CREATOR_ALL_ACL;
            case "open" -> Ids.OPEN_ACL_UNSAFE;
            default ->
                throw new IllegalArgumentException("parameter 'acl' in " + uri
                        + " must be creator (only who has our credentials) or open (everybody)");
        };
    }

    private static Layout layout(StoreUri uri) {
        return switch (uri.text("layout").orElse("mutex")) {
            case "mutex" -> Layout.MUTEX;
            case "read-write" -> Layout.READ_WRITE;
            default ->
                throw new IllegalArgumentException("parameter 'layout' in " + uri
                        + " must be mutex (to share queues with Curator's InterProcessMutex)"
                        + " or read-write (with its InterProcessReadWriteLock)");
        };
    }

    private static String rooted(String root) {
        String trimmed = root.length() > 1 && root.endsWith("/") ? root.substring(0, root.length() - 1) : root;
        PathUtils.validatePath(trimmed);
        return trimmed.equals("/") ? "" : trimmed;
    }

    private static Duration positive(Duration tick) {
        if (tick.toMillis() < 1) {
            throw new IllegalArgumentException("the tick must be at least 1 ms, not " + tick);
        }
        return tick;
    }
}
