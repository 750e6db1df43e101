package io.holdfast.tck.promise;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Demand;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockException;
import io.holdfast.LockView;
import io.holdfast.ReleaseResult;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.Withdrawal;
import io.holdfast.tck.Mortal;
import io.holdfast.tck.promise.DirectStore.Claim;
import io.holdfast.tck.promise.DirectStore.Word;
import io.holdfast.tck.tap.StoreTap;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Only the acquisition that got a lease can renew or release it. */
@Tag("core")
@DisplayName("P3 ownership")
public abstract class OwnershipContract extends StoreContract {

    private List<Demand> supportedDemands() {
        return Stream.of(Demand.exclusive(), Demand.shared(), Demand.permits(2, 3))
                .filter(traits()::supports)
                .toList();
    }

    @Test
    void staleHolderCannotReleaseItsSuccessor() {
        for (Succession succession : successions()) {
            ReleaseAnswer answer = answered(() -> succession.stale.release(succession.staleClaim));

            assertThat(answer).as("release of %s", succession).isEqualTo(ReleaseAnswer.NOT_HELD);
            succession.assertSuccessorHolds();
        }
    }

    @Test
    void staleHolderCannotRenewAfterItsSuccessorIsIn() {
        for (Succession succession : successions()) {
            Word word = answered(() -> succession.stale.renew(succession.staleClaim));

            assertThat(word).as("renewal of %s", succession).isEqualTo(Word.GONE);
            succession.assertSuccessorHolds();
        }
    }

    @Test
    void staleRequestCannotBeWithdrawnFromItsSuccessor() {
        for (Succession succession : successions()) {
            Withdrawal answer = answered(() -> succession.stale.withdraw(succession.staleClaim));

            assertThat(answer).as("withdrawal of %s", succession).isEqualTo(Withdrawal.NOT_FOUND);
            succession.assertSuccessorHolds();
        }
    }

    @Test
    void aLeaseThatExpiredReleasesAsAlreadyLostAndLeavesItsSuccessorAlone() throws Exception {
        Mortal mortal = mortal();
        Lease stale = client(mortal).lock(name(), shortLived()).acquire();
        mortal.die();
        try (Lease successor = client().lock(name(), longLived()).acquire()) {
            mortal.revive();

            assertThat(stale.release()).isEqualTo(ReleaseResult.ALREADY_LOST);
            Assertions.assertThatThrownBy(() -> stale.extend(shortTtl())).isInstanceOf(LeaseLostException.class);
            StoreTap.pause(shortTtl());
            assertThat(successor.isValid()).isTrue();
            assertThat(view(name()).holders())
                    .singleElement()
                    .satisfies(holder -> assertThat(holder.token()).hasValue(successor.token()));
        }
    }

    @Test
    void anotherAcquisitionOfTheSameClientIsNotTheOwner() {
        DirectStore direct = direct();
        for (Demand demand : supportedDemands()) {
            Claim held = direct.grant(name(), demand, longTtl());

            assertThat(direct.withdraw(direct.claim(name(), demand, longTtl()))).isEqualTo(Withdrawal.NOT_FOUND);
            if (!held.hasHandle()) {
                Claim forged = direct.claim(name(), demand, longTtl()).pretendingToHold(held.storeToken());
                assertThat(direct.renew(forged)).isEqualTo(Word.GONE);
                assertThat(direct.release(forged)).isEqualTo(ReleaseAnswer.NOT_HELD);
            }

            assertThat(view(name()).holders()).hasSize(1);
            assertThat(direct.release(held)).isEqualTo(ReleaseAnswer.RELEASED);
        }
    }

    @Test
    void aGrantIsReleasedOnce() {
        DirectStore direct = direct();
        for (Demand demand : supportedDemands()) {
            Claim claim = direct.grant(name(), demand, longTtl());
            Claim unaware = claim.twin();

            assertThat(direct.release(claim)).isEqualTo(ReleaseAnswer.RELEASED);
            assertThat(direct.release(claim)).isEqualTo(ReleaseAnswer.NOT_HELD);
            assertThat(direct.renew(unaware)).as("renewal never revives").isEqualTo(Word.GONE);
            assertThat(view(name())).isEqualTo(LockView.free(name()));
        }
    }

    @Test
    void renewalNeverShortens() {
        DirectStore direct = direct();
        List<Claim> claims = supportedDemands().stream()
                .map(demand -> direct.grant(name(demand.toString()), demand, longTtl()))
                .toList();

        for (Claim claim : claims) {
            assertThat(direct.extend(claim, shortTtl())).isEqualTo(Word.KEPT);
        }
        StoreTap.pause(shortTtl().multipliedBy(3).dividedBy(2));

        for (Claim claim : claims) {
            assertThat(view(claim.name()).holders()).hasSize(1);
            assertThat(direct.release(claim)).isEqualTo(ReleaseAnswer.RELEASED);
        }
    }

    @Test
    void anExtensionLengthensTheLeaseHereAndInTheStore() {
        Holdfast client = client();
        try (Lease lease = client.lock(name(), renewed()).tryAcquire().orElseThrow()) {
            extendBeyondTtl(lease);
            assertThat(lease.remaining()).isGreaterThan(longTtl().dividedBy(2));
            view(name())
                    .holders()
                    .get(0)
                    .timeLeft()
                    .ifPresent(left -> assertThat(left).isGreaterThan(longTtl().dividedBy(2)));
            lease.extend(shortTtl());
            assertThat(lease.remaining())
                    .as("never shortens")
                    .isGreaterThan(longTtl().dividedBy(2));
        }
    }

    /** A holder that died while it held, and the one that holds since, at full length. */
    private record Succession(DirectStore stale, Claim staleClaim, DirectStore next, Claim nextClaim) {

        @Override
        public String toString() {
            return "a stale grant, held by another since: " + staleClaim.demand();
        }

        void assertSuccessorHolds() {
            assertThat(next.view(nextClaim.name()).holders())
                    .singleElement()
                    .satisfies(holder -> assertThat(holder.token()).hasValue(nextClaim.storeToken()));
            assertThat(next.renew(nextClaim)).isEqualTo(Word.KEPT);
            assertThat(next.release(nextClaim)).isEqualTo(ReleaseAnswer.RELEASED);
        }
    }

    /** Per demand, each on a lock of its own, since waiting for all to expire at once takes no longer than for one. */
    private List<Succession> successions() {
        Mortal mortal = mortal();
        StoreTap staleTap = new StoreTap(mortal.store());
        client(staleTap, builder -> builder.closeTimeout(Duration.ofMillis(300)));
        DirectStore stale = new DirectStore(staleTap);
        List<Claim> staleClaims = supportedDemands().stream()
                .map(demand -> stale.grant(name(demand.toString()), demand, shortTtl()))
                .toList();
        mortal.die();
        DirectStore next = direct();
        List<Succession> successions = new ArrayList<>();
        for (Claim staleClaim : staleClaims) {
            awaitFree(staleClaim.name());
            Claim nextClaim = next.grant(staleClaim.name(), staleClaim.demand(), longTtl());
            successions.add(new Succession(stale, staleClaim, next, nextClaim));
        }
        mortal.revive();
        return successions;
    }

    /** A revived client may need a moment to connect again. */
    private <T> T answered(Callable<T> request) {
        return soon().ignoreExceptionsInstanceOf(LockException.class).until(request, answer -> answer != Word.FAILING);
    }
}
