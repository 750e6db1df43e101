package io.holdfast.etcd.client;

import io.grpc.Status;
import io.holdfast.LockException;
import io.holdfast.StoreUnavailableException;
import io.holdfast.UnknownOutcomeException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionException;

/** A call to etcd that brought no answer, and what may have become of its request. */
public final class RpcFailure extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** Answers etcd gives before it looks at a request, or when it has thrown it away whole. */
    private static final List<String> REFUSALS = List.of(
            "etcdserver: no leader",
            "etcdserver: not capable",
            "etcdserver: user name is empty",
            // Said before it proposes a request; 3.4 says it with code UNKNOWN.
            "etcdserver: too many requests");

    private static final String LEASE_NOT_FOUND = "requested lease not found";

    private final boolean notApplied;
    private final Status.Code code;
    private final String description;

    private RpcFailure(boolean notApplied, Status status, String message) {
        super(message, status.getCause());
        this.notApplied = notApplied;
        this.code = status.getCode();
        this.description = text(status);
    }

    private RpcFailure(boolean notApplied, RpcFailure failure) {
        super(failure.getMessage(), failure);
        this.notApplied = notApplied;
        this.code = failure.code;
        this.description = failure.description;
    }

    static RpcFailure of(Status status, boolean sent) {
        String said = text(status);
        return new RpcFailure(
                !sent || isRefusal(status),
                status,
                said.isEmpty() ? status.getCode().toString() : said);
    }

    /**
     * A call to that member, of which people want to know more.
     *
     * @param sent how often the request was sent: a refusal is the word on one of them, and another may have been applied
     */
    static RpcFailure of(Status status, int sent, String member) {
        boolean notApplied = sent == 0 || (sent == 1 && isRefusal(status));
        return new RpcFailure(notApplied, status, RpcFailureText.of(status, sent > 0, member));
    }

    /** What was asked for cannot be done now, and nothing of it was. */
    public static RpcFailure unavailable(String why) {
        return of(Status.UNAVAILABLE.withDescription(why), false);
    }

    /** A session that was counted on has ended: another may do. */
    public static RpcFailure sessionEnded() {
        return of(Status.NOT_FOUND.withDescription(LEASE_NOT_FOUND), false);
    }

    /** Of a call that was not waited for. */
    public static Optional<RpcFailure> causeOf(Throwable failed) {
        Throwable cause =
                failed instanceof CompletionException && failed.getCause() != null ? failed.getCause() : failed;
        return cause instanceof RpcFailure failure ? Optional.of(failure) : Optional.empty();
    }

    /** The request never left, or etcd said that it refused it. Else nobody knows what became of it. */
    public boolean isNotApplied() {
        return notApplied;
    }

    /** The member is gone, cut off from the others, or does not answer: another may do better. */
    boolean isOfMember() {
        return code == Status.Code.UNAVAILABLE || code == Status.Code.DEADLINE_EXCEEDED;
    }

    /** The member answered, so the connection to it works. */
    boolean isSaidByMember() {
        return description.startsWith("etcdserver: ");
    }

    boolean isTimeout() {
        return code == Status.Code.DEADLINE_EXCEEDED;
    }

    public boolean isOutOfSpace() {
        return description.contains("database space exceeded");
    }

    /** The login is good, and has no right to this. */
    public boolean isForbidden() {
        return code == Status.Code.PERMISSION_DENIED && !wantsLogin();
    }

    /** The server takes smaller transactions only. */
    boolean isTooManyOperations() {
        return description.contains("too many operations");
    }

    /** A revision was asked for that is no longer kept. */
    public boolean isCompacted() {
        return code == Status.Code.OUT_OF_RANGE && description.contains("compacted");
    }

    public boolean isLeaseNotFound() {
        return code == Status.Code.NOT_FOUND && description.contains(LEASE_NOT_FOUND);
    }

    /** The login has lapsed: etcd forgets tokens after some minutes, on restart and when users change. */
    boolean wantsLogin() {
        return code == Status.Code.UNAUTHENTICATED
                || description.contains("invalid auth token")
                || description.contains("revision in header is old")
                || description.contains("user name is empty");
    }

    /** The same of a request that is known not to have been applied, or changes nothing. */
    public RpcFailure asNotApplied() {
        return new RpcFailure(true, this);
    }

    /** The same of a request that has left something which was to be undone. */
    public RpcFailure asUnknown() {
        return new RpcFailure(false, this);
    }

    /** What it means to a request that is about no lock in particular, and changes nothing. */
    public StoreUnavailableException ofWholeStore() {
        return StoreUnavailableException.ofWholeStore(advice(), this);
    }

    public LockException about(String lockName) {
        return notApplied
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
            // Not all that is RESOURCE_EXHAUSTED: "database space exceeded" is also said of the very request that
            // filled it,
            // which was applied.
            default -> REFUSALS.stream().anyMatch(text(status)::contains);
        };
    }

    private static String text(Status status) {
        return status.getDescription() == null ? "" : status.getDescription();
    }
}
