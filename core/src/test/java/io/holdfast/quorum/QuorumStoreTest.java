package io.holdfast.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.DistributedLock;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.UnsupportedLockException;
import io.holdfast.memory.MemoryStore;
import io.holdfast.spi.AdministeredStore;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.TokenRaisingStore;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class QuorumStoreTest {

    private final String run = UUID.randomUUID().toString();
    private final List<Holdfast> clients = new ArrayList<>();

    @AfterEach
    void close() {
        clients.forEach(Holdfast::close);
    }

    private StoreFactory node(int number) {
        return MemoryStore.named(run + "-" + number);
    }

    private Holdfast client(StoreFactory store) {
        Holdfast client = Holdfast.builder().store(store).connect();
        clients.add(client);
        return client;
    }

    private Holdfast quorum(int... nodes) {
        List<StoreFactory> stores = new ArrayList<>();
        for (int node : nodes) {
            stores.add(node(node));
        }
        return client(QuorumStore.of(stores).withNodeTimeout(Duration.ofSeconds(5)));
    }

    @Test
    void clientsOfTheSameNodesExcludeEachOther() throws Exception {
        DistributedLock lock = quorum(1, 2, 3).lock("job");
        DistributedLock same = quorum(1, 2, 3).lock("job");

        Lease held = lock.acquire();

        assertThat(same.tryAcquire()).isEmpty();
        held.release();
        try (Lease next = same.tryAcquire().orElseThrow()) {
            assertThat(next.token()).isGreaterThan(held.token());
        }
    }

    @Test
    void aMinorityHeldByOthersIsNoObstacleAndAMajorityIs() throws Exception {
        Lease one = client(node(1)).lock("job").acquire();
        quorum(1, 2, 3).lock("job").acquire().close();
        Lease two = client(node(2)).lock("job").acquire();

        assertThat(quorum(1, 2, 3).lock("job").tryAcquire()).isEmpty();
        assertThat(client(node(3)).lock("job").inspect().isHeld())
                .as("a failed try leaves nothing")
                .isFalse();
        one.release();
        two.release();
    }

    @Test
    void tokensGrowWhicheverMajorityGrants() throws Exception {
        // Node 1 is far ahead; its token must survive a majority it is not part of.
        for (int i = 0; i < 50; i++) {
            client(node(1)).lock("other-" + i).acquire().close();
        }
        Lease first = quorum(1, 2, 3).lock("job").acquire();
        first.release();
        Lease blocked = client(node(1)).lock("job").acquire();

        try (Lease second = quorum(1, 2, 3).lock("job").acquire()) {
            assertThat(second.token()).isGreaterThan(first.token());
        }
        blocked.release();
    }

    @Test
    void permitsAreRefusedUpFront() {
        assertThatThrownBy(() -> quorum(1, 2, 3).semaphore("pool", 3)).isInstanceOf(UnsupportedLockException.class);
    }

    @Test
    void readersShareAndKeepAWriterOut() throws Exception {
        Holdfast one = quorum(1, 2, 3);
        Holdfast two = quorum(1, 2, 3);
        Lease reader = one.readWriteLock("doc").readLock().acquire();
        Lease other = two.readWriteLock("doc").readLock().acquire();

        assertThat(two.readWriteLock("doc").writeLock().tryAcquire()).isEmpty();
        assertThat(reader.token()).isNotEqualTo(other.token());
    }

    @Test
    void pruneHasTheTimeOfAWalkAtEveryNode() {
        List<Duration> times = new CopyOnWriteArrayList<>();
        Holdfast quorum = client(
                QuorumStore.of(notingTimeToPrune(1, times), notingTimeToPrune(2, times), notingTimeToPrune(3, times)));

        quorum.administration().prune(Duration.ZERO);

        assertThat(times).hasSize(3).allMatch(time -> time.compareTo(Duration.ofSeconds(30)) > 0);
    }

    private StoreFactory notingTimeToPrune(int number, List<Duration> times) {
        return context -> {
            LockStore inner = node(number).open(context);
            Class<?>[] kinds = {TokenRaisingStore.class, AdministeredStore.class};
            return (LockStore) Proxy.newProxyInstance(
                    getClass().getClassLoader(), kinds, (proxy, method, arguments) -> {
                        if (method.getName().equals("prune")) {
                            times.add(((Deadline) arguments[1]).remaining());
                        }
                        return method.invoke(inner, arguments);
                    });
        };
    }

    @Test
    void fewerThanThreeAreRefused() {
        assertThatThrownBy(() -> QuorumStore.of(node(1), node(2))).isInstanceOf(IllegalArgumentException.class);
    }
}
