package io.holdfast.servers;

import io.holdfast.servers.process.Executables;
import io.holdfast.servers.wire.Probe;
import io.holdfast.servers.wire.RespCall;
import io.holdfast.servers.wire.TlsMaterial;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** A Redis Sentinel on loopback that watches the servers of a {@link RedisReplicaSet}. Thread-safe. */
public final class RedisSentinel extends ServerProcess {

    private final List<String> settings;
    private final @Nullable TlsMaterial tls;

    RedisSentinel(String name, List<String> settings, @Nullable TlsMaterial tls) {
        super(name, List.of(), Map.of());
        this.settings = List.copyOf(settings);
        this.tls = tls;
    }

    @Override
    List<String> command() {
        return List.of(
                Executables.find("redis-server", RedisServer.DEBIAN_PACKAGE),
                configurationFile().toString(),
                "--sentinel");
    }

    /** Writes the configuration once: Sentinel keeps what it has learned in it. */
    @Override
    void initialise() throws IOException {
        List<String> lines = new ArrayList<>(List.of("bind 127.0.0.1", "dir " + data()));
        lines.add((tls == null ? "port " : "port 0\ntls-port ") + port());
        lines.addAll(settings);
        Files.write(configurationFile(), lines);
    }

    @Override
    boolean answers() throws IOException {
        return RespCall.serves(address(), tls);
    }

    /** The port of the primary as this Sentinel sees it; empty if it does not answer. */
    OptionalInt primaryPort(String masterName) {
        try (Probe probe = Probe.connect(address(), tls)) {
            List<String> address = RespCall.send(probe, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", masterName)
                    .texts();
            return address.size() == 2 ? OptionalInt.of(Integer.parseInt(address.get(1))) : OptionalInt.empty();
        } catch (IOException unreachable) {
            return OptionalInt.empty();
        }
    }

    /** What it says of the primary, by field. */
    Map<String, String> view(String masterName) {
        Map<String, String> fields = new HashMap<>();
        try (Probe probe = Probe.connect(address(), tls)) {
            List<String> flat =
                    RespCall.send(probe, "SENTINEL", "MASTER", masterName).texts();
            for (int i = 0; i + 1 < flat.size(); i += 2) {
                fields.put(flat.get(i), flat.get(i + 1));
            }
        } catch (IOException unreachable) {
            return Map.of();
        }
        return fields;
    }

    private Path configurationFile() {
        return data().resolve("sentinel.conf");
    }
}
