package io.holdfast.torture.local;

import io.holdfast.servers.RedisServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;

/** Orders that make Redis servers refuse everything new, and that take it back. */
final class RedisRoom implements ServerStand.Room {

    private final List<RedisServer> servers;
    private final String refuse;
    private final String allow;

    private RedisRoom(List<RedisServer> servers, String refuse, String allow) {
        this.servers = List.copyOf(servers);
        this.refuse = refuse;
        this.allow = allow;
    }

    /** Without memory, on servers that evict nothing. */
    static RedisRoom memory(List<RedisServer> servers) {
        return new RedisRoom(servers, "CONFIG SET maxmemory-policy noeviction maxmemory 1", "CONFIG SET maxmemory 0");
    }

    /** As a replica, as behind an address that a failover has moved too late or to the wrong server; its data stays. */
    static RedisRoom writes(List<RedisServer> servers) {
        return new RedisRoom(servers, "REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE");
    }

    @Override
    public void fill() throws IOException {
        for (RedisServer server : servers) {
            order(server.address(), refuse);
        }
    }

    @Override
    public void free() throws IOException {
        for (RedisServer server : servers) {
            order(server.address(), allow);
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
