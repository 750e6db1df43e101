package io.holdfast.bench.compare;

import com.google.protobuf.ByteString;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.holdfast.bench.Contender;
import io.holdfast.etcd.internal.wire.DeleteRangeRequest;
import io.holdfast.etcd.internal.wire.KVGrpc;
import io.holdfast.etcd.internal.wire.PutRequest;
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

    @Override
    public Mutex mutex(String name) {
        KVGrpc.KVBlockingStub etcd = KVGrpc.newBlockingStub(channel);
        PutRequest put =
                PutRequest.newBuilder().setKey(ByteString.copyFromUtf8(name)).build();
        DeleteRangeRequest delete = DeleteRangeRequest.newBuilder()
                .setKey(ByteString.copyFromUtf8(name))
                .build();
        Held held = () -> etcd.deleteRange(delete);
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
