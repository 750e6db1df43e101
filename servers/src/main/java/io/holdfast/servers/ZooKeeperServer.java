package io.holdfast.servers;

import io.holdfast.proxy.ReservedPort;
import io.holdfast.servers.wire.Probe;
import io.holdfast.servers.wire.TlsClients;
import io.holdfast.servers.wire.TlsMaterial;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A ZooKeeper server in a JVM of its own on loopback, alone or as a member of a {@link ZooKeeperEnsemble}.
 *
 * <p>Its jars are looked up on the class path of this JVM (see {@link ZooKeeperClassPath}). By default a tick is 500 ms, so
 * sessions last from 1 s to 10 s, and it does not sync to disk: data survives a kill of the process, not of the machine.
 * Thread-safe.
 */
public final class ZooKeeperServer extends ServerProcess {

    private final @Nullable TlsMaterial tls;
    private final List<String> settings;
    private final ReservedPort quorumPort = ReservedPort.pick();
    private final ReservedPort electionPort = ReservedPort.pick();

    private volatile List<String> ensemble = List.of();
    private volatile int id;
    private volatile BooleanSupplier quorumExpected = () -> true;

    ZooKeeperServer(String name, Builder builder) {
        super(name, builder);
        tls = builder.tls;
        settings = builder.settings();
    }

    /** Starts a single server with default options. */
    public static ZooKeeperServer start() {
        return builder().start();
    }

    public static Builder builder() {
        return new Builder();
    }

    /** What a ZooKeeper client takes: {@code 127.0.0.1:port}. */
    public String connectString() {
        return "127.0.0.1:" + port();
    }

    /** Whether this server leads its ensemble, by its own account. */
    public boolean isLeader() {
        try {
            return ask("srvr").contains("Mode: leader");
        } catch (IOException unreachable) {
            return false;
        }
    }

    /** Makes it a member of an ensemble; to be called before it is launched. */
    void join(int myId, List<String> serverLines, BooleanSupplier quorum) {
        id = myId;
        ensemble = List.copyOf(serverLines);
        quorumExpected = quorum;
    }

    /** Where the other members of an ensemble find it. */
    String memberAddress() {
        return "127.0.0.1:" + quorumPort.number() + ":" + electionPort.number();
    }

    /** Sends one of ZooKeeper's four-letter words. */
    String ask(String word) throws IOException {
        return Probe.exchange(address(), tls, word);
    }

    @Override
    void initialise() throws IOException {
        List<String> lines = new ArrayList<>(List.of(
                "dataDir=" + data(),
                "admin.enableServer=false",
                "4lw.commands.whitelist=*",
                "maxClientCnxns=0",
                "initLimit=60",
                "syncLimit=20"));
        if (tls == null) {
            lines.addAll(List.of("clientPortAddress=127.0.0.1", "clientPort=" + port()));
        } else {
            lines.addAll(List.of("secureClientPortAddress=127.0.0.1", "secureClientPort=" + port()));
        }
        lines.addAll(settings);
        lines.addAll(ensemble);
        lines.addAll(arguments());
        if (!ensemble.isEmpty()) {
            Files.writeString(data().resolve("myid"), id + "\n");
        }
        Files.write(configurationFile(), lines);
    }

    @Override
    List<String> command() {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
        command.add("-Dzookeeper.jmx.log4j.disable=true");
        command.add("-Dslf4j.provider=" + StderrLogging.class.getName());
        command.addAll(List.of("-cp", ZooKeeperClassPath.find()));
        command.add("org.apache.zookeeper.server.quorum.QuorumPeerMain");
        command.add(configurationFile().toString());
        return command;
    }

    /** A member that waits for a majority says {@code imok} but does not serve: that is all there is to wait for then. */
    @Override
    boolean answers() throws IOException {
        return quorumExpected.getAsBoolean()
                ? ask("srvr").contains("Mode: ")
                : ask("ruok").equals("imok");
    }

    @Override
    public void close() {
        super.close();
        quorumPort.close();
        electionPort.close();
    }

    private Path configurationFile() {
        return data().resolve("zoo.cfg");
    }

    /** Options of a {@link ZooKeeperServer}; {@link #args} adds lines to its configuration. */
    public static final class Builder extends ServerBuilder<ZooKeeperServer, Builder> {

        private @Nullable TlsMaterial tls;
        private TlsClients tlsClients = TlsClients.ANONYMOUS;
        private Duration tick = Duration.ofMillis(500);

        private Builder() {}

        /** The unit of ZooKeeper's time: sessions last 2 to 20 ticks unless a client asks for something in between. */
        public Builder tick(Duration duration) {
            tick = duration;
            return this;
        }

        /** Serves TLS only, to clients with or without a certificate. */
        public Builder tls(TlsMaterial material) {
            return tls(material, TlsClients.ANONYMOUS);
        }

        /** Serves TLS only; members of an ensemble talk plainly among themselves. */
        public Builder tls(TlsMaterial material, TlsClients clients) {
            tls = material;
            tlsClients = clients;
            return this;
        }

        @Override
        public ZooKeeperServer start() {
            return startOnFreePorts(() -> new ZooKeeperServer("zookeeper", this));
        }

        @Override
        Builder self() {
            return this;
        }

        private List<String> settings() {
            List<String> lines = new ArrayList<>();
            lines.add("tickTime=" + tick.toMillis());
            if (!durable) {
                lines.add("forceSync=no");
            }
            if (tls != null) {
                lines.add("serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory");
                lines.add("ssl.keyStore.location=" + tls.serverKeyStore());
                lines.add("ssl.keyStore.password=" + TlsMaterial.STORE_PASSWORD);
                lines.add("ssl.trustStore.location=" + tls.trustStore());
                lines.add("ssl.trustStore.password=" + TlsMaterial.STORE_PASSWORD);
                lines.add("ssl.clientAuth=" + (tlsClients == TlsClients.CERTIFIED ? "need" : "none"));
            }
            return lines;
        }
    }
}
