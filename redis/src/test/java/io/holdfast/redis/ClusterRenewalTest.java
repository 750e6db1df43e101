package io.holdfast.redis;

import static io.holdfast.redis.RedisTest.calls;
import static io.holdfast.redis.RedisTest.keys;
import static io.holdfast.redis.RedisTest.namesOfSlot;
import static io.holdfast.redis.TopologyConformanceTest.clusterUri;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.holdfast.LossReason;
import io.holdfast.redis.TestClient.TestTicket;
import io.holdfast.servers.RedisCluster;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.RedisClient;

@DisplayName("Renewals in a cluster")
class ClusterRenewalTest {

    @Test
    void holdersAreRenewedByOneCommandPerLockAndEachGetsItsOwnAnswer() {
        int slot = keys("lock-0").slot();
        // Served by the same shard.
        int neighbour = slot == 0 ? 1 : slot - 1;
        List<String> here = namesOfSlot(slot, 3);
        List<String> there = namesOfSlot(neighbour, 2);
        try (RedisCluster cluster = RedisCluster.start();
                TestClient client = new TestClient(clusterUri(cluster))) {
            List<TestTicket> grants = new ArrayList<>();
            Stream.of(here.get(0), there.get(0), here.get(1), there.get(1), here.get(2))
                    .forEach(name -> grants.add(client.grant(name)));
            grants.forEach(client::renew);
            client.release(grants.get(2));
            grants.set(2, grants.get(2).repeated());
            try (RedisClient redis = RedisClient.create(
                    "127.0.0.1", cluster.primaryFor(keys("lock-0").lock()).port())) {
                long before = calls(redis, "evalsha");

                client.store.renew(grants.stream().map(TestTicket::ticket).toList(), client.soon());

                assertThat(calls(redis, "evalsha") - before)
                        .isEqualTo(5); // of four that are held, and of one that waits as far as it knows
                assertThat(grants)
                        .extracting(grant -> grant.isLost(LossReason.GONE), grant -> grant.kept.get())
                        .containsExactly(
                                tuple(false, 2), tuple(false, 2), tuple(true, 0), tuple(false, 2), tuple(false, 2));
            }
        }
    }
}
