package io.holdfast.spi.support;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockView.Origin;
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
