package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.holdfast.redis.script.LockKeys;
import io.holdfast.redis.script.Script;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.JedisPubSub;
import redis.clients.jedis.resps.Tuple;

/** The same random history on two locks, one by the scripts as they are, one by the scripts without their usual cases. */
@DisplayName("The usual cases of scripts")
class UsualCasesTest extends RedisTest {

    private static final int STEPS = 1000;
    private static final int OWNERS = 14;

    private static final String LIFE = "604800000";
    private static final List<String> HEARD = List.of("usual:one", "usual:two");
    private static final String UNHEARD = "usual:nobody";
    /** Hours, so that nothing expires on the way, and milliseconds, which are over before the next step. */
    private static final List<String> TTLS = List.of("3600000", "3600000", "14400000", "5");

    private static final Duration LONGER_THAN_MILLISECONDS = Duration.ofMillis(8);
    /** When others than the first few look is spread over that many microseconds, by their numbers. */
    private static final long SPREAD_MICROS = 320_000;

    private final List<String> messages = new CopyOnWriteArrayList<>();

    @BeforeEach
    void listen() {
        JedisPubSub listener = new JedisPubSub() {
            @Override
            public void onMessage(String channel, String message) {
                messages.add(channel + " " + message);
            }
        };
        Thread listening = new Thread(() -> redis.subscribe(listener, HEARD.toArray(String[]::new)));
        listening.setDaemon(true);
        listening.start();
        closing(listener, JedisPubSub::unsubscribe);
        await().until(() -> ((List<?>) command("PUBSUB", "CHANNELS", "usual:*")).size() == HEARD.size());
    }

    @Test
    void areThoseOfALockThatIsTakenAndReleasedRefusedJoinedAndHandedOn() {
        LockKeys keys = keys(name());
        List<String> first = demand("first", "x", TTLS.get(0), HEARD.get(0));
        List<String> second = demand("second", "x", TTLS.get(0), HEARD.get(1));

        assertThat(usually(Script.ENQUEUE, keys, first)).asString().startsWith("held");
        assertThat(usually(Script.ATTEMPT, keys, second)).asString().startsWith("refused");
        assertThat(usually(Script.ENQUEUE, keys, second)).asString().startsWith("waiting");
        assertThat(usually(Script.ATTEMPT, keys, demand("third", "s", TTLS.get(0), HEARD.get(0))))
                .asString()
                .startsWith("refused");
        assertThat(usually(Script.RELEASE, keys, List.of("first", "0", LIFE))).isEqualTo(1L);
        assertThat(holder(keys)).isEqualTo("second");
        List<String> sameClient = demand("third", "x", TTLS.get(0), HEARD.get(1));
        assertThat(usually(Script.ENQUEUE, keys, sameClient)).asString().startsWith("waiting");
        assertThat(usually(Script.RELEASE, keys, List.of("second", "0", LIFE)))
                .isEqualTo(List.of(1L, "third", redis.get(keys.counter())));
        assertThat(holder(keys)).isEqualTo("third");
        assertThat(usually(Script.RELEASE, keys, List.of("third", "0", LIFE))).isEqualTo(1L);
        assertThat(usually(Script.ATTEMPT, keys, first)).asString().startsWith("held");
    }

    /** By a script that ends with its usual cases. */
    private static Object usually(Script script, LockKeys keys, List<String> arguments) {
        String whole = whole(script);
        String usual = whole.substring(0, whole.indexOf(resource("lock.lua")));
        return redis.eval(usual + "return 'not usual'", keys.all(), arguments);
    }

