package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Demand;
import io.holdfast.LeaseLostException;
import io.holdfast.LockView;
import io.holdfast.LossReason;
import io.holdfast.StoreUnavailableException;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Grant;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.RenewalAnswer;
import io.holdfast.spi.RenewalRequest;
import io.holdfast.spi.Request;
import io.holdfast.spi.Withdrawal;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.params.SetParams;

@DisplayName("Each script, in every state it can meet")
class ScriptsTest extends RedisTest {

    private static final Duration SHORT = Duration.ofMillis(300);

    private TestClient client;
    private String name;

    @BeforeEach
    void connect() {
        client = client();
        name = name();
    }

    private Request shared() {
        return client.request(name, Demand.shared(), TestClient.TTL);
    }

    private Request permits(int count, int total) {
        return client.request(name, Demand.permits(count, total), TestClient.TTL);
    }

    private Request brief() {
        return client.request(name, Demand.exclusive(), SHORT);
    }

    private Grant pushed(TestClient.Place place) {
        await().until(place.heard()::isGranted);
        return Objects.requireNonNull(place.heard().grant);
    }

    /** Queues and waits until the server can publish to it. */
    private TestClient.Place enqueue(Request request) {
        TestClient.Place place = client.enqueue(request);
        if (place.isQueued()) {
            awaitSubscription(client);
        }
        return place;
    }

    @Nested
    @DisplayName("attempt")
    class Attempt {

        @Test
        void takesAFreeLockAndLeavesItInTheLockKey() {
            Grant grant = client.grant(name);

            assertThat(redis.type(keys(name).lock())).isEqualTo("hash");
            assertThat(redis.pttl(keys(name).lock())).isBetween(20_000L, 30_001L);
            assertThat(redis.get(keys(name).counter())).isEqualTo(String.valueOf(grant.token()));
        }

        @Test
        void isRefusedWhileHeldAndSaysHowLong() {
            client.grant(name);

            Answer answer = client.attempt(name);

            assertThat(answer).isInstanceOf(Answer.Refused.class);
            assertThat(((Answer.Refused) answer).holderTimeLeft().orElseThrow())
                    .isBetween(Duration.ofSeconds(25), TestClient.TTL);
            assertThat(client.store.view(name, client.soon()).waiters()).isEmpty();
        }

        @Test
        void takesOverFromAnExpiredHolderWithALargerToken() {
            Grant old = client.grant(brief());

            await().until(() -> client.attempt(name) instanceof Answer.Granted);

            assertThat(Long.parseLong(redis.get(keys(name).counter()))).isGreaterThan(old.token());
        }

        @Test
        void repeatedByTheSameOwnerAnswersTheSameGrant() {
            Request request = client.request(name);

            assertThat(client.grant(request).token())
                    .isEqualTo(client.grant(request).token());
        }

        @Test
        void neverOvertakesATicketInLine() {
            client.grant(shared());
            TestClient.Place writer = enqueue(client.request(name));

            assertThat(writer.isQueued()).isTrue();
            assertThat(client.store.attempt(shared(), client.soon())).isInstanceOf(Answer.Refused.class);
        }

        @Test
        void sharedHoldersCoexistAndKeepOutExclusiveOnes() {
            Grant first = client.grant(shared());
            Grant second = client.grant(shared());

            assertThat(first.token()).isNotEqualTo(second.token());
            assertThat(client.attempt(name)).isInstanceOf(Answer.Refused.class);
        }

        @Test
        void permitsAddUpToTheSmallestTotal() {
            client.grant(permits(2, 5));

            assertThat(client.store.attempt(permits(2, 3), client.soon())).isInstanceOf(Answer.Refused.class);
            assertThat(client.store.attempt(permits(2, 4), client.soon())).isInstanceOf(Answer.Granted.class);
            assertThat(client.store.attempt(permits(1, 5), client.soon())).isInstanceOf(Answer.Refused.class);
            assertThat(client.store.attempt(shared(), client.soon())).isInstanceOf(Answer.Refused.class);
        }

        @Test
        void aForeignStringOrHashCountsAsHeldAndIsNotTouched() {
            String other = name();
            redis.set(keys(name).lock(), "somebody", SetParams.setParams().px(60_000));
            redis.hset(keys(other).lock(), "uuid:1", "1");

            assertThat(client.attempt(name)).isInstanceOf(Answer.Refused.class);
            assertThat(client.attempt(other)).isInstanceOf(Answer.Refused.class);
            assertThat(redis.get(keys(name).lock())).isEqualTo("somebody");
            assertThat(redis.hgetAll(keys(other).lock())).containsOnlyKeys("uuid:1");
        }
    }

