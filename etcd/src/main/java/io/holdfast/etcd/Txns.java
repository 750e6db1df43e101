package io.holdfast.etcd;

import com.google.protobuf.ByteString;
import io.holdfast.etcd.internal.wire.Compare;
import io.holdfast.etcd.internal.wire.DeleteRangeRequest;
import io.holdfast.etcd.internal.wire.PutRequest;
import io.holdfast.etcd.internal.wire.RangeRequest;
import io.holdfast.etcd.internal.wire.RequestOp;
import io.holdfast.etcd.internal.wire.TxnRequest;

/** The words transactions are made of. */
final class Txns {

    private Txns() {}

    static Compare createdAt(ByteString key, long revision) {
        return Compare.newBuilder()
                .setKey(key)
                .setTarget(Compare.CompareTarget.CREATE)
                .setResult(Compare.CompareResult.EQUAL)
                .setCreateRevision(revision)
                .build();
    }

    static Compare absent(ByteString key) {
        return createdAt(key, 0);
    }

    static Compare present(ByteString key) {
        return absent(key).toBuilder().setResult(Compare.CompareResult.GREATER).build();
    }

    static Compare createdNoLaterThan(ByteString key, long revision) {
        return createdAt(key, revision + 1).toBuilder()
                .setResult(Compare.CompareResult.LESS)
                .build();
    }

    /** A key that is not there is bound to none. */
    static Compare boundTo(ByteString key, long lease) {
        return Compare.newBuilder()
                .setKey(key)
                .setTarget(Compare.CompareTarget.LEASE)
                .setResult(Compare.CompareResult.EQUAL)
                .setLease(lease)
                .build();
    }

    static Compare changedAt(ByteString key, long revision) {
        return Compare.newBuilder()
                .setKey(key)
                .setTarget(Compare.CompareTarget.MOD)
                .setResult(Compare.CompareResult.EQUAL)
                .setModRevision(revision)
                .build();
    }

    /** An empty range compares as one key that was never created. */
    static Compare nothingBelow(ByteString start) {
        return absent(start).toBuilder().setRangeEnd(Keys.endOf(start)).build();
    }

    /** Keys may have gone since, but none came and none changed. */
    static Compare nothingNewBelow(ByteString start, long sinceRevision) {
        return Compare.newBuilder()
                .setKey(start)
                .setRangeEnd(Keys.endOf(start))
                .setTarget(Compare.CompareTarget.MOD)
                .setResult(Compare.CompareResult.LESS)
                .setModRevision(sinceRevision + 1)
                .build();
    }

    static RequestOp put(ByteString key, ByteString value, long lease) {
        return op(PutRequest.newBuilder().setKey(key).setValue(value).setLease(lease));
    }

    /** Changes the value and leaves the key with the lease it has. */
    static RequestOp rewrite(ByteString key, ByteString value) {
        return op(PutRequest.newBuilder().setKey(key).setValue(value).setIgnoreLease(true));
    }

    /** Changes nothing but the revision of the key's last change. */
    static RequestOp rewriteAsIs(ByteString key) {
        return op(PutRequest.newBuilder().setKey(key).setIgnoreValue(true).setIgnoreLease(true));
    }

    private static RequestOp op(PutRequest.Builder put) {
        return RequestOp.newBuilder().setRequestPut(put).build();
    }

    static RequestOp delete(ByteString key) {
        return RequestOp.newBuilder()
                .setRequestDeleteRange(DeleteRangeRequest.newBuilder().setKey(key))
                .build();
    }

    static RequestOp read(RangeRequest.Builder range) {
        return RequestOp.newBuilder().setRequestRange(range).build();
    }

    static RequestOp nested(TxnRequest.Builder txn) {
        return RequestOp.newBuilder().setRequestTxn(txn).build();
    }

    /** One key, without its value. */
    static RangeRequest.Builder key(ByteString key) {
        return RangeRequest.newBuilder().setKey(key).setKeysOnly(true);
    }

    /** A lock's tickets in order of arrival. */
    static RangeRequest.Builder line(ByteString start) {
        return RangeRequest.newBuilder()
                .setKey(start)
                .setRangeEnd(Keys.endOf(start))
                .setSortTarget(RangeRequest.SortTarget.CREATE)
                .setSortOrder(RangeRequest.SortOrder.ASCEND);
    }

    /** The first in line. */
    static RangeRequest.Builder first(ByteString start) {
        return line(start).setLimit(1);
    }

    /** The last {@code count} in line, last first. */
    static RangeRequest.Builder last(ByteString start, int count) {
        return line(start).setSortOrder(RangeRequest.SortOrder.DESCEND).setLimit(count);
    }
}
