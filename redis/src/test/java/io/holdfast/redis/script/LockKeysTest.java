package io.holdfast.redis.script;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.util.JedisClusterCRC16;

class LockKeysTest {

    private static final List<String> NAMES = List.of(
            "Job",
            "job",
            "job ",
            " job",
            "a",
            "a/b",
            "a%2Fb",
            "a%2fb",
            "{a}",
            "x}y",
            "{",
            "}",
            "{}",
            "{}a",
            "%",
            "%%",
            "%7B",
            "..",
            "emoji 🔒",
            "tab\tand\nnewline",
            "a:queue",
            "a}:queue",
            "{holdfast:a}:queue",
            "ü",
            "*",
            "x".repeat(512));

    @Test
    void plainNamesStandForThemselves() {
        assertThat(LockKeys.of("holdfast:", "stock/sku-42").lock()).isEqualTo("holdfast:stock/sku-42");
    }

    @Test
    void differentNamesHaveDifferentKeysAndAreReadBack() {
        Set<String> seen = new HashSet<>();
        for (String name : NAMES) {
            LockKeys keys = LockKeys.of("holdfast:", name);
            assertThat(seen.addAll(keys.all())).isTrue();
            assertThat(LockKeys.ofLockKey("holdfast:", keys.lock())).isEqualTo(keys);
            assertThat(LockKeys.ofQueueKey("holdfast:", keys.queue())).contains(keys);
            assertThat(LockKeys.ofCounterKey("holdfast:", keys.counter())).contains(keys);
        }
        assertThat(seen).hasSize(6 * NAMES.size());
    }

    @Test
    void randomNamesAreReadBack() {
        Random random = new Random(7);
        List<String> alphabet = "ab%{}7BF \u0001\u007fü🔒"
                .codePoints()
                .mapToObj(Character::toString)
                .toList();
        for (int i = 0; i < 10_000; i++) {
            String name = random.ints(1 + random.nextInt(8), 0, alphabet.size())
                    .mapToObj(alphabet::get)
                    .collect(Collectors.joining());
            LockKeys keys = LockKeys.of("holdfast:", name);
            assertThat(LockKeys.ofLockKey("holdfast:", keys.lock())).isEqualTo(keys);
        }
    }

    @Test
    void allKeysOfALockAreInOneSlot() {
        for (String name : NAMES) {
            LockKeys keys = LockKeys.of("holdfast:", name);
            assertThat(keys.all()).allMatch(key -> JedisClusterCRC16.getSlot(key) == keys.slot());
        }
    }
}
