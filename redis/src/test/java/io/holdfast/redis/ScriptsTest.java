package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.holdfast.Demand;
import io.holdfast.LockView;
import io.holdfast.LossReason;
import io.holdfast.StoreUnavailableException;
import io.holdfast.redis.TestClient.TestTicket;
import io.holdfast.redis.TestClient.Told;
import io.holdfast.spi.LockStore.Mode;
import io.holdfast.spi.LockStore.Page;
import io.holdfast.spi.Refusal;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.Withdrawal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
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

    private TestTicket shared() {
        return client.ticket(name, Demand.shared(), TestClient.TTL);
    }

    private TestTicket permits(int count, int total) {
        return client.ticket(name, Demand.permits(count, total), TestClient.TTL);
    }

    private TestTicket brief() {
        return client.ticket(name, Demand.exclusive(), SHORT);
    }

    private TestTicket pushed(TestTicket ticket) {
        await().until(ticket::isGranted);
        return ticket;
    }

    /** Queues and waits until the server can publish to it. */
    private TestTicket enqueue(TestTicket request) {
        TestTicket ticket = client.enqueue(request);
        if (ticket.hasQueued()) {
            awaitSubscription(client);
        }
        return ticket;
    }

    @Nested
    @DisplayName("attempt")
    class Attempt {

        @Test
        void takesAFreeLockAndLeavesItInTheLockKey() {
            TestTicket grant = client.grant(name);

            assertThat(redis.get(keys(name).lock()))
                    .startsWith("holdfast " + grant.owner() + " 30000 " + grant.token());
            assertThat(redis.pttl(keys(name).lock())).isBetween(20_000L, 30_001L);
            assertThat(redis.get(keys(name).counter())).isEqualTo(String.valueOf(grant.token()));
        }

        @Test
        void isRefusedWhileHeldAndSaysHowLong() {
            client.grant(name);

            Refusal refusal = client.attempt(name).orElseThrow();

            // The server counts by its wall clock, which may be set back by a little in between.
            assertThat(refusal.holderTimeLeft().orElseThrow())
                    .isBetween(Duration.ofSeconds(25), TestClient.TTL.plusSeconds(1));
            assertThat(client.store.view(name, client.soon()).waiters()).isEmpty();
        }

        @Test
        void takesOverFromAnExpiredHolderWithALargerToken() {
            TestTicket old = client.grant(brief());

            await().until(() -> client.attempt(name).isEmpty());

            assertThat(Long.parseLong(redis.get(keys(name).counter()))).isGreaterThan(old.token());
        }

        @Test
        void repeatedByTheSameOwnerAnswersTheSameGrant() {
            TestTicket request = client.ticket(name);

            assertThat(client.grant(request).token())
                    .isEqualTo(client.grant(request.repeated()).token());
        }

        @Test
        void neverOvertakesATicketInTheQueue() {
            client.grant(shared());
            TestTicket writer = enqueue(client.ticket(name));

            assertThat(writer.hasQueued()).isTrue();
            assertThat(client.attempt(shared())).isPresent();
        }

        @Test
        void sharedHoldersCoexistAndKeepOutExclusiveOnes() {
            TestTicket first = client.grant(shared());
            TestTicket second = client.grant(shared());

            assertThat(first.token()).isNotEqualTo(second.token());
            assertThat(client.attempt(name)).isPresent();
        }

        @Test
        void permitsAddUpToTheSmallestTotal() {
            client.grant(permits(2, 5));

            assertThat(client.attempt(permits(2, 3))).isPresent();
            assertThat(client.attempt(permits(2, 4))).isEmpty();
            assertThat(client.attempt(permits(1, 5))).isPresent();
            assertThat(client.attempt(shared())).isPresent();
        }

        @Test
        void aForeignStringOrHashCountsAsHeldAndIsNotTouched() {
            String other = name();
            redis.set(keys(name).lock(), "somebody", SetParams.setParams().px(60_000));
            redis.hset(keys(other).lock(), "uuid:1", "1");

            assertThat(client.attempt(name)).isPresent();
            assertThat(client.attempt(other)).isPresent();
            assertThat(redis.get(keys(name).lock())).isEqualTo("somebody");
            assertThat(redis.hgetAll(keys(other).lock())).containsOnlyKeys("uuid:1");
        }
    }

    @Nested
    @DisplayName("enqueue and release")
    class Queueing {

        @Test
        void releasePushesTheLockToTheNextInTheQueue() {
            TestTicket holder = client.grant(name);
            TestTicket first = enqueue(client.ticket(name));
            TestTicket second = enqueue(client.ticket(name));

            assertThat(client.release(holder)).isEqualTo(ReleaseAnswer.RELEASED);

            TestTicket grant = pushed(first);
            assertThat(grant.token()).isGreaterThan(holder.token());
            assertThat(second.news()).isZero();
            client.release(grant);
            assertThat(pushed(second).token()).isGreaterThan(grant.token());
        }

        @Test
        void releaseAdmitsTheLeadingRunOfSharedTickets() {
            TestTicket holder = client.grant(name);
            TestTicket one = enqueue(shared());
            TestTicket two = enqueue(shared());
            TestTicket writer = enqueue(client.ticket(name));
            TestTicket late = enqueue(shared());

            client.release(holder);

            TestTicket a = pushed(one);
            TestTicket b = pushed(two);
            assertThat(writer.news()).isZero();
            client.release(a);
            client.release(b);
            client.release(pushed(writer));
            pushed(late);
        }

        @Test
        void releaseAdmitsPermitsWhileTheyFitAndNobodyBehindThem() {
            TestTicket holder = client.grant(permits(3, 3));
            TestTicket two = enqueue(permits(2, 3));
            TestTicket alsoTwo = enqueue(permits(2, 3));
            TestTicket one = enqueue(permits(1, 3));

            client.release(holder);

            TestTicket first = pushed(two);
            assertThat(alsoTwo.news()).isZero();
            assertThat(one.news()).isZero();
            client.release(first);
            pushed(alsoTwo);
            pushed(one);
        }

        @Test
        void aStaleReleaseChangesNothing() {
            TestTicket stale = client.grant(brief());
            await().until(() -> client.store.view(name, client.soon()).holders().isEmpty());
            TestTicket current = client.grant(name);

            assertThat(client.release(stale)).isEqualTo(ReleaseAnswer.NOT_HELD);
            assertThat(client.renew(current)).isEqualTo(Told.KEPT);
        }

        @Test
        void aLingeringLockStaysTakenByNobody() {
            TestTicket holder = client.grant(name);
            TestTicket next = enqueue(client.ticket(name));

            client.release(holder, Duration.ofSeconds(1));

            assertThat(client.renew(holder.repeated())).isEqualTo(Told.GONE);
            assertThat(client.attempt(name)).isPresent();
            // The first in the queue is told, and comes by itself when the time is up.
            pushed(next);
        }

        @Test
        void aLockLingersAlsoIfNobodyWaits() {
            TestTicket holder = client.grant(name);

            client.release(holder, Duration.ofSeconds(10));

            assertThat(client.attempt(name)).isPresent();
        }

        @Test
        void anExpiredHolderIsNoticedByTheFirstInTheQueueByItself() {
            // Long enough to queue behind it, the first time with a subscription.
            client.grant(client.ticket(name, Demand.exclusive(), Duration.ofMillis(1500)));

            pushed(enqueue(client.ticket(name)));
        }

        @Test
        void repeatedByTheSameOwnerKeepsItsPlace() {
            TestTicket holder = client.grant(name);
            TestTicket request = client.ticket(name);
            enqueue(request);
            enqueue(client.ticket(name));
            TestTicket again = enqueue(request.repeated());

            assertThat(client.store.view(name, client.soon()).waiters()).hasSize(2);
            client.release(holder);
            pushed(again);
        }

        @Test
        void nothingButTheCounterIsLeftInTheEnd() {
            TestTicket holder = client.grant(name);
            TestTicket next = enqueue(client.ticket(name));
            client.release(holder);
            client.release(pushed(next));

            assertThat(redis.keys("*" + name + "*")).containsExactly(keys(name).counter());
            assertThat(redis.pttl(keys(name).counter()))
                    .isBetween(1L, Duration.ofDays(8).toMillis());
        }

        @Test
        void theCounterIsLeftForAsLongAsTheAddressSays() {
            TestClient forgetful = client(server.uri() + "?counter-life=2m");
            for (Demand demand : List.of(Demand.exclusive(), Demand.shared())) {
                forgetful.release(forgetful.grant(forgetful.ticket(name, demand, TestClient.TTL)));

                assertThat(redis.pttl(keys(name).counter())).isBetween(60_000L, 121_000L);
                redis.del(keys(name).counter());
            }
        }
    }

    @Nested
    @DisplayName("renew")
    class Renewing {

        @Test
        void neverShortens() {
            TestTicket grant = client.grant(name);

            client.store.extend(grant.ticket(), Duration.ofSeconds(1), client.soon());

            assertThat(redis.pttl(keys(name).lock())).isGreaterThan(20_000);
        }

        @Test
        void neverRevivesEvenIfNobodyTookIt() {
            TestTicket grant = client.grant(brief());
            await().until(() -> !redis.exists(keys(name).lock()));

            assertThat(client.renew(grant)).isEqualTo(Told.GONE);
            assertThat(redis.exists(keys(name).lock())).isFalse();
        }

        @Test
        void keepsATicketBeyondItsFirstTtl() {
            TestTicket holder = client.grant(name);
            TestTicket ticket = enqueue(client.ticket(name, Demand.exclusive(), Duration.ofSeconds(2)));
            long until = System.nanoTime() + Duration.ofSeconds(3).toNanos();

            await().until(() -> {
                assertThat(client.renew(ticket)).isEqualTo(Told.KEPT);
                return System.nanoTime() - until > 0;
            });

            client.release(holder);
            pushed(ticket);
        }

        @Test
        void aTicketWithoutHeartbeatLapses() {
            client.grant(name);
            TestTicket ticket = enqueue(brief());
            await().until(() -> client.store.view(name, client.soon()).waiters().isEmpty());

            assertThat(client.renew(ticket)).isEqualTo(Told.GONE);
        }

        @Test
        void tellsHoldersBeforeThoseThatWait() {
            List<String> told = new CopyOnWriteArrayList<>();
            client.grant(name);
            Ticket waiting = client.ticket(name, telling(told, "waiting"));
            Ticket held = client.ticket(name(), telling(told, "held"));
            client.store.request(waiting, Mode.QUEUE, client.soon());
            client.store.request(held, Mode.TRY, client.soon());
            told.clear();

            client.store.renew(List.of(waiting, held), client.soon());

            assertThat(told).containsExactly("held", "waiting");
        }

        private static Ticket.Listener telling(List<String> told, String what) {
            return new Ticket.Listener() {
                @Override
                public void kept() {
                    told.add(what);
                }
            };
        }

        @Test
        void keepsAPushedLockForAllOfItsTtlIfAnotherProgramTookTheExpiry() {
            TestTicket holder = client.grant(name);
            TestTicket next = enqueue(client.ticket(name));
            // So that nearly nothing of its ticket is left when it becomes the holder.
            redis.zadd(keys(name).heartbeats(), System.currentTimeMillis() * 1000.0 + 10_000_000, next.owner() + "");
            client.release(holder);
            pushed(next);
            redis.persist(keys(name).lock());

            assertThat(client.attempt(name)).isPresent();

            assertThat(redis.pttl(keys(name).lock())).isBetween(20_000L, 30_001L);
        }

        @Test
        void endsALockFromWhichAnotherProgramTookTheExpiry() {
            client.grant(client.ticket(name, Demand.exclusive(), Duration.ofSeconds(2)));
            redis.persist(keys(name).lock());

            assertThat(client.attempt(name)).isPresent();

            await().until(() -> client.attempt(name).isEmpty());
        }

        @Test
        void answersEachOfABatchForItself() {
            String broken = name();
            TestTicket good = client.grant(name);
            TestTicket spoiled = client.grant(broken);
            TestTicket released = client.grant(name());
            client.release(released);
            TestTicket gone = released.repeated();
            TestTicket waiting = enqueue(client.ticket(broken));
            TestTicket waitingToo = enqueue(client.ticket(name));
            redis.del(keys(broken).heartbeats());
            redis.set(keys(broken).heartbeats(), "not a sorted set");

            client.store.renew(
                    Stream.of(waiting, waitingToo, good, spoiled, gone)
                            .map(TestTicket::ticket)
                            .toList(),
                    client.soon());

            assertThat(good.kept).hasValue(1);
            assertThat(spoiled.kept).hasValue(1);
            assertThat(waiting.failures).hasValue(1);
            assertThat(waitingToo.kept).hasValue(2);
            assertThat(gone.isLost(LossReason.GONE)).isTrue();
        }
    }

    @Nested
    @DisplayName("withdraw")
    class Withdrawing {

        @Test
        void removesAGrantATicketOrNothing() {
            TestTicket held = client.ticket(name);
            client.grant(held);
            TestTicket waiting = enqueue(client.ticket(name));

            assertThat(client.withdraw(waiting)).isEqualTo(Withdrawal.REMOVED);
            assertThat(client.withdraw(waiting)).isEqualTo(Withdrawal.NOT_FOUND);
            assertThat(client.withdraw(held)).isEqualTo(Withdrawal.REMOVED);
            assertThat(client.attempt(name)).isEmpty();
        }

        @Test
        @DisplayName("P9 of a crowd that gives up together takes few requests, and spares the others")
        void ofACrowdTakesFewRequests() {
            TestTicket holder = client.grant(name);
            List<TestTicket> crowd = new ArrayList<>();
            for (int i = 0; i < 250; i++) {
                crowd.add(client.enqueue(client.ticket(name)));
            }
            TestTicket patient = crowd.remove(130);
            crowd.forEach(ticket -> ticket.ticket().end());
            long before = calls("evalsha");

            assertThat(crowd).allMatch(ticket -> client.withdraw(ticket) == Withdrawal.REMOVED);

            // Three, and a look after the subscription if that comes late.
            assertThat(calls("evalsha") - before).isLessThan(10);
            assertThat(redis.zcard(keys(name).queue())).isEqualTo(1);
            client.release(holder);
            pushed(patient);
        }

        @Test
        @DisplayName("P9 of a crowd in the queues of many locks takes one go, and spares the others")
        void ofACrowdOfManyLocksTakesOneGo() {
            List<TestTicket> crowd = new ArrayList<>();
            for (int i = 0; i < 60; i++) {
                String other = name();
                client.grant(other);
                crowd.add(enqueue(client.ticket(other)));
            }
            TestTicket patient = crowd.remove(30);
            crowd.forEach(ticket -> ticket.ticket().end());

            assertThat(client.withdraw(crowd.get(0))).isEqualTo(Withdrawal.REMOVED);

            assertThat(crowd)
                    .allMatch(ticket -> redis.zcard(keys(ticket.ticket().name()).queue()) == 0);
            assertThat(redis.zcard(keys(patient.ticket().name()).queue())).isEqualTo(1);
            assertThat(crowd.subList(1, crowd.size()))
                    .allMatch(ticket -> client.withdraw(ticket) == Withdrawal.REMOVED);
        }

        @Test
        void ofTheTicketOthersWaitedBehindLetsThemIn() {
            client.grant(shared());
            TestTicket writer = enqueue(client.ticket(name));
            TestTicket reader = enqueue(shared());

            client.withdraw(writer);

            pushed(reader);
            assertThat(writer.news()).isZero();
        }
    }

    @Nested
    @DisplayName("force, downgrade, raise, prune")
    class Others {

        @Test
        void forceTakesItFromAllHoldersTellsThemAndLetsTheNextIn() {
            TestTicket one = client.grant(shared());
            TestTicket two = client.grant(shared());
            TestTicket next = enqueue(client.ticket(name));

            assertThat(client.store.forceRelease(name, client.soon())).isEqualTo(2);

            assertThat(pushed(next).token()).isGreaterThan(Math.max(one.token(), two.token()));
            await().until(() -> one.isLost(LossReason.FORCED) && two.isLost(LossReason.FORCED));
        }

        @Test
        void forceLeavesAFreeLockAlone() {
            assertThat(client.store.forceRelease(name, client.soon())).isZero();
            assertThat(redis.exists(keys(name).counter())).isFalse();
        }

        @Test
        void forceTakesItFromAForeignHolderAndLetsTheNextIn() {
            redis.set(keys(name).lock(), "somebody");
            TestTicket next = enqueue(client.ticket(name));

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

        @ParameterizedTest
        @ValueSource(strings = {"exclusive", "shared", "permits"})
        @DisplayName("P7 a counter of another type is refused, and nothing is left held")
        void aCounterOfAnotherTypeLeavesNothingHeld(String kind) {
            Demand demand = kind.equals("exclusive")
                    ? Demand.exclusive()
                    : kind.equals("shared") ? Demand.shared() : Demand.permits(1, 2);
            redis.rpush(keys(name).counter(), "of another program");

            assertThatThrownBy(() -> client.grant(client.ticket(name, demand, TestClient.TTL)))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("holds something else");

            assertThat(redis.exists(keys(name).lock())).isFalse();
            assertThat(redis.lrange(keys(name).counter(), 0, -1)).containsExactly("of another program");
        }

        @Test
        @DisplayName("P8 what is said of readers that died goes with their lock, whatever else their client renewed")
        void whatIsSaidOfReadersGoesWithTheirLock() {
            TestTicket brief = client.grant(client.ticket(name, Demand.shared(), Duration.ofSeconds(20)));
            String another = name();
            TestTicket lasting = client.grant(client.ticket(another, Demand.shared(), Duration.ofHours(1)));

            client.store.renew(List.of(lasting.ticket(), brief.ticket()), client.soon());

            assertThat(redis.pttl(keys(name).holders())).isBetween(0L, 20_001L);
            assertThat(redis.pttl(keys(another).holders())).isGreaterThan(3_000_000);
        }

        @Test
        void downgradeKeepsTheTokenAndLetsReadersIn() {
            TestTicket writer = client.grant(name);
            TestTicket reader = enqueue(shared());

            long token = writer.token();

            client.store.downgrade(writer.ticket(), client.soon());

            assertThat(writer.ticket().demand()).isEqualTo(Demand.shared());
            assertThat(client.store.view(name, client.soon()).holders())
                    .extracting(LockView.Holder::demand, LockView.Holder::token)
                    .contains(tuple(Demand.shared(), Optional.of(token)));
            pushed(reader);
            assertThat(client.release(writer)).isEqualTo(ReleaseAnswer.RELEASED);
        }

        @Test
        void downgradeKeepsALockFromWhichAnotherProgramTookTheExpiry() {
            TestTicket writer = client.grant(name);
            redis.persist(keys(name).lock());

            client.store.downgrade(writer.ticket(), client.soon());

            assertThat(client.attempt(name)).isPresent();
            assertThat(client.renew(writer)).isEqualTo(Told.KEPT);
        }

        @Test
        void downgradeOfAGrantTheServerForgotSaysSo() {
            TestTicket writer = client.grant(name);
            redis.del(keys(name).lock());

            client.store.downgrade(writer.ticket(), client.soon());

            assertThat(writer.isLost(LossReason.GONE)).isTrue();
            assertThat(writer.ticket().demand()).isEqualTo(Demand.exclusive());
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
            TestTicket holder = client.grant(name);
            enqueue(shared());
            enqueue(permits(1, 2));

            LockView view = client.store.view(name, client.soon());

            assertThat(view.holders()).singleElement().satisfies(shown -> {
                assertThat(shown.token()).contains(holder.token());
                assertThat(shown.origin().orElseThrow().pid()).isEqualTo(42);
                assertThat(shown.timeLeft().orElseThrow())
                        .isBetween(Duration.ofSeconds(20), TestClient.TTL.plusSeconds(1));
            });
            assertThat(view.waiters())
                    .extracting(LockView.Waiter::demand)
                    .containsExactly(Demand.shared(), Demand.permits(1, 2));
        }

        @Test
        void showsAHolderFromWhichAnotherProgramTookTheExpiry() {
            TestTicket holder = client.grant(name);
            redis.persist(keys(name).lock());

            assertThat(client.store.view(name, client.soon()).holders())
                    .singleElement()
                    .satisfies(shown -> assertThat(shown.token()).contains(holder.token()));
        }

        @Test
        void showsAForeignHolderWithoutOrigin() {
            redis.set(keys(name).lock(), "somebody", SetParams.setParams().px(60_000));

            assertThat(client.store.view(name, client.soon()).holders())
                    .singleElement()
                    .satisfies(shown -> {
                        assertThat(shown.origin()).isEmpty();
                        assertThat(shown.token()).isEmpty();
                        assertThat(shown.timeLeft()).isPresent();
                    });
        }

        @Test
        void listsLocksByPrefixWithTheirRealNames() {
            String odd = name + "/{a}*?[x] %41 ü";
            client.grant(odd);
            client.grant(name + "/b");
            client.grant(name());

            assertThat(listed(name + "/", 100)).containsExactlyInAnyOrder(odd, name + "/b");
            assertThat(listed(odd, 100)).containsExactly(odd);
        }

        @ParameterizedTest
        @ValueSource(ints = {1, 3, 7, 1000})
        void listsEveryLockOnceInPagesOfAnySize(int limit) {
            Set<String> names = new TreeSet<>();
            for (int i = 0; i < 25; i++) {
                names.add(name + "/held-" + i);
            }
            names.forEach(client::grant);
            enqueue(client.ticket(name + "/held-3"));
            String waitedFor = name + "/waited-for";
            client.grant(waitedFor);
            enqueue(client.ticket(waitedFor));
            // The lock is free as long as nobody looks: its holder's key is gone.
            redis.del(keys(waitedFor).lock());
            names.add(waitedFor);
            client.release(client.grant(name + "/free"));

            assertThat(listed(name + "/", limit)).containsExactlyInAnyOrderElementsOf(names);
        }

        @Test
        void aPageCostsNoMoreThanItShows() {
            for (int i = 0; i < 300; i++) {
                client.grant(name + "/" + i);
            }
            client.store.views(name + "/", Optional.empty(), 10, client.soon());
            long before = calls("evalsha");

            assertThat(client.store
                            .views(name + "/", Optional.empty(), 10, client.soon())
                            .locks())
                    .hasSize(10);

            assertThat(calls("evalsha") - before).isEqualTo(10);
        }

        private List<String> listed(String prefix, int limit) {
            List<String> names = new ArrayList<>();
            Optional<String> after = Optional.empty();
            do {
                Page page = client.store.views(prefix, after, limit, client.soon());
                assertThat(page.locks()).hasSizeLessThanOrEqualTo(limit);
                page.locks().forEach(view -> names.add(view.name()));
                after = page.next();
            } while (after.isPresent());
            return names;
        }
    }
}
