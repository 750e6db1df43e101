package io.holdfast.etcd.ticket;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("What is remembered of some keys")
class RememberedTest {

    private static final int MOST = 10;

    private final Remembered<Integer, String> remembered = new Remembered<>(MOST);

    private long count(int keys) {
        return IntStream.range(0, keys)
                .filter(key -> remembered.of(key).isPresent())
                .count();
    }

    @Test
    void p9TheNewestIsRememberedHoweverManyCameBefore() {
        for (int key = 0; key < 100; key++) {
            remembered.put(key, "seen");

            assertThat(remembered.of(key)).contains("seen");
        }
    }

    @Test
    void p9NoMoreAreRememberedThanAsMany() {
        IntStream.range(0, 100).forEach(key -> remembered.put(key, "seen"));

        assertThat(count(100)).isEqualTo(MOST);
    }

    @Test
    void whatIsSeenOfAKeyAgainTakesNoOthersPlace() {
        IntStream.range(0, MOST).forEach(key -> remembered.put(key, "seen"));

        remembered.put(3, "seen again");

        assertThat(remembered.of(3)).contains("seen again");
        assertThat(count(MOST)).isEqualTo(MOST);
    }

    @Test
    void aForgottenKeyMakesRoom() {
        IntStream.range(0, MOST).forEach(key -> remembered.put(key, "seen"));

        remembered.forget(3);
        remembered.put(MOST, "seen");

        assertThat(remembered.of(3)).isEmpty();
        assertThat(count(MOST + 1)).isEqualTo(MOST);
    }
}
