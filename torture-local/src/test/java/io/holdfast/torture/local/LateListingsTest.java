package io.holdfast.torture.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import io.holdfast.servers.EtcdServer;
import io.holdfast.torture.stand.Stand;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("late listings of the keys of etcd's leases")
class LateListingsTest {

    private static final Duration TTL = Duration.ofSeconds(3);

    @Test
    void comeLateWhenAskedForAndCostNoLease() throws Exception {
        try (EtcdServer server = EtcdServer.start();
                LateListings listings = LateListings.before(List.of(server.address()));
                Holdfast client = Holdfast.connect("etcd://" + Stand.hosts(listings.addresses()))) {
            var lock = client.lock("orders", LockOptions.defaults().withTtl(TTL));
            try (Lease lease = lock.acquire()) {
                assertThat(lease.isValid()).isTrue();
            }
            assertThat(listings.delayed()).isZero();
            listings.begin();

            try (Lease held = lock.acquire()) {
                await().atMost(Duration.ofSeconds(30)).until(() -> listings.delayed() > 0);
                assertThat(held.isValid()).isTrue();
            }

            listings.end();
            long soFar = listings.delayed();
            assertThat(lock.tryAcquire()).isPresent().hasValueSatisfying(Lease::release);
            assertThat(listings.delayed()).isBetween(soFar, soFar + 1);
        }
    }
}
