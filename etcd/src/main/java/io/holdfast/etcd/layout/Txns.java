package io.holdfast.etcd.layout;

import com.google.protobuf.ByteString;
import io.holdfast.etcd.internal.wire.Compare;
import io.holdfast.etcd.internal.wire.DeleteRangeRequest;
import io.holdfast.etcd.internal.wire.PutRequest;
import io.holdfast.etcd.internal.wire.RangeRequest;
import io.holdfast.etcd.internal.wire.RequestOp;
import io.holdfast.etcd.internal.wire.TxnRequest;
import io.holdfast.etcd.internal.wire.TxnResponse;
import java.util.List;

/** The words transactions are made of. */
public final class Txns {

    private Txns() {}

    private static Compare.Builder equal(ByteString key, Compare.CompareTarget what) {
        return Compare.newBuilder().setKey(key).setTarget(what).setResult(Compare.CompareResult.EQUAL);
    }

    public static Compare createdAt(ByteString key, long revision) {
        return equal(key, Compare.CompareTarget.CREATE)
                .setCreateRevision(revision)
                .build();
    }

    public static Compare absent(ByteString key) {
        return createdAt(key, 0);
    }

    public static Compare present(ByteString key) {
        return absent(key).toBuilder().setResult(Compare.CompareResult.GREATER).build();
    }

    public static Compare createdNoLaterThan(ByteString key, long revision) {
        return createdAt(key, revision + 1).toBuilder()
                .setResult(Compare.CompareResult.LESS)
                .build();
    }

    /** False for a key that is not there. */
    public static Compare says(ByteString key, ByteString value) {
        return equal(key, Compare.CompareTarget.VALUE).setValue(value).build();
    }

    /** A key that is not there is bound to none. */
    public static Compare boundTo(ByteString key, long lease) {
        return equal(key, Compare.CompareTarget.LEASE).setLease(lease).build();
    }

    public static Compare changedAt(ByteString key, long revision) {
        return equal(key, Compare.CompareTarget.MOD).setModRevision(revision).build();
    }

    /** An empty range compares as one key that was never created. etcd reads all values there to find out. */
    public static Compare nothingBelow(ByteString start) {
        return absent(start).toBuilder().setRangeEnd(Keys.endOf(start)).build();
    }

    /** Does something if all of that is true. */
    public static TxnRequest ifAll(RequestOp then, Compare... conditions) {
        return TxnRequest.newBuilder()
                .addAllCompare(List.of(conditions))
                .addSuccess(then)
                .build();
    }

    /** All of these in one. */
    public static TxnRequest each(List<TxnRequest> those) {
        if (those.size() == 1) {
            return those.get(0);
        }
        TxnRequest.Builder all = TxnRequest.newBuilder();
        those.forEach(one -> all.addSuccess(nested(one.toBuilder())));
        return all.build();
    }

    /** Which of so many in one were made, in order. */
    public static List<Boolean> made(int count, TxnResponse response) {
        return count == 1
                ? List.of(response.getSucceeded())
                : response.getResponsesList().stream()
                        .map(one -> one.getResponseTxn().getSucceeded())
                        .toList();
    }

    public static RequestOp put(ByteString key, ByteString value, long lease) {
        return op(PutRequest.newBuilder().setKey(key).setValue(value).setLease(lease));
    }

    /** Changes the value and leaves the key with the lease it has. */
    public static RequestOp rewrite(ByteString key, ByteString value) {
        return op(PutRequest.newBuilder().setKey(key).setValue(value).setIgnoreLease(true));
    }

    /** Changes nothing but the revision of the key's last change. */
    public static RequestOp rewriteAsIs(ByteString key) {
        return op(PutRequest.newBuilder().setKey(key).setIgnoreValue(true).setIgnoreLease(true));
    }

    private static RequestOp op(PutRequest.Builder put) {
        return RequestOp.newBuilder().setRequestPut(put).build();
    }

    public static RequestOp delete(ByteString key) {
        return RequestOp.newBuilder()
                .setRequestDeleteRange(DeleteRangeRequest.newBuilder().setKey(key))
                .build();
    }

    public static RequestOp read(RangeRequest.Builder range) {
        return RequestOp.newBuilder().setRequestRange(range).build();
    }

    public static RequestOp nested(TxnRequest.Builder txn) {
        return RequestOp.newBuilder().setRequestTxn(txn).build();
    }

    public static RangeRequest.Builder one(ByteString key) {
        return RangeRequest.newBuilder().setKey(key);
    }

    /** One key, without its value. */
    public static RangeRequest.Builder key(ByteString key) {
        return one(key).setKeysOnly(true);
    }

    /** How many tickets a lock has. */
    public static RangeRequest.Builder count(ByteString start) {
        return count(start, Keys.endOf(start));
    }

    public static RangeRequest.Builder count(ByteString from, ByteString end) {
        return one(from).setRangeEnd(end).setCountOnly(true);
    }

    /** Any one of a lock's tickets. */
    public static RangeRequest.Builder any(ByteString start) {
        return below(start).setLimit(1);
    }

    /** A ticket and those right ahead of it, last first, without their values. */
    public static RangeRequest.Builder upTo(ByteString start, long created, int count) {
        return below(start)
                .setMaxCreateRevision(created)
                .setSortTarget(RangeRequest.SortTarget.CREATE)
                .setSortOrder(RangeRequest.SortOrder.DESCEND)
                .setLimit(count)
                .setKeysOnly(true);
    }

    private static RangeRequest.Builder below(ByteString start) {
        return RangeRequest.newBuilder().setKey(start).setRangeEnd(Keys.endOf(start));
    }
}
