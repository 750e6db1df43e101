package io.holdfast.zookeeper;

import io.holdfast.servers.ZooKeeperServer;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;

/** Servers with a short tick that allow sessions from half a second to a minute. */
final class TestServers {

    static final Duration TICK = Duration.ofMillis(100);

    static final String[] SESSIONS = {"minSessionTimeout=200", "maxSessionTimeout=60000"};

    private TestServers() {}

    static ZooKeeperServer single() {
        return options(ZooKeeperServer.builder()).start();
    }

    static ZooKeeperServer.Builder options(ZooKeeperServer.Builder builder) {
        return builder.tick(TICK).args(SESSIONS);
    }

    static String uri(String connectString) {
        return "zookeeper://" + connectString + "/locks?tick=100ms";
    }

    static ZooKeeper client(String connectString) throws Exception {
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper client = new ZooKeeper(connectString, 30_000, event -> {
            if (event.getState() == KeeperState.SyncConnected) {
                connected.countDown();
            }
        });
        if (!connected.await(30, TimeUnit.SECONDS)) {
            throw new AssertionError("not connected to " + connectString);
        }
        return client;
    }

    /** Ends a session of somebody else: who connects with its id and password may close it. */
    static void endSession(ZooKeeperServer server, long id) throws Exception {
        byte[] password = new byte[16];
        // How the server makes passwords of ids, with its own constant.
        new Random(id ^ 0xB3415C00L).nextBytes(password);
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper thief = new ZooKeeper(
                server.connectString(),
                30_000,
                event -> {
                    if (event.getState() == KeeperState.SyncConnected) {
                        connected.countDown();
                    }
                },
                id,
                password);
        if (!connected.await(30, TimeUnit.SECONDS)) {
            throw new AssertionError("cannot take over session 0x" + Long.toHexString(id));
        }
        thief.close();
    }

    /** How many watches the server has, of all sessions. */
    static int watches(ZooKeeperServer server) throws IOException {
        try (Socket socket = new Socket("127.0.0.1", server.port())) {
            socket.getOutputStream().write("wchs".getBytes(StandardCharsets.US_ASCII));
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            return Integer.parseInt(answer.substring(answer.indexOf("watches:") + "watches:".length())
                    .trim());
        }
    }
}
