package io.holdfast.zookeeper;

import io.holdfast.proxy.TcpProxy;
import io.holdfast.servers.ZooKeeperServer;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

/** Tests of one class share a server; each has a way of its own to it, on which requests are counted and can be lost. */
abstract class ProxiedServerTest {

    static ZooKeeperServer server;
    /** Past the proxy. */
    static ZooKeeper admin;

    final CountedRequests counted = new CountedRequests();
    TcpProxy proxy;

    @BeforeAll
    static void startServer() throws Exception {
        server = TestServers.single();
        admin = TestServers.client(server.connectString());
    }

    @AfterAll
    static void stopServer() throws Exception {
        admin.close();
        server.close();
    }

    @BeforeEach
    void openProxy() {
        proxy = TcpProxy.to(server.address(), counted);
    }

    @AfterEach
    void closeProxy() {
        proxy.close();
    }

    /** A store's address by way of the proxy. What is known of a lock, and a view, outlive their use by a tick. */
    String proxied(String tick) {
        return "zookeeper://127.0.0.1:" + proxy.port() + "/locks?tick=" + tick;
    }
}
