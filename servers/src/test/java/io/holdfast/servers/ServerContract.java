package io.holdfast.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.servers.process.ProcessTree;
import java.io.IOException;
import java.nio.file.Files;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** What every server must do; each test leaves the one server of the class running. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class ServerContract<S extends ServerProcess> {

    S server;

    /** Starts a server that keeps its data over a restart. */
    abstract S start();

    /** Writes with the store's own client library, on a new connection. */
    abstract void write(S server, String key, String value) throws Exception;

    /** Reads with the store's own client library, on a new connection; an empty text if there is no such key. */
    abstract String read(S server, String key) throws Exception;

    @BeforeAll
    void startServer() {
        server = start();
    }

    @AfterAll
    void closeServer() {
        server.close();
    }

    @Test
    void servesAnOrdinaryClient() throws Exception {
        write(server, "ordinary", "value");

        assertThat(read(server, "ordinary")).isEqualTo("value");
        assertThat(server.isRunning()).isTrue();
        assertThat(server.address().getAddress().isLoopbackAddress()).isTrue();
    }

    @Test
    void answersNobodyWhilePaused() throws Exception {
        write(server, "paused", "value");
        server.pause();
        try {
            assertThatThrownBy(() -> server.answers()).isInstanceOf(IOException.class);
            assertThat(server.isRunning()).isTrue();
        } finally {
            server.resume();
        }
        assertThat(read(server, "paused")).isEqualTo("value");
    }

    @Test
    void isGoneOnceKilledAndComesBackWithItsDataOnTheSamePort() throws Exception {
        write(server, "killed", "value");
        long pid = server.pid();
        int port = server.port();

        server.kill();

        assertThat(server.isRunning()).isFalse();
        assertThat(ProcessTree.isGone(pid)).isTrue();
        assertThatThrownBy(() -> server.answers()).isInstanceOf(IOException.class);

        server.restart();

        assertThat(server.port()).isEqualTo(port);
        assertThat(server.pid()).isNotEqualTo(pid);
        assertThat(read(server, "killed")).isEqualTo("value");
    }

    @Test
    void canBeKilledWhilePaused() {
        server.pause();
        long pid = server.pid();
        server.kill();

        assertThat(ProcessTree.isGone(pid)).isTrue();
        server.restart();
    }

    @Test
    void keepsItsDataWhenStoppedInOrder() throws Exception {
        write(server, "stopped", "value");
        server.stop();
        assertThat(server.isRunning()).isFalse();

        server.restart();
        assertThat(read(server, "stopped")).isEqualTo("value");
    }

    @Test
    void forgetsEverythingWhenRestartedEmpty() throws Exception {
        write(server, "forgotten", "value");
        int port = server.port();

        server.restartEmpty();

        assertThat(server.port()).isEqualTo(port);
        assertThat(read(server, "forgotten")).isEmpty();
    }

    @Test
    void leavesNothingBehindWhenClosed() {
        S other = start();
        long pid = other.pid();
        assertThat(other.directory()).exists();
        assertThat(other.port()).isNotEqualTo(server.port());

        other.close();
        other.close();

        assertThat(Files.exists(other.directory())).isFalse();
        assertThat(ProcessTree.isGone(pid)).isTrue();
    }
}
