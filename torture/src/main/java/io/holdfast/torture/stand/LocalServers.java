package io.holdfast.torture.stand;

import io.holdfast.torture.nemesis.Fault;
import java.nio.file.Path;
import java.util.ServiceLoader;
import java.util.Set;

/**
 * Starts the servers of local stores. The module {@code torture-local} provides it: launchers of servers are not shipped, so
 * only a build from source has one.
 */
public interface LocalServers {

    /**
     * Starts the servers of a store that needs some.
     *
     * @param faults what is going to happen to them
     * @param directory for what the run needs beside them; everybody may read it
     * @throws NotPossibleException if they do not start
     */
    Stand start(LocalStore store, Set<Fault> faults, Path directory);

    /** @throws NotPossibleException if this is not a build from source */
    static LocalServers find() {
        return ServiceLoader.load(LocalServers.class)
                .findFirst()
                .orElseThrow(() -> new NotPossibleException("torture --local needs a source build, because the shipped"
                        + " command cannot start servers; run ./holdfast torture --local in a clone of the repository,"
                        + " or name a store of yours, as in redis://localhost:6379"));
    }
}
