package io.holdfast.torture.local;

import io.holdfast.servers.RedisServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;

/** Takes all memory away from Redis servers, which evict nothing, and gives it back. */
final class RedisRoom implements ServerStand.Room {

    private final List<RedisServer> servers;

    RedisRoom(List<RedisServer> servers) {
        this.servers = List.copyOf(servers);
    }

    @Override
    public void fill() throws IOException {
        for (RedisServer server : servers) {
            order(server.address(), "CONFIG SET maxmemory-policy noeviction maxmemory 1");
        }
    }

    @Override
    public void free() throws IOException {
        for (RedisServer server : servers) {
            order(server.address(), "CONFIG SET maxmemory 0");
        }
    }

    /** Redis takes a command typed on one line. */
    private static void order(InetSocketAddress server, String command) throws IOException {
        String answer = Dialogue.exchange(server, command + "\r\nQUIT\r\n");
        if (!answer.startsWith("+OK")) {
            throw new IOException(command + ": " + answer);
        }
    }
}
