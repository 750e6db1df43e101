package io.holdfast.zookeeper.session;

import io.holdfast.LockException;
import io.holdfast.StoreUnavailableException;
import io.holdfast.UnknownOutcomeException;
import java.util.Locale;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;

/** What ZooKeeper's errors mean to somebody who wanted a lock. */
public final class Failures {

    private Failures() {}

    public static LockException of(String lock, Ensemble ensemble, KeeperException failure) {
        if (Answers.isUnknown(failure.code())) {
            return new UnknownOutcomeException(
                    lock, ensemble.name() + " did not answer (" + text(failure) + ")", failure);
        }
        return refused(lock, ensemble, failure);
    }

    /** For a request that changes nothing, so that it does not matter whether it was applied. */
    public static LockException refused(String lock, Ensemble ensemble, KeeperException failure) {
        return new StoreUnavailableException(lock, what(ensemble, failure), failure);
    }

    /** Of a request that is about no lock in particular and changes nothing. */
    public static StoreUnavailableException ofWholeStore(Ensemble ensemble, KeeperException failure) {
        return StoreUnavailableException.ofWholeStore(what(ensemble, failure), failure);
    }

    private static String what(Ensemble ensemble, KeeperException failure) {
        Code code = failure.code();
        return switch (code) {
            case NOAUTH ->
                ensemble.name() + " denies access to " + failure.getPath()
                        + "; check the credentials in the URI and the node's ACL";
            case AUTHFAILED -> ensemble.name() + " did not accept our credentials";
            case NOTREADONLY -> "the server reached at " + ensemble.name() + " is read-only, it has lost its quorum";
            case NONODE ->
                failure.getPath() + " could not be made at " + ensemble.name()
                        + "; if the client has a chroot, that must exist";
            case NOTEMPTY ->
                "the numbers ZooKeeper gives to tickets in " + failure.getPath() + " are used up; they begin anew once"
                        + " all who are queued there have left";
            case UNIMPLEMENTED -> ensemble.name() + " is too old, containers need ZooKeeper 3.5.3 or later";
            case QUOTAEXCEEDED -> "the quota of " + failure.getPath() + " at " + ensemble.name() + " is used up";
            default -> ensemble.name() + " answered " + text(failure);
        };
    }

    private static String text(KeeperException failure) {
        return failure.code().name().toLowerCase(Locale.ROOT);
    }
}
