package io.holdfast.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;

class LockNamesTest {

    @Test
    void anyTextUpTo512BytesIsAName() {
        assertThat(LockNames.require("a")).isEqualTo("a");
        assertThat(LockNames.require("x".repeat(512))).hasSize(512);
        assertThat(LockNames.require("🔒".repeat(128))).hasSize(256);
    }

    @Test
    void whatCannotBeANameIsRejectedWithTheReason() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockNames.require(""))
                .withMessageContaining("empty");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockNames.require("a\0b"))
                .withMessageContaining("NUL");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockNames.require("x".repeat(513)))
                .withMessageContaining("512");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockNames.require("🔒".repeat(129)))
                .withMessageContaining("512");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockNames.require("broken \uD83D"))
                .withMessageContaining("Unicode");
    }
}
