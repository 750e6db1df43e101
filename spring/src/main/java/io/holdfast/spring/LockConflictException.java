package io.holdfast.spring;

import java.util.List;

/** A method did not run, since others held its lock for as long as it would wait. */
public final class LockConflictException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String[] lockNames;

    /** @param waited for how long, as the end of a clause */
    public LockConflictException(List<String> lockNames, String method, String waited) {
        super((lockNames.size() == 1 ? "Lock '" + lockNames.get(0) + "' was" : "Locks " + lockNames + " were")
                + " taken by others" + waited + ", so " + method + " did not run.");
        this.lockNames = lockNames.toArray(String[]::new);
    }

    public List<String> lockNames() {
        return List.of(lockNames);
    }
}
