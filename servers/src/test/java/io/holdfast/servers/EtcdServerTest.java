package io.holdfast.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.servers.process.Executables;
import io.holdfast.servers.process.ServerStartException;
import io.holdfast.servers.wire.TlsClients;
import io.holdfast.servers.wire.TlsMaterial;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class EtcdServerTest extends ServerContract<EtcdServer> {

    @Override
    EtcdServer start() {
        return EtcdServer.start();
    }

    @Override
    void write(EtcdServer server, String key, String value) throws Exception {
        etcdctl("--endpoints", server.endpoint(), "put", key, value);
    }

    @Override
    String read(EtcdServer server, String key) throws Exception {
        return etcdctl("--endpoints", server.endpoint(), "get", "--print-value-only", key)
                .strip();
    }

    @Test
    void leadsItselfWhenAlone() {
        assertThat(server.isLeader()).isTrue();
    }

    @Test
    void speaksTlsToHoldersOfACertificateOnly() throws Exception {
        TlsMaterial tls = TlsMaterial.generate();
        try (EtcdServer secure =
                EtcdServer.builder().tls(tls, TlsClients.CERTIFIED).start()) {
            List<String> certified = List.of(
                    "--cacert", tls.authorityCertificate().toString(),
                    "--cert", tls.clientCertificate().toString(),
                    "--key", tls.clientKey().toString(),
                    "--endpoints", secure.endpoint());
            List<String> put = new ArrayList<>(certified);
            put.addAll(List.of("put", "key", "value"));
            assertThat(etcdctl(put.toArray(String[]::new))).contains("OK");

            assertThatThrownBy(() -> etcdctl(
                            "--cacert",
                            tls.authorityCertificate().toString(),
                            "--command-timeout=1s",
                            "--endpoints",
                            secure.endpoint(),
                            "get",
                            "key"))
                    .isInstanceOf(IOException.class);
        }
    }

    @Test
    void startsAgainAlthoughItIsFull() throws Exception {
        try (EtcdServer full =
                EtcdServer.builder().args("--quota-backend-bytes", "200000").start()) {
            String value = "v".repeat(50_000);
            assertThatThrownBy(() -> {
                        for (int i = 0; i < 20; i++) {
                            write(full, "key-" + i, value);
                        }
                    })
                    .hasMessageContaining("database space exceeded");

            full.kill();
            full.restart();

            assertThat(read(full, "key-0")).isEqualTo(value);
        }
    }

    @Test
    void quotesTheLogWhenItCannotStart() {
        assertThatThrownBy(() -> EtcdServer.builder().args("--no-such-option").start())
                .isInstanceOf(ServerStartException.class)
                .hasMessageContaining("flag provided but not defined: -no-such-option");
    }

    static String etcdctl(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(Executables.find("etcdctl", "etcd-client")));
        if (List.of(arguments).stream().noneMatch(argument -> argument.startsWith("--command-timeout"))) {
            // Its own 5 s, 2 of them to connect, are little on a busy machine.
            command.addAll(List.of("--command-timeout=30s", "--dial-timeout=20s"));
        }
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("ETCDCTL_API", "3");
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IOException(String.join(" ", command) + ": " + output);
        }
        return output;
    }
}
