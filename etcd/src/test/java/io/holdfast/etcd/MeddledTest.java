package io.holdfast.etcd;

import io.holdfast.servers.EtcdServer;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

/** A lock of its own for each test, a client whose talk with etcd is meddled with, and another that is left alone. */
abstract class MeddledTest {

    static EtcdServer server;
    static Etcdctl etcdctl;

    final String name = "lock-" + UUID.randomUUID();
    Meddler meddler;
    TestClient client;
    TestClient other;

    @BeforeAll
    static void startServer() {
        server = EtcdServer.start();
        etcdctl = new Etcdctl(server.endpoint());
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @BeforeEach
    void connect() {
        meddler = new Meddler(server.port());
        client = meddler.client();
        other = TestClient.of("etcd://127.0.0.1:" + server.port());
    }

    @AfterEach
    void disconnect() {
        meddler.letGo();
        client.close();
        other.close();
        meddler.close();
    }

    /** The lock's keys. */
    List<String> keys() {
        return etcdctl.keys("holdfast/" + name + "/");
    }
}
