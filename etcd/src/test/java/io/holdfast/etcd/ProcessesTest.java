package io.holdfast.etcd;

import io.holdfast.servers.EtcdServer;
import io.holdfast.tck.process.KilledProcessesContract;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;

@DisplayName("Processes that contend for a lock in etcd")
class ProcessesTest extends KilledProcessesContract {

    private final EtcdServer server = EtcdServer.start();

    @AfterEach
    void stop() {
        server.close();
    }

    @Override
    protected String uri() {
        return "etcd://127.0.0.1:" + server.port();
    }

    @Override
    protected boolean isClean(String lock) {
        return new Etcdctl(server.endpoint()).keys("holdfast/" + lock + "/").isEmpty();
    }
}
