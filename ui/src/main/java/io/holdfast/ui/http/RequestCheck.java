package io.holdfast.ui.http;

import com.sun.net.httpserver.Headers;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/*
 * What a browser can be made to send here by a page of somebody else:
 *
 * - Any request to 127.0.0.1 or localhost, with our cookie unless SameSite keeps it back. The browser names the page's origin in
 *   Origin (always on POST) and says in Sec-Fetch-Site that it is another.
 * - After rebinding its own host name to 127.0.0.1, requests it may even read the answers of. They carry that name in Host.
 *
 * So the host must be one of ours on every request, an origin that is named must be ours too, and a POST must name one.
 */
/** Tells requests of our own pages from those of others. Immutable. */
public final class RequestCheck {

    private final Set<String> hosts = new HashSet<>();
    private final Set<String> origins = new HashSet<>();

    public RequestCheck(InetSocketAddress address, boolean tls, Optional<URI> proxied) {
        String scheme = tls ? "https" : "http";
        InetAddress listens = address.getAddress();
        if (!listens.isAnyLocalAddress()) {
            add(scheme, address.getHostString(), address.getPort());
            add(scheme, listens.getHostAddress(), address.getPort());
        }
        if (listens.isLoopbackAddress()) {
            List.of("127.0.0.1", "localhost", "::1").forEach(name -> add(scheme, name, address.getPort()));
        }
        proxied.ifPresent(uri -> add(uri.getScheme(), uri.getHost(), uri.getPort()));
    }

    private void add(String scheme, String name, int port) {
        String host = name.indexOf(':') >= 0 && !name.startsWith("[") ? "[" + name + "]" : name;
        boolean usual = port < 0 || port == (scheme.equals("https") ? 443 : 80);
        hosts.add(usual ? host : host + ":" + port);
        origins.add(scheme + "://" + (usual ? host : host + ":" + port));
    }

    public void require(String method, Headers headers) throws Refusal {
        String host = headers.getFirst("Host");
        if (host == null || !hosts.contains(host)) {
            throw new Refusal(
                    421, "wrong-host", "this dashboard is not served under that name; open the address it printed");
        }
        String origin = headers.getFirst("Origin");
        boolean reads = method.equals("GET");
        if (origin == null ? !reads : !origins.contains(origin)) {
            throw new Refusal(403, "wrong-origin", "requests of other pages are refused");
        }
    }

    /** What our own scripts ask for and no other page may, not even blindly. */
    public void requireOwnPage(Headers headers) throws Refusal {
        @Nullable String site = headers.getFirst("Sec-Fetch-Site");
        if (site != null && !site.equals("same-origin") && !site.equals("none")) {
            throw new Refusal(403, "wrong-origin", "requests of other pages are refused");
        }
    }
}
