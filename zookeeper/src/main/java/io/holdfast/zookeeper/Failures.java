package io.holdfast.zookeeper;

import io.holdfast.LockException;
import io.holdfast.StoreUnavailableException;
import io.holdfast.UnknownOutcomeException;
import java.util.Locale;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;

/** What ZooKeeper's errors mean to somebody who wanted a lock. */
final class Failures {

    private Failures() {}

    static LockException of(String lock, Settings settings, KeeperException failure) {
        if (Wire.isUnknown(failure.code())) {
            return new UnknownOutcomeException(
                    lock, settings.store() + " did not answer (" + text(failure) + ")", failure);
        }
        return refused(lock, settings, failure);
    }

    /** For a request that changes nothing, so that it does not matter whether it was applied. */
    static LockException refused(String lock, Settings settings, KeeperException failure) {
        return new StoreUnavailableException(lock, what(settings, failure), failure);
    }

    private static String what(Settings settings, KeeperException failure) {
        Code code = failure.code();
        return switch (code) {
            case NOAUTH ->
                settings.store() + " denies access to " + failure.getPath()
                        + "; check the credentials in the URI and the node's ACL";
            case AUTHFAILED -> settings.store() + " did not accept our credentials";
            case NOTREADONLY -> "the server reached at " + settings.store() + " is read-only, it has lost its quorum";
            case NONODE ->
                failure.getPath() + " could not be made at " + settings.store()
                        + "; if the client has a chroot, that must exist";
            case UNIMPLEMENTED -> settings.store() + " is too old, containers need ZooKeeper 3.5.3 or later";
            case QUOTAEXCEEDED -> "the quota of " + failure.getPath() + " at " + settings.store() + " is used up";
            default -> settings.store() + " answered " + text(failure);
        };
    }

    private static String text(KeeperException failure) {
        return failure.code().name().toLowerCase(Locale.ROOT);
    }
}
