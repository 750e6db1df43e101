package io.holdfast.zookeeper.session;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ConnectStringParser;
import org.apache.zookeeper.client.StaticHostProvider;
import org.apache.zookeeper.client.ZKClientConfig;

/**
 * Connects to servers by address.
 *
 * @param servers as ZooKeeper's client takes them, without a root
 * @param digest {@code user:password}, if the servers know us by that
 * @param properties of ZooKeeper's client: TLS, SASL
 */
public record OwnClient(String servers, Optional<String> digest, Map<String, String> properties) implements Connector {

    private static final int REFUSES_WITHIN_MILLIS = 500;

    @Override
    public ZooKeeper connect(Duration timeout, Watcher watcher, ConnectAttempts attempts) throws IOException {
        ZKClientConfig config = new ZKClientConfig();
        properties.forEach(config::setProperty);
        attempts.among(new StaticHostProvider(new ConnectStringParser(servers).getServerAddresses()));
        // Never content with a read-only server: it cannot grant anything.
        return new ZooKeeper(servers, Math.toIntExact(timeout.toMillis()), watcher, false, attempts, config);
    }

    /** Not earlier: over TLS the client may send what was queued before it was connected ahead of its greeting. */
    @Override
    public void authenticate(ZooKeeper client) {
        digest.ifPresent(user -> client.addAuthInfo("digest", user.getBytes(StandardCharsets.UTF_8)));
    }

    /** ZooKeeper's client does not tell why it has no connection. */
    @Override
    public Optional<String> refusals() {
        List<String> refusals = new ArrayList<>();
        for (InetSocketAddress server : new ConnectStringParser(servers).getServerAddresses()) {
            Optional<String> refusal = refusal(server.getHostString(), server.getPort());
            if (refusal.isEmpty()) {
                return refusal;
            }
            refusals.add(server.getHostString() + ":" + server.getPort() + ": " + refusal.get());
        }
        return Optional.of(String.join(", ", refusals));
    }

    private static Optional<String> refusal(String host, int port) {
        String refusal = "";
        try {
            for (InetAddress address : InetAddress.getAllByName(host)) {
                try (Socket socket = new Socket()) {
                    socket.connect(new InetSocketAddress(address, port), REFUSES_WITHIN_MILLIS);
                    return Optional.empty();
                } catch (ConnectException e) {
                    refusal = String.valueOf(e.getMessage());
                }
            }
            return Optional.of(refusal);
        } catch (UnknownHostException e) {
            return Optional.of("no such host");
        } catch (IOException e) {
            // Silence, rather than a refusal: it may answer yet.
            return Optional.empty();
        }
    }

    @Override
    public boolean isOwn() {
        return true;
    }

    /** Credentials stay out of messages. */
    @Override
    public String toString() {
        return servers;
    }
}
