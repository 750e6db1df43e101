package io.holdfast.zookeeper;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;

/**
 * Remembers which directories exist, probably, and makes those that may not. Thread-safe.
 *
 * <p>Directories are containers: the servers remove one some time after its last child has gone.
 */
final class Directories {

    /** A name used once costs some memory until this many are known; then all are forgotten. */
    private static final int MOST_KNOWN = 10_000;

    private static final byte[] NO_DATA = new byte[0];

    private final Set<String> known = ConcurrentHashMap.newKeySet();

    /** Sends, without waiting, what makes the directory and those above it, unless they are known. */
    List<CompletableFuture<Wire.Created>> make(Session session, String directory) {
        List<CompletableFuture<Wire.Created>> requests = new ArrayList<>();
        for (int slash = directory.indexOf('/', 1); slash > 0; slash = directory.indexOf('/', slash + 1)) {
            makeOne(session, directory.substring(0, slash), requests);
        }
        makeOne(session, directory, requests);
        return requests;
    }

    /** A node could be made in it. */
    void made(String directory) {
        if (known.size() >= MOST_KNOWN) {
            known.clear();
        }
        for (int slash = directory.indexOf('/', 1); slash > 0; slash = directory.indexOf('/', slash + 1)) {
            known.add(directory.substring(0, slash));
        }
        known.add(directory);
    }

    /** It is missing, and so may be those above it. */
    void forget(String directory) {
        known.remove(directory);
        for (int slash = directory.indexOf('/', 1); slash > 0; slash = directory.indexOf('/', slash + 1)) {
            known.remove(directory.substring(0, slash));
        }
    }

    /** If no node could be made because its directory is missing, why that could not be made. */
    KeeperException reason(List<CompletableFuture<Wire.Created>> parents, KeeperException failure) {
        if (failure.code() == Code.NONODE) {
            for (CompletableFuture<Wire.Created> parent : parents) {
                Code code = parent.handle((created, e) -> e == null ? Code.OK : Wire.code(e))
                        .getNow(Code.OK);
                if (code == Code.NOAUTH || code == Code.UNIMPLEMENTED || code == Code.QUOTAEXCEEDED) {
                    return KeeperException.create(code, failure.getPath());
                }
            }
        }
        return failure;
    }

    private void makeOne(Session session, String directory, List<CompletableFuture<Wire.Created>> requests) {
        if (!known.contains(directory)) {
            requests.add(session.create(directory, NO_DATA, CreateMode.CONTAINER));
        }
    }
}
