package io.holdfast.etcd.session;

import com.google.protobuf.ByteString;
import io.holdfast.etcd.client.EtcdClient;
import io.holdfast.etcd.client.RpcFailure;
import io.holdfast.etcd.internal.wire.KVGrpc;
import io.holdfast.etcd.internal.wire.KeyValue;
import io.holdfast.etcd.internal.wire.LeaseGrantRequest;
import io.holdfast.etcd.internal.wire.LeaseGrantResponse;
import io.holdfast.etcd.internal.wire.LeaseGrpc;
import io.holdfast.etcd.internal.wire.LeaseKeepAliveRequest;
import io.holdfast.etcd.internal.wire.LeaseKeepAliveResponse;
import io.holdfast.etcd.internal.wire.LeaseRevokeRequest;
import io.holdfast.etcd.internal.wire.LeaseRevokeResponse;
import io.holdfast.etcd.internal.wire.LeaseTimeToLiveResponse;
import io.holdfast.etcd.internal.wire.PutRequest;
import io.holdfast.etcd.internal.wire.ResponseHeader;
import io.holdfast.etcd.internal.wire.ResponseOp;
import io.holdfast.etcd.internal.wire.TxnRequest;
import io.holdfast.etcd.layout.Keys;
import io.holdfast.etcd.layout.Txns;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.StoreContext;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/*
 * Gets leases of etcd for sessions, extends them and proves that it did, and gives them back.
 *
 * A keep-alive is answered by whoever believes to lead, out of its memory, without asking the others. A leader that was
 * paused or cut off goes on believing for a while: its answer extends nothing, the lease is running out at the new one. So a
 * keep-alive counts only with a proof: a read sent after its answer came, which etcd answers only after a majority has
 * confirmed the leader, and which shows the same raft term. Then the leader that extended the lease was still the leader
 * afterwards. (The term of a keep-alive's answer is taken before the lease is extended, by the member we talk to; leaders
 * of later terms are fine, and one of an earlier term would make the two terms differ.) If terms differ the leader changed
 * in between: once more.
 *
 * A write on the lease is as good a proof as a read: etcd applies what was sent after the answer only if the leader of that term still has
 * a majority, and only if the lease is there. So whoever is about to write a ticket that nobody will renew extends the lease first, and
 * the answer to the write says whether that counts.
 *
 * The same read tells which of our keys are still there. A lease is gone when its keys are, whatever else is said: etcd before
 * 3.4.38, 3.5.23 and 3.6.5 may extend one that is just being revoked, and "no such lease" is not believed on its own either, since
 * a leader that has just been elected may not have applied the grant of it yet. A key that the login has lost its right to says
 * nothing, and nothing of the others.
 */
public final class EtcdLeases {

    /** What became of the lease. */
    public enum Verdict {
        /** The lease runs anew from the base. */
        EXTENDED,
        /** etcd knows no such lease. */
        NO_LEASE,
        /** Leaders changed: nothing is proven. */
        UNPROVEN
    }

    /**
     * @param verdict of the lease
     * @param baseNanos just before the keep-alive was sent
     * @param found the keys that are there
     * @param refused those that could not be read, and why
     */
    public record Finding(
            Verdict verdict, long baseNanos, Map<ByteString, KeyValue> found, Map<ByteString, RpcFailure> refused) {

        /** @throws RpcFailure if it could not be read */
        public Optional<KeyValue> key(ByteString key) {
            RpcFailure refusal = refused.get(key);
            if (refusal != null) {
                throw refusal;
            }
            return Optional.ofNullable(found.get(key));
        }
    }

    /**
     * A keep-alive that is answered and not proven yet.
     *
     * @param baseNanos just before it was sent
     * @param answer what was said to it
     */
    public record Answered(long baseNanos, LeaseKeepAliveResponse answer) {

        /** @param header of the answer to a request on the same lease that was sent after this was answered */
        public boolean isProvenBy(ResponseHeader header) {
            return answer.getTtl() > 0 && answer.getHeader().getRaftTerm() == header.getRaftTerm();
        }
    }

    private final EtcdClient client;
    private final StoreContext context;
    private final Keys keys;

    EtcdLeases(EtcdClient client, StoreContext context, Keys keys) {
        this.client = client;
        this.context = context;
        this.keys = keys;
    }

    /**
     * A new one, which etcd may give for longer than was asked.
     *
     * @param readable a key the login may read
     */
    Session grant(long seconds, Session.Kind kind, ByteString readable, Deadline deadline) {
        long baseNanos = client.nanoTime();
        LeaseGrantResponse granted = client.call(
                LeaseGrpc.getLeaseGrantMethod(),
                LeaseGrantRequest.newBuilder().setTtl(seconds).build(),
                EtcdClient.Repeat.HARMLESS,
                deadline);
        return new Session(granted.getId(), Duration.ofSeconds(granted.getTtl()), kind, baseNanos, readable);
    }

