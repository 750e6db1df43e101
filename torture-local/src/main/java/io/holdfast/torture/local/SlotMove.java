package io.holdfast.torture.local;

import io.holdfast.servers.RedisCluster;
import io.holdfast.servers.RedisServer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Moves the slots of locks from one server of a Redis Cluster to another, and rests when half of their keys are there. */
final class SlotMove implements ServerStand.Trouble {

    private final RedisCluster cluster;
    private Move move = new Move(List.of(), Set.of());

    private record Move(List<RedisServer> ends, Set<String> slots) {
        RedisServer from() {
            return ends.get(0);
        }

        RedisServer to() {
            return ends.get(1);
        }
    }

    SlotMove(RedisCluster cluster) {
        this.cluster = cluster;
    }

    @Override
    public void begin() throws IOException {
        cluster.awaitWhole();
        RedisServer from = cluster.leaders().get(0);
        List<String> keys = List.of();
        for (RedisServer leader : cluster.leaders()) {
            List<String> found = texts(leader, "KEYS *");
            if (found.size() >= keys.size()) {
                from = leader;
                keys = found;
            }
        }
        RedisServer chosen = from;
        RedisServer to = cluster.leaders().stream()
                .filter(leader -> leader != chosen)
                .findFirst()
                .orElseThrow();
        Set<String> slots = new TreeSet<>();
        for (String key : keys) {
            slots.add(RedisOrders.answer(from, "CLUSTER KEYSLOT " + key)
                    .lines()
                    .findFirst()
                    .orElseThrow()
                    .substring(1));
        }
        move = new Move(List.of(from, to), slots);
        for (String slot : slots) {
            RedisOrders.order(to, "CLUSTER SETSLOT " + slot + " IMPORTING " + id(from));
            RedisOrders.order(from, "CLUSTER SETSLOT " + slot + " MIGRATING " + id(to));
        }
        migrate(keys.subList(0, keys.size() / 2));
    }

    @Override
    public void end() throws IOException {
        String id = id(move.to());
        for (String slot : move.slots()) {
            migrate(texts(move.from(), "CLUSTER GETKEYSINSLOT " + slot + " 1000"));
            RedisOrders.order(move.to(), "CLUSTER SETSLOT " + slot + " NODE " + id);
            RedisOrders.order(move.from(), "CLUSTER SETSLOT " + slot + " NODE " + id);
        }
    }

    private void migrate(List<String> keys) throws IOException {
        for (String key : keys) {
            // That it is gone is an answer, too.
            RedisOrders.answer(move.from(), "MIGRATE 127.0.0.1 " + move.to().port() + " " + key + " 0 5000");
        }
    }

    private static String id(RedisServer server) throws IOException {
        return texts(server, "CLUSTER MYID").get(0);
    }

    /** The texts of an answer, without their lengths, and without that of QUIT. */
    private static List<String> texts(RedisServer server, String command) throws IOException {
        List<String> texts = new ArrayList<>();
        for (String line : RedisOrders.answer(server, command).lines().toList()) {
            if (line.startsWith("-")) {
                throw new IOException(command + ": " + line);
            }
            if (!line.startsWith("*") && !line.startsWith("$") && !line.startsWith("+")) {
                texts.add(line);
            }
        }
        return texts;
    }
}