    private static List<String> demand(String owner, String mode, String ttl, String channel) {
        return List.of(mode.equals("p") ? owner + "/1/3" : owner, mode, ttl, channel, "here", LIFE);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void doWhatTheRestOfTheScriptWouldDo(long seed) {
        Random random = new Random(seed);
        LockKeys whole = keys(name());
        LockKeys plain = keys(name());
        List<String> history = new ArrayList<>();
        int queued = 0;
        int handedOn = 0;
        long apart = 0;
        for (int i = 0; i < STEPS; i++) {
            Step step = Step.random(random, holder(whole));
            history.add(step.toString());
            List<String> before = queue(whole);
            Map<String, Long> tokens = tokens(whole);
            long minted = counter(whole);

            long started = System.nanoTime();
            Object byWhole = reply(whole(step.script), whole, step);
            Object byPlain = reply(withoutUsualCases(step.script), plain, step);

            apart = Math.max(apart, System.nanoTime() - started);
            if (step.arguments.contains("5")) {
                long since = System.nanoTime();
                await().until(() -> System.nanoTime() - since > LONGER_THAN_MILLISECONDS.toNanos());
            }
            String story = "seed " + seed + ": " + String.join("\n", history);
            if (step.script != Script.WITHDRAW) { // which also counts tickets that have lapsed
                assertThat(kind(byWhole)).as(story).isEqualTo(kind(byPlain));
                assertThat(looksInMicros(byWhole))
                        .as(story)
                        .isCloseTo(looksInMicros(byPlain), within(50_000 + SPREAD_MICROS + apart / 1000));
            }
            assertThat(state(whole)).as(story).isEqualTo(state(plain));
            assertThat(tokens(whole))
                    .as(story)
                    .allSatisfy((owner, token) -> assertThat(token)
                            .satisfiesAnyOf(
                                    same -> assertThat(same).isEqualTo(tokens.get(owner)),
                                    fresh -> assertThat(fresh)
                                            .isGreaterThan(minted)
                                            .isLessThanOrEqualTo(counter(whole))));
            if (queue(whole).size() > before.size()) {
                queued++;
            } else if (step.script == Script.RELEASE && queue(whole).size() < before.size()) {
                handedOn++;
            }
        }
        assertThat(queued).as("tickets queued").isGreaterThan(STEPS / 10);
        assertThat(handedOn).as("locks handed on").isGreaterThan(STEPS / 20);
        assertThat(said(whole)).isNotEmpty().isEqualTo(said(plain));
    }

    private static Object reply(String text, LockKeys keys, Step step) {
        Object reply = redis.eval(text, keys.all(), step.arguments);
        return step.script == Script.HEARTBEAT ? ((List<?>) reply).get(0) : reply;
    }

    private record Step(Script script, List<String> arguments) {

        /** Mostly what clients do: queue, and release what they hold. */
        static Step random(Random random, String holder) {
            int number = random.nextInt(OWNERS);
            // Of some owners it is always permits that they want: their names say so.
            String owner = "owner-" + number + (number % 5 == 0 ? "/1/3" : "");
            int dice = random.nextInt(20);
            if (dice < 11) {
                boolean exclusive = random.nextInt(4) > 0;
                String mode = owner.endsWith("/1/3") ? "p" : exclusive ? "x" : "s";
                String channel = random.nextInt(8) == 0 ? UNHEARD : HEARD.get(random.nextInt(HEARD.size()));
                String ttl = TTLS.get(random.nextInt(TTLS.size()));
                Script script = dice < 9 ? Script.ENQUEUE : Script.ATTEMPT;
                return new Step(script, List.of(owner, mode, ttl, channel, "here", LIFE));
            }
            if (dice == 19 && random.nextInt(10) == 0) {
                return new Step(
                        Script.RAISE, List.of(String.valueOf(System.currentTimeMillis() * 1000 + 60_000_000), LIFE));
            }
            if (dice == 18) {
                String channel = HEARD.get(random.nextInt(HEARD.size()));
                return new Step(Script.HEARTBEAT, List.of(channel, "1", owner, TTLS.get(0), LIFE));
            }
            if (dice < 18) {
                String linger = random.nextInt(10) == 0 ? "5" : "0";
                return new Step(Script.RELEASE, List.of(random.nextInt(8) == 0 ? owner : holder, linger, LIFE));
            }
            return new Step(Script.WITHDRAW, List.of(owner, LIFE));
        }
    }

    private static String holder(LockKeys keys) {
        return holders(keys).keySet().stream().findFirst().orElse("nobody");
    }

    /** Who holds, with the rest of what is said of it, and when it expires in front. */
    private static Map<String, String> holders(LockKeys keys) {
        Map<String, String> holders = new TreeMap<>();
        if (redis.type(keys.lock()).equals("string")) {
            String[] parts = redis.get(keys.lock()).split(" ", 4);
            long expires = System.currentTimeMillis() * 1000 + redis.pttl(keys.lock()) * 1000;
            holders.put(parts[1], expires + " " + parts[3]);
        } else {
            for (Tuple entry : redis.zrangeWithScores(keys.lock(), 0, -1)) {
                if (entry.getScore() > 1e12) {
                    holders.put(
                            entry.getElement(),
                            (long) entry.getScore() + " " + redis.hget(keys.holders(), entry.getElement()));
                }
            }
        }
        holders.values().removeIf(packed -> halfHoursLeft(packed) == 0);
        return holders;
    }

    /** Without tickets that have lapsed: those go when somebody looks, or with their key. Those moved aside have a minus. */
    private static List<String> queue(LockKeys keys) {
        return redis.zrangeWithScores(keys.queue(), 0, -1).stream()
                .filter(entry -> heartbeat(keys, entry.getElement()) > 0)
                .map(entry -> (entry.getScore() < 0 ? "-" : "") + entry.getElement())
                .toList();
    }

    private static long heartbeat(LockKeys keys, String owner) {
        Double expires = redis.zscore(keys.heartbeats(), owner);
        return expires == null ? 0 : halfHoursLeft(expires.longValue() + " ");
    }

    /** A reply without what depends on the moment. */
    private static String kind(Object reply) {
        if (reply instanceof List<?> let) {
            // Of a release: a number, and owners and tokens of those let in.
            return IntStream.range(0, let.size())
                    .filter(i -> i == 0 || i % 2 == 1)
                    .mapToObj(i -> String.valueOf(let.get(i)))
                    .collect(Collectors.joining(" "));
        }
        return String.valueOf(reply).split(" ")[0];
    }

    private static long looksInMicros(Object reply) {
        String[] parts = String.valueOf(reply).split(" ");
        return parts[0].equals("waiting") ? Long.parseLong(parts[1]) : 0;
    }

    private static long counter(LockKeys keys) {
        String counter = redis.get(keys.counter());
        return counter == null ? 0 : Long.parseLong(counter);
    }

    private static Map<String, Long> tokens(LockKeys keys) {
        Map<String, Long> tokens = new TreeMap<>();
        holders(keys).forEach((owner, packed) -> tokens.put(owner, Long.parseLong(packed.split(" ")[1])));
        return tokens;
    }

    /** Holders and tickets without their moments and tokens. */
    private static String state(LockKeys keys) {
        Map<String, String> holders = holders(keys);
        holders.replaceAll((owner, packed) ->
                halfHoursLeft(packed) + " " + String.join(" ", select(packed.split(" ", 5), 3, 4)));
        Map<String, String> tickets = new TreeMap<>();
        for (String entry : queue(keys)) {
            String owner = entry.replaceFirst("^-", "");
            String packed = redis.hget(keys.tickets(), owner);
            tickets.put(entry, heartbeat(keys, owner) + " " + String.join(" ", select(packed.split(" ", 4), 0, 2, 3)));
        }
        return "held by " + holders + " for " + left(keys.lock()) + ", in the queue " + queue(keys) + " with " + tickets
                + " for " + left(keys.queue()) + " and " + left(keys.tickets()) + " and " + left(keys.heartbeats());
    }

    private static String[] select(String[] parts, int... which) {
        return Arrays.stream(which).mapToObj(i -> parts[i]).toArray(String[]::new);
    }

    /** Of what begins with when it expires. */
    private static long halfHoursLeft(String packed) {
        long expires = Long.parseLong(packed.substring(0, packed.indexOf(' ')));
        return Math.round((expires - System.currentTimeMillis() * 1000) / 1.8e9);
    }

    private static String left(String key) {
        long millis = redis.pttl(key);
        return millis < 1000 ? "a moment" : Math.round(millis / 1.8e6) + " half hours";
    }

    /** What was published about a lock, without tokens and times. */
    private List<String> said(LockKeys keys) {
        redis.publish(HEARD.get(0), "end of " + keys.lock());
        await().until(() -> messages.contains(HEARD.get(0) + " end of " + keys.lock()));
        return messages.stream()
                .filter(message -> message.endsWith(" " + keys.lock()) && !message.contains(" end of "))
                .map(message -> String.join(" ", select(message.split(" "), 0, 1, 2)))
                .toList();
    }

    private static String whole(Script script) {
        return new String(script.text(), StandardCharsets.UTF_8);
    }

    private static String withoutUsualCases(Script script) {
        String own = resource(script.name().toLowerCase(java.util.Locale.ROOT) + ".lua");
        int body = own.indexOf('\n') + 1;
        return own.substring(0, body)
                + String.join(
                        "",
                        Stream.of("clock.lua", "token.lua", "queue.lua", "lock.lua", "request.lua")
                                .map(UsualCasesTest::resource)
                                .toList())
                + own.substring(body);
    }

    private static String resource(String file) {
        try (InputStream in = Script.class.getResourceAsStream(file)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