    /**
     * One of the user's.
     *
     * @param readable a key the login may read
     */
    Session adopt(long lease, ByteString readable, Deadline deadline) {
        LeaseTimeToLiveResponse answer = client.timeToLive(lease, false, deadline);
        Finding finding = extend(lease, List.of(readable), deadline);
        finding.key(readable); // throws if the login has no right to it
        if (answer.getTtl() <= 0 || finding.verdict() != Verdict.EXTENDED) {
            throw RpcFailure.unavailable("the given lease " + Long.toHexString(lease) + " has ended");
        }
        // Enough to tell clients apart, and other clients may be given the same lease.
        String own = context.clientId().substring(0, 12);
        return new Session(
                lease,
                Duration.ofSeconds(answer.getGrantedTtl()),
                Session.Kind.GIVEN,
                finding.baseNanos(),
                readable,
                own + "-",
                writeMarker(lease, own, deadline));
    }

    private Optional<ByteString> writeMarker(long lease, String own, Deadline deadline) {
        ByteString marker = keys.marker(lease, own);
        try {
            client.call(
                    KVGrpc.getPutMethod(),
                    PutRequest.newBuilder().setKey(marker).setLease(lease).build(),
                    EtcdClient.Repeat.HARMLESS,
                    deadline);
            return Optional.of(marker);
        } catch (RpcFailure failure) {
            if (failure.isForbidden()) {
                return Optional.empty();
            }
            throw failure;
        }
    }

    /** @throws RpcFailure if etcd does not answer */
    Answered ask(long lease, Deadline deadline) {
        long baseNanos = client.nanoTime();
        return new Answered(
                baseNanos,
                client.call(
                        LeaseGrpc.getLeaseKeepAliveMethod(),
                        LeaseKeepAliveRequest.newBuilder().setId(lease).build(),
                        EtcdClient.Repeat.HARMLESS,
                        deadline));
    }

    /** @throws RpcFailure if etcd does not answer */
    Finding extend(long lease, Collection<ByteString> keys, Deadline deadline) {
        Finding finding = extendOnce(lease, keys, deadline);
        return finding.verdict() == Verdict.UNPROVEN ? extendOnce(lease, keys, deadline) : finding;
    }

    private Finding extendOnce(long lease, Collection<ByteString> keys, Deadline deadline) {
        Answered kept = ask(lease, deadline);
        Map<ByteString, KeyValue> found = new HashMap<>();
        Map<ByteString, RpcFailure> refused = new HashMap<>();
        Set<Boolean> proofs = new HashSet<>();
        client.txns(
                List.copyOf(new LinkedHashSet<>(keys)),
                EtcdLeases::reads,
                (some, response) -> {
                    proofs.add(kept.isProvenBy(response.getHeader()));
                    for (ResponseOp op : response.getResponsesList()) {
                        op.getResponseRange().getKvsList().forEach(kv -> found.put(kv.getKey(), kv));
                    }
                },
                refused::put,
                deadline);
        Verdict verdict = proofs.equals(Set.of(true)) ? Verdict.EXTENDED : Verdict.UNPROVEN;
        return new Finding(kept.answer().getTtl() <= 0 ? Verdict.NO_LEASE : verdict, kept.baseNanos(), found, refused);
    }

    private static TxnRequest reads(List<ByteString> keys) {
        TxnRequest.Builder reads = TxnRequest.newBuilder();
        keys.forEach(key -> reads.addSuccess(Txns.read(Txns.key(key))));
        return reads.build();
    }

    /** From now on nothing more of this client is written on a lease of the user's. */
    void deleteMarker(ByteString marker, Deadline deadline) {
        client.txn(Txns.ifAll(Txns.delete(marker)), EtcdClient.Repeat.HARMLESS, deadline);
    }

    /** Ends one, and the keys on it. One that is gone already is ended too. */
    void revoke(long lease, Deadline deadline) {
        try {
            client.call(LeaseGrpc.getLeaseRevokeMethod(), revocation(lease), EtcdClient.Repeat.HARMLESS, deadline);
        } catch (RpcFailure failure) {
            if (!failure.isLeaseNotFound()) {
                throw failure;
            }
        }
    }

    /** The same without waiting; if it fails the lease expires. */
    CompletableFuture<LeaseRevokeResponse> revokeAsync(long lease) {
        return client.callAsync(LeaseGrpc.getLeaseRevokeMethod(), revocation(lease));
    }

    private static LeaseRevokeRequest revocation(long lease) {
        return LeaseRevokeRequest.newBuilder().setId(lease).build();
    }
}
