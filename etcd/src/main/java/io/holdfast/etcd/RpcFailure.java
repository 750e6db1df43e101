package io.holdfast.etcd;

import io.grpc.Status;
import io.holdfast.LockException;
import io.holdfast.StoreUnavailableException;
import io.holdfast.UnknownOutcomeException;
import java.util.List;

/** A call to etcd that brought no answer, and what may have become of its request. */
final class RpcFailure extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** What became of the request. */
    enum Fate {
        /** It never left, or etcd said that it refused it. */
        NOT_APPLIED,
        /** It left, and nobody knows. */
        UNKNOWN
    }

    /** Answers etcd gives before it looks at a request, or when it has thrown it away whole. */
    private static final List<String> REFUSALS =
            List.of("etcdserver: no leader", "etcdserver: not capable", "etcdserver: user name is empty");

    private final Fate fate;
    private final Status.Code code;
    private final String description;

    private RpcFailure(Fate fate, Status status, String message) {
        super(message, status.getCause());
        this.fate = fate;
        this.code = status.getCode();
        this.description = status.getDescription() == null ? "" : status.getDescription();
    }

    /** The same, known to have another fate because of what was asked. */
    RpcFailure(Fate fate, RpcFailure failure) {
        super(failure.getMessage(), failure);
        this.fate = fate;
        this.code = failure.code;
        this.description = failure.description;
    }

    static RpcFailure of(Status status, boolean sent) {
        return new RpcFailure(fate(status, sent), status, said(status));
    }

    /** A call to that member, of which people want to know more. */
    static RpcFailure of(Status status, boolean sent, String member) {
        return new RpcFailure(fate(status, sent), status, RpcFailureText.of(status, member));
    }

    private static Fate fate(Status status, boolean sent) {
        return sent && !isRefusal(status) ? Fate.UNKNOWN : Fate.NOT_APPLIED;
    }

    private static String said(Status status) {
        return status.getDescription() == null ? status.getCode().toString() : status.getDescription();
    }

    boolean isNotApplied() {
        return fate == Fate.NOT_APPLIED;
    }

    /** The member is gone, cut off from the others, or does not answer: another may do better. */
    boolean isOfMember() {
        return code == Status.Code.UNAVAILABLE || code == Status.Code.DEADLINE_EXCEEDED;
    }

    boolean isTimeout() {
        return code == Status.Code.DEADLINE_EXCEEDED;
    }

    boolean isOutOfSpace() {
        return description.contains("database space exceeded");
    }

    boolean isLeaseNotFound() {
        return code == Status.Code.NOT_FOUND && description.contains("requested lease not found");
    }

    /** The login has lapsed: etcd forgets tokens after some minutes, on restart and when users change. */
    boolean wantsLogin() {
        return code == Status.Code.UNAUTHENTICATED
                || description.contains("invalid auth token")
                || description.contains("revision in header is old")
                || description.contains("user name is empty");
    }

    LockException about(String lockName) {
        return fate == Fate.NOT_APPLIED
                ? new StoreUnavailableException(lockName, advice(), this)
                : new UnknownOutcomeException(lockName, getMessage(), this);
    }

    private String advice() {
        if (isOutOfSpace()) {
            return getMessage() + " (compact and defragment it, then disarm the alarm)";
        }
        return getMessage();
    }

    private static boolean isRefusal(Status status) {
        return switch (status.getCode()) {
            case INVALID_ARGUMENT,
                    NOT_FOUND,
                    PERMISSION_DENIED,
                    UNAUTHENTICATED,
                    FAILED_PRECONDITION,
                    OUT_OF_RANGE,
                    UNIMPLEMENTED -> true;
            // Not "database space exceeded": etcd says that too of the very request that filled it, which it applied.
            case RESOURCE_EXHAUSTED -> text(status).contains("too many requests");
            default -> REFUSALS.stream().anyMatch(text(status)::contains);
        };
    }

    private static String text(Status status) {
        return status.getDescription() == null ? "" : status.getDescription();
    }
}
