package io.holdfast.ui;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import javax.net.ssl.SSLContext;

/**
 * How a dashboard is served. Immutable.
 *
 * @param stores what it shows
 * @param actuators of instances that are asked for what they count themselves; with credentials where they need these
 * @param address where it listens; port 0 means any
 * @param tls if it serves HTTPS itself
 * @param proxied the address under which a proxy in front of it is reached, if there is one
 * @param release whether it may take locks away
 * @param addresses gets the address for the next browser whenever one was used
 * @param notices where it writes lines for its operator: the audit of forced releases, and internal errors
 * @param withoutCredentials takes passwords out of messages of stores
 */
public record DashboardOptions(
        List<WatchedStore> stores,
        List<URI> actuators,
        InetSocketAddress address,
        Optional<SSLContext> tls,
        Optional<URI> proxied,
        Release release,
        Consumer<String> addresses,
        Consumer<String> notices,
        UnaryOperator<String> withoutCredentials) {

    /** Whether the page may take locks from their holders. */
    public enum Release {
        FORBIDDEN,
        ALLOWED
    }

    /** @throws IllegalArgumentException if it would be reached from other machines without TLS */
    public DashboardOptions {
        stores = List.copyOf(stores);
        actuators = List.copyOf(actuators);
        InetAddress listens = address.getAddress();
        if (listens == null) {
            throw new IllegalArgumentException("there is no address of the name " + address.getHostString());
        }
        if (listens.isAnyLocalAddress() && proxied.isEmpty()) {
            throw new IllegalArgumentException(
                    "browsers must use one known address: name the one they reach this machine by, not "
                            + address.getHostString());
        }
        if (!listens.isLoopbackAddress() && tls.isEmpty() && proxied.isEmpty()) {
            throw new IllegalArgumentException("other machines could read along: serve " + address.getHostString()
                    + " with TLS (--tls), or behind a proxy that does (--behind-proxy)");
        }
    }

    /** On this machine only, read-only. */
    public static DashboardOptions local(List<WatchedStore> stores, int port) {
        return new DashboardOptions(
                stores,
                List.of(),
                new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
                Optional.empty(),
                Optional.empty(),
                Release.FORBIDDEN,
                next -> {},
                line -> {},
                UnaryOperator.identity());
    }

    public DashboardOptions withRelease(Release newRelease) {
        return new DashboardOptions(
                stores, actuators, address, tls, proxied, newRelease, addresses, notices, withoutCredentials);
    }

    public DashboardOptions withNotices(Consumer<String> newNotices) {
        return new DashboardOptions(
                stores, actuators, address, tls, proxied, release, addresses, newNotices, withoutCredentials);
    }

    public DashboardOptions withActuators(List<URI> newActuators) {
        return new DashboardOptions(
                stores, newActuators, address, tls, proxied, release, addresses, notices, withoutCredentials);
    }
}
