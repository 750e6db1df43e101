package io.holdfast.torture.local;

import io.holdfast.servers.RedisServer;
import java.io.IOException;
import java.util.List;

/** Orders that make Redis servers refuse everything new, and that take it back. */
final class RedisOrders implements ServerStand.Trouble {

    private final List<RedisServer> servers;
    private final String refuse;
    private final String allow;

    private RedisOrders(List<RedisServer> servers, String refuse, String allow) {
        this.servers = List.copyOf(servers);
        this.refuse = refuse;
        this.allow = allow;
    }

    /** Without memory, on servers that evict nothing. */
    static RedisOrders memory(List<RedisServer> servers) {
        return new RedisOrders(servers, "CONFIG SET maxmemory-policy noeviction maxmemory 1", "CONFIG SET maxmemory 0");
    }

    /** As a replica, as behind an address that a failover has moved too late or to the wrong server; its data stays. */
    static RedisOrders writes(List<RedisServer> servers) {
        return new RedisOrders(servers, "REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE");
    }

    @Override
    public void begin() throws IOException {
        for (RedisServer server : servers) {
            order(server, refuse);
        }
    }

    @Override
    public void end() throws IOException {
        for (RedisServer server : servers) {
            order(server, allow);
        }
    }

    /** Redis takes a command typed on one line; the answer is as it comes. */
    static String answer(RedisServer server, String command) throws IOException {
        return Dialogue.exchange(server.address(), command + "\r\nQUIT\r\n");
    }

    /** @throws IOException if the answer is not OK */
    static void order(RedisServer server, String command) throws IOException {
        String said = answer(server, command);
        if (!said.startsWith("+OK")) {
            throw new IOException(command + ": " + said);
        }
    }
}
