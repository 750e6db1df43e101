package io.holdfast.bench.compare.arena;

import com.google.protobuf.ByteString;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.holdfast.bench.Contender;
import io.holdfast.etcd.internal.wire.CompactionRequest;
import io.holdfast.etcd.internal.wire.DeleteRangeRequest;
import io.holdfast.etcd.internal.wire.KVGrpc;
import io.holdfast.etcd.internal.wire.PutRequest;
import io.holdfast.etcd.internal.wire.RequestOp;
import io.holdfast.etcd.internal.wire.TxnRequest;
import java.net.URI;
import java.util.Map;

/** One write to take and one to give back, which is all etcd lets anybody do it with. Settings: {@code uri}. Thread-safe. */
public final class EtcdFloor implements Contender {

    private final ManagedChannel channel;

    private EtcdFloor(ManagedChannel channel) {
        this.channel = channel;
    }

    /** Connects. */
    public static final class Factory implements Contender.Factory {

        @Override
        public Contender open(Map<String, String> settings) {
            URI uri = URI.create(settings.get("uri"));
            return new EtcdFloor(ManagedChannelBuilder.forAddress(uri.getHost(), uri.getPort())
                    .usePlaintext()
                    .directExecutor()
                    .build());
        }
    }

    /** Makes the server forget all revisions but the last. */
    static void compact(String host, int port) {
        ManagedChannel channel =
                ManagedChannelBuilder.forAddress(host, port).usePlaintext().build();
        try {
            KVGrpc.KVBlockingStub etcd = KVGrpc.newBlockingStub(channel);
            long revision = etcd.put(PutRequest.newBuilder()
                            .setKey(ByteString.copyFromUtf8("compacted"))
                            .build())
                    .getHeader()
                    .getRevision();
            etcd.compact(CompactionRequest.newBuilder()
                    .setRevision(revision)
                    .setPhysical(true)
                    .build());
        } finally {
            channel.shutdownNow();
        }
    }

    @Override
    public Mutex mutex(String name) {
        KVGrpc.KVBlockingStub etcd = KVGrpc.newBlockingStub(channel);
        PutRequest put =
                PutRequest.newBuilder().setKey(ByteString.copyFromUtf8(name)).build();
        TxnRequest delete = TxnRequest.newBuilder()
                .addSuccess(RequestOp.newBuilder()
                        .setRequestDeleteRange(DeleteRangeRequest.newBuilder().setKey(ByteString.copyFromUtf8(name))))
                .build();
        Held held = () -> etcd.txn(delete);
        return () -> {
            etcd.put(put);
            return held;
        };
    }

    @Override
    public void close() {
        channel.shutdownNow();
    }
}
