package io.holdfast.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.servers.process.ServerStartException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class PortTakenTest {

    @Test
    void serverTriesAnotherPortWhenSomebodyTookItsOwn() throws Exception {
        List<ServerSocket> intruders = new ArrayList<>();
        List<Integer> ports = new ArrayList<>();
        RedisServer started = ServerBuilder.startOnFreePorts(() -> {
            RedisServer server = new RedisServer("redis", RedisServer.builder());
            ports.add(server.port());
            if (intruders.isEmpty()) {
                intruders.add(listenOn(server));
            }
            return server;
        });
        try (started;
                ServerSocket intruder = intruders.get(0)) {
            assertThat(ports).hasSize(2).doesNotHaveDuplicates();
            assertThat(started.port()).isEqualTo(ports.get(1));
            assertThat(started.answers()).isTrue();
            assertThat(intruder.isBound()).isTrue();
        }
    }

    @Test
    void serverGivesUpWhenItsPortIsAlwaysTaken() {
        List<ServerSocket> intruders = new ArrayList<>();
        assertThatThrownBy(() -> ServerBuilder.startOnFreePorts(() -> {
                    RedisServer server = new RedisServer("redis", RedisServer.builder());
                    intruders.add(listenOn(server));
                    return server;
                }))
                .isInstanceOf(ServerStartException.class)
                .hasMessageContaining("Address already in use");
        assertThat(intruders).hasSize(5);
    }

    private static ServerSocket listenOn(Server server) {
        try {
            ServerSocket socket = new ServerSocket();
            socket.bind(server.address());
            return socket;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
