package io.holdfast.spi.support;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockView.Origin;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("An origin as one line")
class OriginTextTest {

    @Test
    void isReadableByPeopleAndReadBack() {
        Origin origin = new Origin("shop-3", "web1.example.org", 4711, "http-nio-8080-exec-1");

        String text = OriginText.write(origin);

        assertThat(text).isEqualTo("shop-3 | web1.example.org | 4711 | http-nio-8080-exec-1");
        assertThat(OriginText.read(text)).contains(origin);
    }

    @Test
    void hasFourPartsWhateverIsInThem() {
        Origin awkward = new Origin("a | b", "c|d", -1, "e\nf\tg\u0000");

        String text = OriginText.write(awkward);

        assertThat(text).isEqualTo("a / b | c/d | -1 | e f g ");
        assertThat(OriginText.read(text)).contains(new Origin("a / b", "c/d", -1, "e f g "));
    }

    @Test
    void keepsEmptyPartsAndForeignLetters() {
        Origin origin = new Origin("", "", 0, "日本 \ud83d\udd12");

        assertThat(OriginText.read(OriginText.write(origin))).contains(origin);
    }

    @Test
    void cutsLongPartsButNoLetterInTwo() {
        String lock = "\ud83d\udd12";

        String text = OriginText.write(new Origin(lock.repeat(1_000), "host", 1, "main"));

        assertThat(OriginText.read(text))
                .hasValueSatisfying(origin -> assertThat(origin.client())
                        .startsWith(lock)
                        .endsWith(lock)
                        .hasSizeLessThan(1_000));
    }

    @Test
    void carriesTheNoteAndTheHeldLocks() {
        Origin origin = new Origin(
                "shop-3",
                "web1",
                4711,
                "main",
                Optional.of("order 7"),
                List.of("stock/sku 42", "a, b", "c|d%", " e\nf "));

        String text = OriginText.write(origin);

        assertThat(text).isEqualTo("shop-3 | web1 | 4711 | main | order 7 | stock/sku 42, a%2C b, c%7Cd%25,  e%0Af ");
        assertThat(OriginText.read(text)).contains(origin);
        assertThat(OriginText.read("shop-3", "web1", 4711, OriginText.writeWork(origin)))
                .isEqualTo(origin);
    }

    @Test
    void hasNoNoteWhereNoneWasGiven() {
        Origin holding = new Origin("shop-3", "web1", 4711, "main", Optional.empty(), List.of("a"));
        Origin plain = new Origin("shop-3", "web1", 4711, "ma | in");

        assertThat(OriginText.read(OriginText.write(holding))).contains(holding);
        assertThat(OriginText.read("shop-3", "web1", 4711, OriginText.writeWork(plain)))
                .isEqualTo(new Origin("shop-3", "web1", 4711, "ma / in"));
    }

    @Test
    void leavesOutHeldLocksThatDoNotFit() {
        String long300 = "x".repeat(300);
        Origin origin = new Origin(
                "c".repeat(999),
                "h".repeat(999),
                Long.MIN_VALUE,
                "t".repeat(999),
                Optional.of("ä".repeat(32)),
                List.of("first", long300, "日".repeat(50), "y".repeat(100), "last"));

        String text = OriginText.write(origin);

        assertThat(OriginText.read(text).orElseThrow().holds()).containsExactly("first", "日".repeat(50), "last");
        assertThat(text).hasSizeLessThanOrEqualTo(900);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "somebody",
                "a | b | 1",
                "a | b | 1 | c | d",
                "a | b | one | c",
                "a | b |  | c",
                "a|b|1|c",
                "a | b | 99999999999999999999 | c"
            })
    void isNothingIfSomebodyElseWroteIt(String text) {
        assertThat(OriginText.read(text)).isEmpty();
    }
}
