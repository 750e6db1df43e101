package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Demand;
import io.holdfast.DistributedLock;
import io.holdfast.Fairness;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import io.holdfast.redis.TestClient.TestTicket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("P9 crowds")
class CrowdTest extends RedisTest {

    private static final LockOptions TEN_SECONDS = LockOptions.defaults().withTtl(Duration.ofSeconds(10));

    private Holdfast holdfast() {
        return closing(
                Holdfast.builder()
                        .store(server.uri())
                        .closeTimeout(Duration.ofSeconds(5))
                        .connect(),
                Holdfast::close);
    }

    /** Microseconds the server has spent in scripts, and how many there were. */
    private record Scripts(long calls, long micros) {

        static Scripts now() {
            Matcher matcher =
                    Pattern.compile("cmdstat_evalsha:calls=(\\d+),usec=(\\d+)").matcher(redis.info("commandstats"));
            return matcher.find()
                    ? new Scripts(Long.parseLong(matcher.group(1)), Long.parseLong(matcher.group(2)))
                    : new Scripts(0, 0);
        }

        double microsPerCallSince(Scripts before) {
            return (double) (micros - before.micros) / (calls - before.calls);
        }
    }

    @Test
    void ofReadersCostNobodyItsLease() throws Exception {
        readers(600, Duration.ofSeconds(5), Duration.ofSeconds(9));
    }

    @Test
    @Tag("full")
    void ofFiveThousandReadersCostNobodyItsLease() throws Exception {
        readers(5_000, Duration.ofMinutes(1), Duration.ofSeconds(2));
    }

    /** @param innocentTtl of a lock beside it: short where nothing else keeps the machine busy */
    private void readers(int count, Duration time, Duration innocentTtl) throws Exception {
        String name = name();
        AtomicInteger lost = new AtomicInteger();
        List<Holdfast> clients = List.of(holdfast(), holdfast());
        List<Lease> leases = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Lease lease = clients.get(i % 2)
                    .readWriteLock(name, TEN_SECONDS)
                    .readLock()
                    .acquire();
            lease.onLost(why -> lost.incrementAndGet());
            leases.add(lease);
        }
        Lease innocent = holdfast()
                .lock(name(), LockOptions.defaults().withTtl(innocentTtl))
                .acquire();
        innocent.onLost(why -> lost.incrementAndGet());
        long until = System.nanoTime() + time.toNanos();

        await().atMost(time.plusSeconds(20)).until(() -> System.nanoTime() - until > 0);

