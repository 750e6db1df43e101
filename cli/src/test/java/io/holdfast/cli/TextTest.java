package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Demand;
import io.holdfast.LockView;
import io.holdfast.cli.console.DurationConverter;
import io.holdfast.cli.console.LockText;
import io.holdfast.cli.console.Redaction;
import io.holdfast.ui.json.JsonText;
import io.holdfast.ui.json.LockJson;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class TextTest {

    @ParameterizedTest
    @CsvSource({
        "0, PT0S",
        "2, PT2S",
        "0.5, PT0.5S",
        ".25, PT0.25S",
        "1., PT1S",
        "500ms, PT0.5S",
        "2s, PT2S",
        "1.5m, PT90S",
        "1h, PT1H",
        "30d, PT720H"
    })
    void readsDurations(String text, Duration expected) {
        assertThat(new DurationConverter().convert(text)).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "soon", "-1", "1 s", "1w", "s", "1e3", "999999999999d"})
    void refusesWhatIsNoDuration(String text) {
        assertThatThrownBy(() -> new DurationConverter().convert(text))
                .isInstanceOf(TypeConversionException.class)
                .hasMessageContaining("500ms");
    }

    @ParameterizedTest
    @CsvSource({"PT0.05S, 0.0s", "PT3.29S, 3.2s", "PT4M10S, 4m10s", "PT2H5M, 2h05m", "PT76H, 3d4h", "PT-1S, 0.0s"})
    void writesSpansOfTime(Duration span, String expected) {
        assertThat(LockText.span(span)).isEqualTo(expected);
    }

    @Test
    void saysNothingOfTheTokenOfAForeignHolder() {
        LockView.Holder ours = holder(Optional.of(7_168L));
        LockView.Holder foreign = holder(Optional.empty());

        assertThat(LockText.token(ours)).isEqualTo(", token 7168");
        assertThat(LockText.token(foreign)).isEmpty();
        assertThat(JsonText.object(json -> LockJson.fields(json, ours))).contains("\"token\":\"7168\"");
        assertThat(JsonText.object(json -> LockJson.fields(json, foreign))).doesNotContain("token");
    }

    @Test
    void aTimeThatTheStoreDoesNotKeepIsLeftOut() {
        assertThat(LockText.forHowLong(Optional.empty())).isEmpty();
        assertThat(LockText.forHowLong(Optional.of(Instant.now()))).startsWith(", for ");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "no connection to jdbc:x?user=a&password=***: refused | no connection to jdbc:x?user=a&password=***: refused",
                "at jdbc:x?password=geheim: refused | at jdbc:x?password=*** refused",
                "at jdbc:x?password=***geheim | at jdbc:x?password=***",
                "at jdbc:x?password=geheim&user=a | at jdbc:x?password=***&user=a"
            })
    void leavesPasswordsOutAndNothingElse(String text, String shown) {
        assertThat(Redaction.of(new String[0], Map.of()).apply(text)).isEqualTo(shown);
    }

    private static LockView.Holder holder(Optional<Long> token) {
        return new LockView.Holder(Optional.empty(), Demand.exclusive(), token, Optional.empty(), Optional.empty());
    }

    @Test
    void splitsOnlyTheCommandLineOfRun() {
        assertThat(Main.Invocation.of("run", "job", "--", "sh", "--", "x").command())
                .containsExactly("sh", "--", "x");
        assertThat(Main.Invocation.of("show", "--", "-name").own()).containsExactly("show", "--", "-name");
    }
}
