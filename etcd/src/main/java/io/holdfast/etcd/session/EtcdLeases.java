package io.holdfast.etcd.session;

import com.google.protobuf.ByteString;
import io.holdfast.etcd.client.EtcdClient;
import io.holdfast.etcd.client.RpcFailure;
import io.holdfast.etcd.internal.wire.KVGrpc;
import io.holdfast.etcd.internal.wire.LeaseGrantRequest;
import io.holdfast.etcd.internal.wire.LeaseGrantResponse;
import io.holdfast.etcd.internal.wire.LeaseGrpc;
import io.holdfast.etcd.internal.wire.LeaseRevokeRequest;
import io.holdfast.etcd.internal.wire.LeaseRevokeResponse;
import io.holdfast.etcd.internal.wire.LeaseTimeToLiveResponse;
import io.holdfast.etcd.internal.wire.PutRequest;
import io.holdfast.etcd.layout.Keys;
import io.holdfast.etcd.layout.Txns;
import io.holdfast.spi.Deadline;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Gets leases of etcd for sessions, and gives them back. Thread-safe. */
final class EtcdLeases {

    private final EtcdClient client;
    private final Keys keys;
    private final ProvenKeepAlive keepAlive;

    EtcdLeases(EtcdClient client, Keys keys, ProvenKeepAlive keepAlive) {
        this.client = client;
        this.keys = keys;
        this.keepAlive = keepAlive;
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
        ProvenKeepAlive.Finding finding = keepAlive.send(lease, List.of(readable), deadline);
        finding.key(readable); // throws if the login has no right to it
        if (answer.getTtl() <= 0 || finding.verdict() != ProvenKeepAlive.Verdict.EXTENDED) {
            throw RpcFailure.unavailable("the given lease " + Long.toHexString(lease) + " has ended");
        }
        // Enough to tell clients apart, and other clients may be given the same lease.
        String own = client.context().clientId().substring(0, 12);
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