    @Nested
    @DisplayName("enqueue and release")
    class Queueing {

        @Test
        void releasePushesTheLockToTheNextInLine() {
            Grant holder = client.grant(name);
            TestClient.Place first = enqueue(client.request(name));
            TestClient.Place second = enqueue(client.request(name));

            assertThat(client.release(holder)).isEqualTo(ReleaseAnswer.RELEASED);

            Grant grant = pushed(first);
            assertThat(grant.token()).isGreaterThan(holder.token());
            assertThat(second.heard().calls).isZero();
            client.release(grant);
            assertThat(pushed(second).token()).isGreaterThan(grant.token());
        }

        @Test
        void releaseAdmitsTheLeadingRunOfSharedTickets() {
            Grant holder = client.grant(name);
            TestClient.Place one = enqueue(shared());
            TestClient.Place two = enqueue(shared());
            TestClient.Place writer = enqueue(client.request(name));
            TestClient.Place late = enqueue(shared());

            client.release(holder);

            Grant a = pushed(one);
            Grant b = pushed(two);
            assertThat(writer.heard().calls).isZero();
            client.release(a);
            client.release(b);
            client.release(pushed(writer));
            pushed(late);
        }

        @Test
        void releaseAdmitsPermitsWhileTheyFitAndNobodyBehindThem() {
            Grant holder = client.grant(permits(3, 3));
            TestClient.Place two = enqueue(permits(2, 3));
            TestClient.Place alsoTwo = enqueue(permits(2, 3));
            TestClient.Place one = enqueue(permits(1, 3));

            client.release(holder);

            Grant first = pushed(two);
            assertThat(alsoTwo.heard().calls).isZero();
            assertThat(one.heard().calls).isZero();
            client.release(first);
            pushed(alsoTwo);
            pushed(one);
        }

        @Test
        void aStaleReleaseChangesNothing() {
            Grant stale = client.grant(brief());
            await().until(() -> client.store.view(name, client.soon()).holders().isEmpty());
            Grant current = client.grant(name);

            assertThat(client.release(stale)).isEqualTo(ReleaseAnswer.NOT_HELD);
            assertThat(client.renew(current)).isInstanceOf(RenewalAnswer.Extended.class);
        }

        @Test
        void aLingeringLockStaysTakenByNobody() {
            Grant holder = client.grant(name);
            TestClient.Place next = enqueue(client.request(name));

            client.store.release(holder, Duration.ofSeconds(1), client.soon());

            assertThat(client.renew(holder)).isInstanceOf(RenewalAnswer.Gone.class);
            assertThat(client.attempt(name)).isInstanceOf(Answer.Refused.class);
            // The first in line is told, and comes by itself when the time is up.
            pushed(next);
        }

        @Test
        void aLockLingersAlsoIfNobodyWaits() {
            Grant holder = client.grant(name);

            client.store.release(holder, Duration.ofSeconds(10), client.soon());

            assertThat(client.attempt(name)).isInstanceOf(Answer.Refused.class);
        }

        @Test
        void anExpiredHolderIsNoticedByTheFirstInLineByItself() {
            // Long enough to queue behind it, the first time with a subscription.
            client.grant(client.request(name, Demand.exclusive(), Duration.ofMillis(1500)));

            pushed(enqueue(client.request(name)));
        }

        @Test
        void repeatedByTheSameOwnerKeepsItsPlace() {
            Grant holder = client.grant(name);
            Request request = client.request(name);
            enqueue(request);
            enqueue(client.request(name));
            TestClient.Place again = enqueue(request);

            assertThat(client.store.view(name, client.soon()).waiters()).hasSize(2);
            client.release(holder);
            pushed(again);
        }

        @Test
        void nothingButTheCounterIsLeftInTheEnd() {
            Grant holder = client.grant(name);
            TestClient.Place next = enqueue(client.request(name));
            client.release(holder);
            client.release(pushed(next));

            assertThat(redis.keys("*" + name + "*")).containsExactly(keys(name).counter());
            assertThat(redis.pttl(keys(name).counter()))
                    .isBetween(1L, Duration.ofDays(8).toMillis());
        }
    }

    @Nested
    @DisplayName("renew")
    class Renewing {

        @Test
        void neverShortens() {
            Grant grant = client.grant(name);

            client.store.renew(List.of(new RenewalRequest(grant, Duration.ofSeconds(1))), client.soon());

            assertThat(redis.pttl(keys(name).lock())).isGreaterThan(20_000);
        }

