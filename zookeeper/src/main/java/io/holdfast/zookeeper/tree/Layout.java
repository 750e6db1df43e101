package io.holdfast.zookeeper.tree;

import io.holdfast.Demand;

/** With whose locks ours share a queue. All that share a lock must use the same. */
public enum Layout {
    /** Curator's {@code InterProcessMutex} and go-zookeeper's {@code Lock}: all that is queued counts. */
    MUTEX("lock-", "read-lock-"),
    /** Curator's {@code InterProcessReadWriteLock}, which sees only nodes of exactly these two kinds. */
    READ_WRITE("__WRIT__", "__READ__");

    private final String exclusive;
    private final String shared;

    Layout(String exclusive, String shared) {
        this.exclusive = exclusive;
        this.shared = shared;
    }

    String marker(Demand demand) {
        if (demand instanceof Demand.Permits permits) {
            return permits.count() + "of" + permits.total() + "-lock-";
        }
        return demand instanceof Demand.Shared ? shared : exclusive;
    }
}
