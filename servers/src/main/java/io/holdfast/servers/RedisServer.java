package io.holdfast.servers;

import io.holdfast.proxy.ReservedPort;
import io.holdfast.servers.process.Executables;
import io.holdfast.servers.wire.Probe;
import io.holdfast.servers.wire.RespCall;
import io.holdfast.servers.wire.TlsClients;
import io.holdfast.servers.wire.TlsMaterial;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A {@code redis-server} on loopback.
 *
 * <p>By default it keeps nothing on disk, so a restart forgets everything; {@link Builder#appendOnly} changes that.
 * Thread-safe.
 */
public final class RedisServer extends ServerProcess {

    static final String DEBIAN_PACKAGE = "redis-server";

    /** How soon an append-only file reaches the disk. */
    public enum Fsync {
        ALWAYS,
        EVERYSEC,
        NO
    }

    private final List<String> settings;
    private final List<String> acl;
    private final @Nullable String password;
    private final @Nullable TlsMaterial tls;
    private final @Nullable ReservedPort clusterBus;

    RedisServer(String name, Builder builder) {
        super(name, builder);
        settings = List.copyOf(builder.settings);
        acl = List.copyOf(builder.acl);
        password = builder.password;
        tls = builder.tls;
        clusterBus = builder.clusterNode ? ReservedPort.pick() : null;
    }

    /** Starts a server with default options. */
    public static RedisServer start() {
        return builder().start();
    }

    public static Builder builder() {
        return new Builder();
    }

    /** The address as {@code redis://127.0.0.1:port}, or {@code rediss://} with TLS, the password included if there is one. */
    public String uri() {
        return (tls == null ? "redis://" : "rediss://") + (password == null ? "" : ":" + password + "@") + "127.0.0.1:"
                + port();
    }

    Optional<TlsMaterial> tls() {
        return Optional.ofNullable(tls);
    }

    Optional<String> password() {
        return Optional.ofNullable(password);
    }

    static List<String> tlsSettings(TlsMaterial material, TlsClients clients) {
        return List.of(
                "tls-cert-file " + material.serverCertificate(),
                "tls-key-file " + material.serverKey(),
                "tls-ca-cert-file " + material.authorityCertificate(),
                "tls-auth-clients " + (clients == TlsClients.CERTIFIED ? "yes" : "optional"),
                "tls-replication yes");
    }

    @Override
    List<String> command() {
        List<String> command = new ArrayList<>();
        command.add(Executables.find("redis-server", DEBIAN_PACKAGE));
        command.add(configurationFile().toString());
        command.addAll(arguments());
        return command;
    }

    /** Writes the configuration once: Sentinel and CONFIG REWRITE change it, and a restart must find what they wrote. */
    @Override
    void initialise() throws IOException {
        List<String> lines = new ArrayList<>(List.of("bind 127.0.0.1", "dir " + data(), "save \"\""));
        lines.add((tls == null ? "port " : "port 0\ntls-port ") + port());
        if (clusterBus != null) {
            lines.addAll(List.of(
                    "cluster-enabled yes",
                    // Who it is and where its peers are is not data: a node restarted empty is still in the cluster.
                    "cluster-config-file " + directory().resolve("nodes.conf"),
                    "cluster-port " + clusterBus.number()));
        }
        if (!acl.isEmpty()) {
            Files.write(data().resolve("users.acl"), acl);
            lines.add("aclfile " + data().resolve("users.acl"));
        }
        lines.addAll(settings);
        Files.write(configurationFile(), lines);
    }

    @Override
    boolean answers() throws IOException {
        return RespCall.serves(address(), tls);
    }

    /** Sends one command, logged in if there is a password. */
    RespCall.Reply call(String... command) throws IOException {
        try (Probe probe = Probe.connect(address(), tls)) {
            if (password != null) {
                RespCall.send(probe, "AUTH", password);
            }
            return RespCall.send(probe, command);
        }
    }

    /** The lines {@code name:value} of an INFO or CLUSTER INFO reply; empty if the server does not answer. */
    Map<String, String> info(String... command) {
        Map<String, String> values = new HashMap<>();
        try {
            for (String line : call(command).text().split("\r\n")) {
                int colon = line.indexOf(':');
                if (colon > 0) {
                    values.put(line.substring(0, colon), line.substring(colon + 1));
                }
            }
        } catch (IOException unreachable) {
            return Map.of();
        }
        return values;
    }

    int clusterBusPort() {
        if (clusterBus == null) {
            throw new IllegalStateException(name() + " is not in a cluster");
        }
        return clusterBus.number();
    }

    @Override
    public void close() {
        super.close();
        if (clusterBus != null) {
            clusterBus.close();
        }
    }

    private Path configurationFile() {
        return data().resolve("redis.conf");
    }

    /** Options of a {@link RedisServer}. */
    public static final class Builder extends ServerBuilder<RedisServer, Builder> {

        private final List<String> settings = new ArrayList<>();
        private final List<String> acl = new ArrayList<>();
        private @Nullable String password;
        private @Nullable TlsMaterial tls;
        private boolean clusterNode;

        private Builder() {}

        /** Keeps every write in an append-only file, so that a restart finds it. */
        public Builder appendOnly(Fsync fsync) {
            return setting("appendonly", "yes")
                    .setting("appendfsync", fsync.name().toLowerCase(Locale.ROOT));
        }

        @Override
        public Builder durable() {
            return appendOnly(Fsync.ALWAYS);
        }

        /** Sets the password of the default user. */
        public Builder password(String text) {
            password = text;
            return setting("requirepass", text).setting("masterauth", text);
        }

        /** Gives the server an ACL file with these lines, for example {@code user alice on >secret ~holdfast:* +@all}. */
        public Builder acl(String... lines) {
            acl.addAll(List.of(lines));
            return this;
        }

        /** Serves TLS only, to clients with or without a certificate. */
        public Builder tls(TlsMaterial material) {
            return tls(material, TlsClients.ANONYMOUS);
        }

        /** Serves TLS only. */
        public Builder tls(TlsMaterial material, TlsClients clients) {
            tls = material;
            settings.addAll(tlsSettings(material, clients));
            return setting("tls-cluster", "yes");
        }

        /** Limits memory, for example {@code maxMemory("3mb", "noeviction")}. */
        public Builder maxMemory(String amount, String policy) {
            return setting("maxmemory", amount).setting("maxmemory-policy", policy);
        }

        /** Follows another server as its replica. */
        public Builder replicaOf(RedisServer primary) {
            return setting("replicaof", "127.0.0.1 " + primary.port());
        }

        /** Adds a line to {@code redis.conf}. */
        public Builder setting(String name, String value) {
            settings.add(name + " " + value);
            return this;
        }

        Builder clusterNode() {
            clusterNode = true;
            return this;
        }

        @Override
        public RedisServer start() {
            return startOnFreePorts(() -> new RedisServer("redis", this));
        }

        @Override
        Builder self() {
            return this;
        }
    }
}
