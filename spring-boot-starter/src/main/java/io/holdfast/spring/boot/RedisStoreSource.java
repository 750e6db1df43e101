package io.holdfast.spring.boot;

import io.holdfast.HoldfastBuilder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.ssl.SslStoreBundle;

/** The Redis of {@code spring.data.redis}, or of whatever else gives connection details; over connections of our own. */
final class RedisStoreSource implements StoreSource {

    private final ObjectProvider<DataRedisConnectionDetails> connections;

    RedisStoreSource(ObjectProvider<DataRedisConnectionDetails> connections) {
        this.connections = connections;
    }

    @Override
    public boolean set(HoldfastBuilder builder, ClientProperties properties) {
        DataRedisConnectionDetails details = connections.getIfAvailable();
        if (details == null) {
            return false;
        }
        builder.store(uri(details));
        return true;
    }

    static String uri(DataRedisConnectionDetails details) {
        boolean tls = details.getSslBundle() != null;
        if (tls && details.getSslBundle().getStores() != SslStoreBundle.NONE) {
            throw new NoLockStoreException(
                    "The Redis connection of the application uses an SSL bundle with stores of its own, which cannot be"
                            + " handed on to the lock store",
                    "Set holdfast.store to an address that begins with rediss:// and names them by tls-ca, tls-cert, tls-key");
        }
        return address(details) + (tls ? "?tls=true" : "");
    }

    private static String address(DataRedisConnectionDetails details) {
        String credentials = credentials(details.getUsername(), details.getPassword());
        if (details.getCluster() != null) {
            return "redis-cluster://" + credentials
                    + hosts(details.getCluster().getNodes().stream()
                            .map(node -> node.host() + ":" + node.port())
                            .toList());
        }
        if (details.getSentinel() != null) {
            return "redis-sentinel://" + credentials
                    + hosts(details.getSentinel().getNodes().stream()
                            .map(node -> node.host() + ":" + node.port())
                            .toList())
                    + "/" + encoded(details.getSentinel().getMaster());
        }
        DataRedisConnectionDetails.Standalone server = details.getStandalone();
        if (server == null) {
            throw new NoLockStoreException(
                    "The Redis connection of the application is neither one server, nor Sentinel, nor a cluster",
                    "Set holdfast.store to its address");
        }
        return "redis://" + credentials + server.getHost() + ":" + server.getPort()
                + (server.getDatabase() == 0 ? "" : "/" + server.getDatabase());
    }

    private static String hosts(List<String> nodes) {
        return nodes.stream().collect(Collectors.joining(","));
    }

    private static String credentials(@Nullable String user, @Nullable String password) {
        if (password == null || password.isEmpty()) {
            return "";
        }
        return (user == null ? "" : encoded(user)) + ":" + encoded(password) + "@";
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
