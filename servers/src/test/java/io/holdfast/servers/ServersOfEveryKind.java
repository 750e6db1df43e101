package io.holdfast.servers;

import io.holdfast.servers.process.ProcessTree;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;

/** A program that starts a server of every kind, one of them paused, says which processes that made, and stays or exits. */
final class ServersOfEveryKind {

    private ServersOfEveryKind() {}

    public static void main(String[] arguments) throws InterruptedException {
        PostgresServer postgres = PostgresServer.start();
        List<Server> servers = List.of(
                RedisServer.start(), EtcdServer.start(), ZooKeeperServer.start(), MariaDbServer.start(), postgres);
        List<Long> pids = new ArrayList<>();
        for (Server server : servers) {
            pids.add(server.pid());
            pids.addAll(ProcessTree.descendants(ProcessHandle.of(server.pid()).orElseThrow()));
        }
        postgres.pause();
        System.out.println(pids.stream().map(String::valueOf).collect(Collectors.joining(" ")));
        System.out.println(postgres.directory().getParent());
        if (arguments[0].equals("stay")) {
            new CountDownLatch(1).await();
        }
    }
}
