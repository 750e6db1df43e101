package io.holdfast.etcd;

import io.grpc.Channel;
import io.holdfast.etcd.client.EtcdSettings;
import io.holdfast.etcd.client.EtcdSettings.Login;
import io.holdfast.etcd.client.EtcdSettings.Tls;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.StoreProvider;
import io.holdfast.spi.StoreUri;
import io.holdfast.spi.StoreUri.HostPort;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Locks in etcd: {@code etcd://host:2379,host:2379}, or {@code etcds://} for TLS.
 *
 * <p>Found by the URI; {@link #using} is for those who have a gRPC channel already. Thread-safe.
 */
public final class EtcdStores implements StoreProvider {

    private static final Set<String> PARAMETERS =
            Set.of("prefix", "timeout", "connectTimeout", "ca", "cert", "key", "serverName", "lease");

    /** For {@link java.util.ServiceLoader}. */
    public EtcdStores() {}

    /**
     * A store over a channel of yours, with default settings. It is not closed with the store, and it is yours to make it
     * fail over.
     */
    public static StoreFactory using(Channel channel) {
        return using(channel, "");
    }

    /**
     * The same.
     *
     * @param options as after the {@code ?} of a URI: {@code prefix=locks/&timeout=2s}
     */
    public static StoreFactory using(Channel channel, String options) {
        StoreUri uri = StoreUri.parse("etcd://channel?" + options);
        EtcdSettings settings = settings(uri);
        return context -> new EtcdStore(settings, channel, context);
    }

    @Override
    public Set<String> schemes() {
        return Set.of("etcd", "etcds");
    }

    @Override
    public String example() {
        return "etcd://localhost:2379";
    }

    @Override
    public StoreFactory store(StoreUri uri) {
        EtcdSettings settings = settings(uri);
        return context -> new EtcdStore(settings, null, context);
    }

    private static EtcdSettings settings(StoreUri uri) {
        uri.requireParametersIn(PARAMETERS);
        if (!uri.path().isEmpty() && !uri.path().equals("/")) {
            throw new IllegalArgumentException(
                    "etcd has no databases: drop '" + uri.path() + "' from " + uri + ", or use ?prefix=…");
        }
        List<HostPort> hosts = uri.hosts().isEmpty()
                ? List.of(new HostPort("localhost", Optional.of(EtcdSettings.PORT)))
                : uri.hosts();
        return new EtcdSettings(
                uri.toString(),
                hosts,
                tls(uri),
                login(uri),
                uri.text("prefix").orElse(EtcdSettings.PREFIX),
                positive(uri, "timeout", EtcdSettings.TIMEOUT),
                positive(uri, "connectTimeout", EtcdSettings.CONNECT_TIMEOUT),
                lease(uri));
    }

    private static Optional<Tls> tls(StoreUri uri) {
        Optional<Path> authority = file(uri, "ca");
        Optional<Path> certificate = file(uri, "cert");
        Optional<Path> key = file(uri, "key");
        Optional<String> serverName = uri.text("serverName");
        if (certificate.isPresent() != key.isPresent()) {
            throw new IllegalArgumentException("'cert' and 'key' go together in " + uri);
        }
        if (uri.scheme().equals("etcds")) {
            return Optional.of(new Tls(authority, certificate, key, serverName));
        }
        if (authority.isPresent() || certificate.isPresent() || serverName.isPresent()) {
            throw new IllegalArgumentException("'ca', 'cert', 'key' and 'serverName' need etcds:// instead of " + uri);
        }
        return Optional.empty();
    }

    private static Optional<Path> file(StoreUri uri, String parameter) {
        Optional<Path> file = uri.text(parameter).map(Path::of);
        file.ifPresent(path -> {
            if (!Files.isReadable(path)) {
                throw new IllegalArgumentException("'" + parameter + "' in " + uri + " is not a file I can read");
            }
        });
        return file;
    }

    private static Optional<Login> login(StoreUri uri) {
        if (uri.user().isPresent() != uri.password().isPresent()) {
            throw new IllegalArgumentException("user and password go together in " + uri);
        }
        return uri.user().map(user -> new Login(user, uri.password().orElseThrow()));
    }

    private static Duration positive(StoreUri uri, String parameter, Duration standard) {
        Duration duration = uri.duration(parameter).orElse(standard);
        if (duration.isZero() || duration.isNegative()) {
            throw new IllegalArgumentException("'" + parameter + "' in " + uri + " must be positive");
        }
        return duration;
    }

    private static OptionalLong lease(StoreUri uri) {
        Optional<String> hex = uri.text("lease");
        if (hex.isEmpty()) {
            return OptionalLong.empty();
        }
        try {
            return OptionalLong.of(Long.parseUnsignedLong(hex.get(), 16));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("'lease' in " + uri + " must be a lease id in hex, as etcdctl shows it");
        }
    }
}
