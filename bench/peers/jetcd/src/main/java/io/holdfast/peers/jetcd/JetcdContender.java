package io.holdfast.peers.jetcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.lease.LeaseKeepAliveResponse;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.PutOption;
import io.etcd.jetcd.options.WatchOption;
import io.etcd.jetcd.support.CloseableClient;
import io.etcd.jetcd.watch.WatchEvent;
import io.grpc.stub.StreamObserver;
import io.holdfast.bench.Contender;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/**
 * jetcd. Settings: {@code endpoint}, {@code lock}: service (the server's lock service) or recipe (a key per waiter, a watch on
 * the one ahead, as Go's client does it). Every thread has a lease of its own, since etcd takes a lease for the owner.
 * Thread-safe.
 */
public final class JetcdContender implements Contender {

    private final Client client;
    private final boolean service;

    private JetcdContender(Client client, boolean service) {
        this.client = client;
        this.service = service;
    }

    /** Connects. */
    public static final class Factory implements Contender.Factory {

        @Override
        public Contender open(Map<String, String> settings) {
            return new JetcdContender(
                    Client.builder().endpoints(settings.get("endpoint")).build(),
                    settings.get("lock").equals("service"));
        }
    }

    @Override
    public Mutex mutex(String name) {
        try {
            long lease = client.getLeaseClient().grant(TTL.toSeconds()).get().getID();
            CloseableClient keeper = client.getLeaseClient().keepAlive(lease, new Deaf());
            return service ? new ServiceMutex(bytes(name), lease, keeper) : new RecipeMutex(name, lease, keeper);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        client.close();
    }

    private static ByteSequence bytes(String text) {
        return ByteSequence.from(text, StandardCharsets.UTF_8);
    }

    private void end(long lease, CloseableClient keeper) throws Exception {
        keeper.close();
        client.getLeaseClient().revoke(lease).get();
    }

    private final class ServiceMutex implements Mutex {

        private final ByteSequence name;
        private final long lease;
        private final CloseableClient keeper;

        ServiceMutex(ByteSequence name, long lease, CloseableClient keeper) {
            this.name = name;
            this.lease = lease;
            this.keeper = keeper;
        }

        @Override
        public Held acquire() throws Exception {
            ByteSequence key = client.getLockClient().lock(name, lease).get().getKey();
            return () -> client.getLockClient().unlock(key).get();
        }

        @Override
        public void close() throws Exception {
            end(lease, keeper);
        }
    }

    private final class RecipeMutex implements Mutex {

        private final ByteSequence prefix;
        private final ByteSequence key;
        private final long lease;
        private final CloseableClient keeper;

        RecipeMutex(String name, long lease, CloseableClient keeper) {
            this.prefix = bytes(name + "/");
            this.key = bytes(name + "/" + Long.toHexString(lease));
            this.lease = lease;
            this.keeper = keeper;
        }

        @Override
        public Held acquire() throws Exception {
            PutOption bound = PutOption.builder().withLeaseId(lease).build();
            long revision = client.getKVClient()
                    .put(key, ByteSequence.EMPTY, bound)
                    .get()
                    .getHeader()
                    .getRevision();
            GetOption ahead = GetOption.builder()
                    .isPrefix(true)
                    .withMaxCreateRevision(revision - 1)
                    .withSortField(GetOption.SortTarget.CREATE)
                    .withSortOrder(GetOption.SortOrder.DESCEND)
                    .withLimit(1)
                    .build();
            while (true) {
                GetResponse answer = client.getKVClient().get(prefix, ahead).get();
                if (answer.getKvs().isEmpty()) {
                    return () -> client.getKVClient().delete(key).get();
                }
                awaitDeletion(answer.getKvs().get(0), answer.getHeader().getRevision() + 1);
            }
        }

        private void awaitDeletion(KeyValue predecessor, long fromRevision) throws InterruptedException {
            CountDownLatch deleted = new CountDownLatch(1);
            Watch.Listener listener = Watch.listener(response -> {
                if (response.getEvents().stream()
                        .anyMatch(event -> event.getEventType() == WatchEvent.EventType.DELETE)) {
                    deleted.countDown();
                }
            });
            WatchOption from = WatchOption.builder().withRevision(fromRevision).build();
            try (Watch.Watcher watcher = client.getWatchClient().watch(predecessor.getKey(), from, listener)) {
                deleted.await();
            }
        }

        @Override
        public void close() throws Exception {
            end(lease, keeper);
        }
    }

    private static final class Deaf implements StreamObserver<LeaseKeepAliveResponse> {

        @Override
        public void onNext(LeaseKeepAliveResponse response) {}

        @Override
        public void onError(Throwable failure) {}

        @Override
        public void onCompleted() {}
    }
}
