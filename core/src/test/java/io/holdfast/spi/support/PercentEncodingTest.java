package io.holdfast.spi.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.IntPredicate;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("Percent encoding")
class PercentEncodingTest {

    private static final IntPredicate LETTERS = c -> c >= 'a' && c <= 'z' || c == '-';

    private final PercentEncoding encoding = new PercentEncoding(LETTERS);

    @ParameterizedTest
    @CsvSource({
        "orders, orders",
        "a/b, a%2Fb",
        "a%2Fb, a%25%32%46b",
        "%, %25",
        "Job, %4Aob",
        "ü, %C3%BC",
        "日本, %E6%97%A5%E6%9C%AC",
        "\ud83d\udd12, %F0%9F%94%92",
        "a\ud83d\udd12b, a%F0%9F%94%92b"
    })
    void escapesWhatIsNotAllowedAndReadsItBack(String name, String encoded) {
        assertThat(encoding.encode(name)).isEqualTo(encoded);
        assertThat(encoding.decode(encoded)).contains(name);
    }

    @Test
    void returnsAPlainNameItself() {
        String name = "stock-orders";

        assertThat(encoding.encode(name)).isSameAs(name);
    }

    @Test
    void alwaysEscapesThePercentSignWhateverItIsToldIsPlain() {
        PercentEncoding everything = new PercentEncoding(c -> true);

        assertThat(everything.encode("a%b/ü")).isEqualTo("a%25b/ü");
        assertThat(everything.decode("a%25b/ü")).contains("a%b/ü");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "%",
                "a%",
                "a%2",
                "%2",
                "%zz",
                "%2g",
                "%-1", // no two hex digits
                "%2f",
                "%c3%bc", // small ones, which encode never writes
                "%61", // plain, so it would not be escaped
                "a/b",
                "Job", // not plain, so it would be escaped
                "%C3",
                "%FF",
                "%ED%A0%80" // no UTF-8
            })
    void readsNothingThatNoNameIsEncodedAs(String encoded) {
        assertThat(encoding.decode(encoded)).isEmpty();
    }

    @Test
    void makesNoTwoNamesOneAndReadsAllBack() {
        SplittableRandom random = new SplittableRandom(4711);
        List<String> pieces =
                List.of("a", "b", "A", "/", "%", "%2F", "25", "2F", " ", ".", "ü", "u\u0308", "\ud83d\udd12");
        Map<String, String> names = new HashMap<>();
        for (int i = 0; i < 20_000; i++) {
            StringBuilder name = new StringBuilder();
            for (int length = random.nextInt(6); length >= 0; length--) {
                name.append(pieces.get(random.nextInt(pieces.size())));
            }
            String encoded = encoding.encode(name.toString());

            assertThat(encoding.decode(encoded)).contains(name.toString());
            String known = names.putIfAbsent(encoded, name.toString());
            assertThat(known == null || known.equals(name.toString()))
                    .as("'%s' is both '%s' and '%s'", encoded, known, name)
                    .isTrue();
        }
    }

    @Test
    void writesOneCodePointForNamesThatAreSpecialAsAWhole() {
        StringBuilder text = new StringBuilder("x");

        PercentEncoding.escape('.', text);
        PercentEncoding.escape('ü', text);

        assertThat(text).hasToString("x%2E%C3%BC");
    }
}
