package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Demand;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import io.holdfast.Renewal;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.proxy.TcpProxy;
import io.holdfast.redis.TestClient.TestTicket;
import io.holdfast.redis.TestClient.Told;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("An administrator's forced release")
class ForcedReleaseTest extends RedisTest {

    private final String name = name();
    private final TestClient admin = client();

    @ParameterizedTest
    @EnumSource(Renewal.class)
    void isToldByAMessageToAHolderThatNeverWaited(Renewal renewal) throws Exception {
        Holdfast client = closing(Holdfast.connect(server.uri()), Holdfast::close);
        Lease lease =
                client.lock(name, LockOptions.defaults().withRenewal(renewal)).acquire();
        CompletableFuture<LossReason> told = new CompletableFuture<>();
        lease.onLost(lost -> told.complete(lost.reason()));

        assertThat(admin.store.forceRelease(name, admin.soon())).isEqualTo(1);

        // Within a second by rights; the next renewal would come after nine, or never.
        assertThat(told.get(7, TimeUnit.SECONDS)).isEqualTo(LossReason.FORCED);
        assertThat(lease.isValid()).isFalse();
    }

    @Test
    void isFoundOutByTheNextRenewalWithTheReasonWhereNoMessageCame() {
        command("ACL", "SETUSER", "unheard", "on", ">secret", "~*", "&*", "+@all", "-subscribe");
        TestClient unheard = client("redis://unheard:secret@127.0.0.1:" + server.port());
        TestTicket one = unheard.grant(unheard.ticket(name, Demand.shared(), TestClient.TTL));
        TestTicket other = unheard.grant(name());

        admin.store.forceRelease(name, admin.soon());
        admin.store.forceRelease(other.ticket().name(), admin.soon());
        unheard.renew(one);
        unheard.renew(other);

        assertThat(one.isLost(LossReason.FORCED)).isTrue();
        assertThat(other.isLost(LossReason.FORCED)).isTrue();
    }

    @Test
    void whoseConnectionBreaksIsNotSentAgainAndSparesTheNextHolder() throws Exception {
        TestClient holder = client();
        TestClient next = client();
        holder.grant(name);
        TestTicket waiting = next.enqueue(name);
        awaitSubscription(next);
        TcpProxy proxy = closing(TcpProxy.to(server.address()), TcpProxy::close);
        TestClient unlucky = client("redis://127.0.0.1:" + proxy.port());
        unlucky.release(unlucky.grant(name()));
        // The view it forces by is answered; the answer to the force itself is lost with its connection.
        CompletableFuture<Integer> forced = CompletableFuture.supplyAsync(() -> {
            proxy.delay(io.holdfast.proxy.Direction.TO_CLIENT, Duration.ofMillis(400));
            return unlucky.store.forceRelease(name, unlucky.soon());
        });
        await().until(waiting::isGranted);
        proxy.resetConnections();
        proxy.heal();

        assertThatThrownBy(() -> forced.get(10, TimeUnit.SECONDS)).hasCauseInstanceOf(UnknownOutcomeException.class);
        assertThat(next.renew(waiting)).isEqualTo(Told.KEPT);
    }

    @Test
    void takesItFromThousandsOfHolders() {
        TestClient readers = client();
        for (int i = 0; i < 1_050; i++) {
            readers.grant(readers.ticket(name, Demand.shared(), TestClient.TTL));
        }

        assertThat(admin.store.view(name, admin.soon()).holders()).hasSize(1_050);
        assertThat(admin.store.forceRelease(name, admin.soon())).isEqualTo(1_050);
        assertThat(admin.store.view(name, admin.soon()).isHeld()).isFalse();
    }
}