        assertThat(lost).hasValue(0);
        assertThat(leases).allMatch(Lease::isValid);
        assertThat(innocent.isValid()).isTrue();
    }

    @Test
    @Tag("alone")
    void ofReadersAreRenewedAsFastAsFew() {
        TestClient client = client();
        List<TestTicket> few = readers(client, name(), 10);
        List<TestTicket> many = readers(client, name(), 5_000);
        renew(client, few, 100);
        renew(client, many, 100);

        // The server's time is that of the clock: of many short rounds, in turns, the best was disturbed least.
        double ofFew = Double.MAX_VALUE;
        double ofMany = Double.MAX_VALUE;
        for (int i = 0; i < 20; i++) {
            ofFew = Math.min(ofFew, renew(client, few, 20));
            ofMany = Math.min(ofMany, renew(client, many, 20));
        }

        assertThat(ofMany).isLessThan(2 * ofFew + 5);
    }

    private static List<TestTicket> readers(TestClient client, String name, int count) {
        List<TestTicket> readers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            readers.add(client.grant(client.ticket(name, Demand.shared(), Duration.ofMinutes(5))));
        }
        return readers;
    }

    /** Some of them, one by one, as by as many clients. */
    private static double renew(TestClient client, List<TestTicket> readers, int times) {
        Scripts before = Scripts.now();
        for (int i = 0; i < times; i++) {
            client.renew(readers.get(i % readers.size()));
        }
        return Scripts.now().microsPerCallSince(before);
    }

    @Test
    void ofDeadWaitersInFrontOfLiveOnesAreServedThrough() throws Exception {
        deadAndLive(120, 25, Duration.ofSeconds(9));
    }

    @Test
    @Tag("full")
    void ofAThousandDeadWaitersInFrontOfLiveOnesAreServedThrough() throws Exception {
        deadAndLive(1_000, 250, Duration.ofSeconds(3));
    }

    private void deadAndLive(int dead, int live, Duration innocentTtl) throws Exception {
        String name = name();
        Lease innocent = holdfast()
                .lock(name(), LockOptions.defaults().withTtl(innocentTtl))
                .acquire();
        Lease held = holdfast().lock(name, TEN_SECONDS).acquire();
        TestClient dying = client();
        for (int i = 0; i < dead; i++) {
            dying.enqueue(dying.ticket(name, Demand.exclusive(), Duration.ofSeconds(30)));
        }
        DistributedLock lock = holdfast().lock(name, TEN_SECONDS.withFairness(Fairness.FIFO));
        List<CompletableFuture<Void>> waiting = new ArrayList<>();
        for (int i = 0; i < live; i++) {
            waiting.add(lock.acquireAsync().thenAccept(Lease::release));
        }
        await().until(() -> redis.zcard(keys(name).queue()) == dead + live);
        dying.close();

        held.release();

        CompletableFuture.allOf(waiting.toArray(CompletableFuture[]::new)).get(25, TimeUnit.SECONDS);
        assertThat(innocent.isValid()).isTrue();
    }

    @Test
    void ofWaitersAreServedInOrder() throws Exception {
        waiters(300, Duration.ofSeconds(20));
    }

    @Test
    @Tag("full")
    void ofTenThousandWaitersAreServedInOrder() throws Exception {
        waiters(10_000, Duration.ofMinutes(2));
    }

    private void waiters(int count, Duration patience) throws Exception {
        String name = name();
        Lease held = holdfast().lock(name).acquire();
        DistributedLock lock = holdfast().lock(name, LockOptions.defaults().withFairness(Fairness.FIFO));
        List<Long> tokens = new ArrayList<>();
        List<CompletableFuture<Void>> waiting = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            waiting.add(lock.acquireAsync().thenAccept(lease -> {
                synchronized (tokens) {
                    tokens.add(lease.token());
                }
                lease.release();
            }));
        }
        await().atMost(patience).until(() -> redis.zcard(keys(name).queue()) == count);

        held.release();

        CompletableFuture.allOf(waiting.toArray(CompletableFuture[]::new)).get(patience.toSeconds(), TimeUnit.SECONDS);
        assertThat(tokens).hasSize(count).isSorted();
    }

    @Test
    void ofLocksWhoseHolderDiedAreTakenOverOnFewConnections() throws Exception {
        holderOf(300);
    }

    @Test
    @Tag("full")
    void ofAThousandAndAHalfLocksWhoseHolderDiedAreTakenOverOnFewConnections() throws Exception {
        holderOf(1_500);
    }

    private void holderOf(int locks) throws Exception {
        String name = name();
        TestClient dying = client();
        TestClient heir = client();
        List<TestTicket> waiting = new ArrayList<>();
        for (int i = 0; i < locks; i++) {
            dying.grant(dying.ticket(name + i, Demand.exclusive(), Duration.ofSeconds(5)));
        }
        for (int i = 0; i < locks; i++) {
            waiting.add(heir.enqueue(heir.ticket(name + i, Demand.exclusive(), TestClient.TTL)));
        }
        dying.close();
        AtomicInteger most = new AtomicInteger();

        await().until(() -> {
            most.accumulateAndGet(connections(), Math::max);
            return waiting.stream().allMatch(TestTicket::isGranted);
        });

        assertThat(most.get()).isLessThan(64 + 8 + 10);
    }

    private static int connections() {
        Matcher matcher = Pattern.compile("connected_clients:(\\d+)").matcher(redis.info("clients"));
        return matcher.find() ? Integer.parseInt(matcher.group(1)) : 0;
    }
}
