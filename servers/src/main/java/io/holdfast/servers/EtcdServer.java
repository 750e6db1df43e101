package io.holdfast.servers;

import io.holdfast.proxy.ReservedPort;
import io.holdfast.servers.process.Executables;
import io.holdfast.servers.wire.Probe;
import io.holdfast.servers.wire.TlsClients;
import io.holdfast.servers.wire.TlsMaterial;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * An {@code etcd} on loopback, alone or as a member of an {@link EtcdCluster}.
 *
 * <p>By default it does not sync to disk: data survives a kill of the process, not of the machine. Thread-safe.
 */
public final class EtcdServer extends ServerProcess {

    private final ReservedPort peerPort = ReservedPort.pick();
    private final @Nullable TlsMaterial tls;
    private final boolean clientsNeedCertificate;
    private final boolean durable;

    private volatile String initialCluster = name() + "=" + peerUrl();
    private volatile String initialClusterState = "new";
    private volatile @Nullable EtcdCluster cluster;

    EtcdServer(String name, Builder builder) {
        super(name, builder);
        tls = builder.tls;
        clientsNeedCertificate = builder.clientsNeedCertificate;
        durable = builder.durable;
    }

    /** Starts a single server with default options. */
    public static EtcdServer start() {
        return builder().start();
    }

    public static Builder builder() {
        return new Builder();
    }

    /** Where clients connect: {@code http://127.0.0.1:port}, or {@code https} with TLS. */
    public String endpoint() {
        return (tls == null ? "http://" : "https://") + "127.0.0.1:" + port();
    }

    /** Whether this server leads its cluster, by its own account. */
    public boolean isLeader() {
        try {
            String status = post("/v3/maintenance/status", "{}");
            String leader = number(status, "leader");
            return !leader.isEmpty() && leader.equals(number(status, "member_id"));
        } catch (IOException unreachable) {
            return false;
        }
    }

    /** Makes it a member of a cluster; to be called before it is launched. */
    void join(String members, EtcdCluster joined) {
        initialCluster = members;
        cluster = joined;
    }

    String peerUrl() {
        return "http://127.0.0.1:" + peerPort.number();
    }

    /** Posts to etcd's JSON gateway and returns status line, headers and body. */
    String post(String path, String json) throws IOException {
        return Probe.exchange(
                address(),
                tls,
                "POST " + path + " HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
                        + json.length() + "\r\n\r\n" + json);
    }

    /** The value of a field of a JSON answer that etcd writes as a quoted number, or an empty text. */
    static String number(String json, String field) {
        Matcher matcher = Pattern.compile("\"" + field + "\":\"(\\d+)\"").matcher(json);
        return matcher.find() ? matcher.group(1) : "";
    }

    @Override
    List<String> command() {
        List<String> command = new ArrayList<>(List.of(
                Executables.find("etcd", "etcd-server"),
                "--name",
                name(),
                "--data-dir",
                data().resolve("etcd").toString()));
        command.addAll(List.of("--listen-client-urls", endpoint(), "--advertise-client-urls", endpoint()));
        command.addAll(List.of("--listen-peer-urls", peerUrl(), "--initial-advertise-peer-urls", peerUrl()));
        command.addAll(List.of("--initial-cluster", initialCluster, "--initial-cluster-state", initialClusterState));
        command.addAll(List.of("--logger", "zap", "--log-level", "warn"));
        if (!durable) {
            command.add("--unsafe-no-fsync");
        }
        if (tls != null) {
            command.addAll(List.of("--cert-file", tls.serverCertificate().toString()));
            command.addAll(List.of("--key-file", tls.serverKey().toString()));
            if (clientsNeedCertificate) {
                // Not otherwise: naming an authority alone makes etcd ask for certificates too.
                command.addAll(List.of("--client-cert-auth", "--trusted-ca-file"));
                command.add(tls.authorityCertificate().toString());
            }
        }
        command.addAll(arguments());
        return command;
    }

    /** A member that waits for a majority listens but does not serve: that is all there is to wait for then. */
    @Override
    boolean answers() throws IOException {
        EtcdCluster joined = cluster;
        if (joined != null && !joined.hasMajority()) {
            Probe.connect(address(), null).close();
            return true;
        }
        return Probe.exchange(address(), tls, "GET /health HTTP/1.0\r\nHost: localhost\r\n\r\n")
                        .contains("\"health\":\"true\"")
                || hasLeader();
    }

    /** A full server calls itself unhealthy although it answers. */
    private boolean hasLeader() throws IOException {
        return Probe.exchange(
                        address(),
                        tls,
                        "POST /v3/maintenance/status HTTP/1.0\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}")
                .contains("\"leader\":");
    }

    /** Its identity was in its data: the others must take it in as a new member. */
    @Override
    void dataLost() {
        EtcdCluster joined = cluster;
        if (joined != null) {
            joined.replace(this);
            initialClusterState = "existing";
        }
    }

    @Override
    public void close() {
        super.close();
        peerPort.close();
    }

    /** Options of an {@link EtcdServer}. */
    public static final class Builder extends ServerBuilder<EtcdServer, Builder> {

        private @Nullable TlsMaterial tls;
        private boolean clientsNeedCertificate;

        private Builder() {}

        /** Serves TLS only, to clients with or without a certificate. */
        public Builder tls(TlsMaterial material) {
            return tls(material, TlsClients.ANONYMOUS);
        }

        /** Serves TLS only; members of a cluster talk plainly among themselves. */
        public Builder tls(TlsMaterial material, TlsClients clients) {
            tls = material;
            clientsNeedCertificate = clients == TlsClients.CERTIFIED;
            return this;
        }

        @Override
        public EtcdServer start() {
            return startOnFreePorts(() -> new EtcdServer("etcd", this));
        }

        @Override
        Builder self() {
            return this;
        }
    }
}