        @Test
        void neverRevivesEvenIfNobodyTookIt() {
            Grant grant = client.grant(brief());
            await().until(() -> !redis.exists(keys(name).lock()));

            assertThat(client.renew(grant)).isInstanceOf(RenewalAnswer.Gone.class);
            assertThat(redis.exists(keys(name).lock())).isFalse();
        }

        @Test
        void keepsATicketBeyondItsFirstTtl() {
            Grant holder = client.grant(name);
            TestClient.Place place = enqueue(client.request(name, Demand.exclusive(), Duration.ofSeconds(2)));
            long until = System.nanoTime() + Duration.ofSeconds(3).toNanos();

            await().until(() -> {
                assertThat(client.renew(place.ticket())).isInstanceOf(RenewalAnswer.Extended.class);
                return System.nanoTime() - until > 0;
            });

            client.release(holder);
            pushed(place);
        }

        @Test
        void aTicketWithoutHeartbeatLapses() {
            client.grant(name);
            TestClient.Place place = enqueue(brief());
            await().until(() -> client.store.view(name, client.soon()).waiters().isEmpty());

            assertThat(client.renew(place.ticket())).isInstanceOf(RenewalAnswer.Gone.class);
        }

        @Test
        void answersEachOfABatchForItself() {
            String broken = name();
            Grant good = client.grant(name);
            Grant spoiled = client.grant(broken);
            Grant gone = client.grant(name());
            client.release(gone);
            redis.del(keys(broken).lock());
            redis.set(keys(broken).tickets(), "not a hash");

            List<RenewalAnswer> answers = client.store.renew(
                    List.of(
                            new RenewalRequest(good, TestClient.TTL),
                            new RenewalRequest(spoiled, TestClient.TTL),
                            new RenewalRequest(gone, TestClient.TTL)),
                    client.soon());

            assertThat(answers.get(0)).isInstanceOf(RenewalAnswer.Extended.class);
            assertThat(answers.get(1)).isInstanceOf(RenewalAnswer.Unsettled.class);
            assertThat(answers.get(2)).isInstanceOf(RenewalAnswer.Gone.class);
        }
    }

    @Nested
    @DisplayName("withdraw")
    class Withdrawing {

        @Test
        void removesAGrantATicketOrNothing() {
            Request held = client.request(name);
            client.grant(held);
            TestClient.Place waiting = enqueue(client.request(name));

            assertThat(client.withdraw(waiting.request())).isEqualTo(Withdrawal.REMOVED);
            assertThat(client.withdraw(waiting.request())).isEqualTo(Withdrawal.NOT_FOUND);
            assertThat(client.withdraw(held)).isEqualTo(Withdrawal.REMOVED);
            assertThat(client.attempt(name)).isInstanceOf(Answer.Granted.class);
        }

        @Test
        void ofTheTicketOthersWaitedBehindLetsThemIn() {
            client.grant(shared());
            TestClient.Place writer = enqueue(client.request(name));
            TestClient.Place reader = enqueue(shared());

            client.withdraw(writer.request());

            pushed(reader);
            assertThat(writer.heard().calls).isZero();
        }
    }

    @Nested
    @DisplayName("force, downgrade, raise, prune")
    class Others {

        @Test
        void forceTakesItFromAllHoldersTellsThemAndLetsTheNextIn() {
            Grant one = client.grant(shared());
            Grant two = client.grant(shared());
            TestClient.Place next = enqueue(client.request(name));

            assertThat(client.store.forceRelease(name, client.soon())).isEqualTo(2);

            assertThat(pushed(next).token()).isGreaterThan(Math.max(one.token(), two.token()));
            await().untilAsserted(() -> assertThat(client.losses)
                    .containsEntry(one.request().owner(), LossReason.FORCED)
                    .containsEntry(two.request().owner(), LossReason.FORCED));
        }

        @Test
        void forceLeavesAFreeLockAlone() {
            assertThat(client.store.forceRelease(name, client.soon())).isZero();
            assertThat(redis.exists(keys(name).counter())).isFalse();
        }

        @Test
        void forceTakesItFromAForeignHolderAndLetsTheNextIn() {
            redis.set(keys(name).lock(), "somebody");
            TestClient.Place next = enqueue(client.request(name));

            assertThat(client.store.forceRelease(name, client.soon())).isEqualTo(1);

            assertThat(pushed(next).token()).isPositive();
            client.release(pushed(next));
            assertThat(redis.exists(keys(name).lock())).isFalse();
        }

