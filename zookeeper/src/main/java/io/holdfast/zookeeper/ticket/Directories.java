package io.holdfast.zookeeper.ticket;

import io.holdfast.zookeeper.session.Answers;
import io.holdfast.zookeeper.session.AsyncZooKeeper.Created;
import io.holdfast.zookeeper.session.Session;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.ACL;

/**
 * Remembers which directories exist, probably, and makes those that may not. Thread-safe.
 *
 * <p>Directories are containers: the servers remove one some time after its last child has gone.
 */
final class Directories {

    /** A name used once costs some memory until this many are known; then all are forgotten. */
    private static final int MOST_KNOWN = 10_000;

    private static final byte[] NO_DATA = new byte[0];

    private final List<ACL> acl;
    private final Set<String> known = ConcurrentHashMap.newKeySet();

    Directories(List<ACL> acl) {
        this.acl = acl;
    }

    /** Sends, without waiting, what makes the directory and those above it, unless they are known. */
    List<CompletableFuture<Created>> make(Session session, String directory) {
        if (known.contains(directory)) {
            return List.of();
        }
        return downTo(directory).stream()
                .filter(step -> !known.contains(step))
                .map(step -> session.requests().create(step, NO_DATA, acl, CreateMode.CONTAINER))
                .toList();
    }

    /** A node could be made in it. */
    void remember(String directory) {
        if (known.contains(directory)) {
            return;
        }
        if (known.size() >= MOST_KNOWN) {
            known.clear();
        }
        known.addAll(downTo(directory));
    }

    /** It is missing, and so may be those above it. */
    void forget(String directory) {
        downTo(directory).forEach(known::remove);
    }

    /** If no node could be made because its directory is missing, why that could not be made. */
    static KeeperException reason(List<CompletableFuture<Created>> parents, KeeperException failure) {
        if (failure.code() == Code.NONODE) {
            for (CompletableFuture<Created> parent : parents) {
                Code code = parent.handle((created, e) -> e == null ? Code.OK : Answers.code(e))
                        .getNow(Code.OK);
                if (code == Code.NOAUTH || code == Code.UNIMPLEMENTED || code == Code.QUOTAEXCEEDED) {
                    return KeeperException.create(code, failure.getPath());
                }
            }
        }
        return failure;
    }

    private static List<String> downTo(String directory) {
        List<String> steps = new ArrayList<>();
        for (int slash = directory.indexOf('/', 1); slash > 0; slash = directory.indexOf('/', slash + 1)) {
            steps.add(directory.substring(0, slash));
        }
        steps.add(directory);
        return steps;
    }
}