        @Test
        void forceTakesItFromAForeignHolderOfAnyType() {
            redis.rpush(keys(name).lock(), "somebody");
            assertThat(client.store.forceRelease(name, client.soon())).isEqualTo(1);
            redis.hset(keys(name).lock(), "another", "library");
            assertThat(client.store.forceRelease(name, client.soon())).isEqualTo(1);

            assertThat(client.store.view(name, client.soon()).isHeld()).isFalse();
            assertThat(client.grant(name).token()).isGreaterThan(0);
        }

        @ParameterizedTest
        @ValueSource(strings = {"not a number", "", "nan", "1e300", "-5", "0x10", "99999999999999999999"})
        void aCounterThatIsNoTokenIsNamedAndLeftAsItIs(String value) {
            String counter = keys(name).counter();
            redis.set(counter, value);

            assertThatThrownBy(() -> client.grant(name))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("'" + name + "'")
                    .hasMessageContaining("the key " + counter + " is not a token")
                    .hasMessageContaining("redis-cli DEL")
                    .hasMessageNotContaining("user_script");
            assertThat(redis.get(counter)).isEqualTo(value);
            assertThat(redis.exists(keys(name).lock())).isFalse();
            client.store.prune(Duration.ZERO, client.soon());
            assertThat(redis.get(counter)).isEqualTo(value);
            assertThatThrownBy(() -> client.store.raise(name, 1, client.soon())).hasMessageContaining("is not a token");

            redis.del(counter);

            assertThat(client.grant(name).token()).isGreaterThan(0);
        }

        @Test
        void downgradeKeepsTheTokenAndLetsReadersIn() {
            Grant writer = client.grant(name);
            TestClient.Place reader = enqueue(shared());

            Grant now = client.store.downgrade(writer, client.soon());

            assertThat(now.token()).isEqualTo(writer.token());
            assertThat(now.request().demand()).isEqualTo(Demand.shared());
            pushed(reader);
            client.release(now);
            assertThatThrownBy(() -> client.store.downgrade(now, client.soon())).isInstanceOf(LeaseLostException.class);
        }

        @Test
        void raiseLiftsTheNextTokenAndNeverLowersIt() {
            long ahead = System.currentTimeMillis() * 1000 + Duration.ofHours(1).toNanos() / 1000;

            client.store.raise(name, ahead, client.soon());
            client.store.raise(name, 17, client.soon());

            assertThat(client.grant(name).token()).isEqualTo(ahead + 1);
        }

        @Test
        void pruneRemovesCountersOfLocksThatAreNeitherHeldNorWaitedFor() {
            String held = name();
            client.release(client.grant(name));
            client.grant(held);

            await().untilAsserted(() -> {
                client.store.prune(Duration.ofMillis(1), client.soon());
                assertThat(redis.exists(keys(name).counter())).isFalse();
            });
            assertThat(redis.exists(keys(held).counter())).isTrue();
            assertThat(client.store.prune(Duration.ofDays(1), client.soon())).isZero();
        }
    }

    @Nested
    @DisplayName("view")
    class Viewing {

        @Test
        void showsHoldersAndWaitersInOrder() {
            Grant holder = client.grant(name);
            enqueue(shared());
            enqueue(permits(1, 2));

            LockView view = client.store.view(name, client.soon());

            assertThat(view.holders()).singleElement().satisfies(shown -> {
                assertThat(shown.token()).isEqualTo(holder.token() * 1024);
                assertThat(shown.origin().orElseThrow().pid()).isEqualTo(42);
                assertThat(shown.timeLeft().orElseThrow()).isBetween(Duration.ofSeconds(20), TestClient.TTL);
            });
            assertThat(view.waiters())
                    .extracting(LockView.Waiter::demand)
                    .containsExactly(Demand.shared(), Demand.permits(1, 2));
        }

        @Test
        void showsAForeignHolderWithoutOrigin() {
            redis.set(keys(name).lock(), "somebody", SetParams.setParams().px(60_000));

            assertThat(client.store.view(name, client.soon()).holders())
                    .singleElement()
                    .satisfies(shown -> {
                        assertThat(shown.origin()).isEmpty();
                        assertThat(shown.timeLeft()).isPresent();
                    });
        }

        @Test
        void listsLocksByPrefixWithTheirRealNames() {
            String odd = name + "/{a}*?[x] %41 ü";
            client.grant(odd);
            client.grant(name + "/b");
            client.grant(name());

            assertThat(client.store.views(name + "/", client.soon()))
                    .extracting(LockView::name)
                    .containsExactlyInAnyOrder(odd, name + "/b");
            assertThat(client.store.views(odd, client.soon()))
                    .extracting(LockView::name)
                    .containsExactly(odd);
        }
    }
}
