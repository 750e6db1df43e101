package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.jdbc.LockSql.Kind;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The line in a row")
class LineTest {

    private static final String A = "a".repeat(Line.CLIENT_LENGTH);
    private static final String B = "b".repeat(Line.CLIENT_LENGTH);
    private static final String C = "c".repeat(Line.CLIENT_LENGTH);
    private static final long NOW = 1_790_000_000_000_000L;

    private final Line empty = Line.parse("", NOW);

    @Test
    void admitsAnybodyWhenEmptyAndOnlyTheFirstWhenNot() {
        Line line = empty.with(A, Kind.EXCLUSIVE, NOW + 5).with(B, Kind.EXCLUSIVE, NOW + 5);

        assertThat(empty.admits(C, Kind.PERMITS)).isTrue();
        assertThat(line.admits(A, Kind.EXCLUSIVE)).isTrue();
        assertThat(line.admits(A, Kind.SHARED)).isFalse();
        assertThat(line.admits(B, Kind.EXCLUSIVE)).isFalse();
        assertThat(line.admits(C, Kind.EXCLUSIVE)).isFalse();
        assertThat(line.without(A, Kind.EXCLUSIVE).admits(B, Kind.EXCLUSIVE)).isTrue();
    }

    @Test
    void admitsReadersBehindReaders() {
        Line line = empty.with(A, Kind.SHARED, NOW + 5).with(B, Kind.SHARED, NOW + 5);

        assertThat(line.admits(B, Kind.SHARED)).isTrue();
        assertThat(line.admits(C, Kind.SHARED)).isTrue();
        assertThat(line.with(C, Kind.EXCLUSIVE, NOW + 5).admits(C, Kind.SHARED)).isFalse();
        assertThat(line.with(C, Kind.EXCLUSIVE, NOW + 5).next()).containsExactly(A, B);
    }

    @Test
    void keepsItsOrderWhenAPlaceIsRenewedAndForgetsTheDead() {
        Line line = empty.with(A, Kind.EXCLUSIVE, NOW + 5)
                .with(B, Kind.PERMITS, NOW + 20)
                .with(A, Kind.EXCLUSIVE, NOW + 10);

        assertThat(line.text()).hasSize(2 * Line.PLACE_LENGTH).startsWith(Line.who(A, Kind.EXCLUSIVE));
        assertThat(line.until()).isEqualTo(NOW + 20);
        Line later = Line.parse(line.text(), NOW + 10);
        assertThat(line.ahead(B, Kind.PERMITS)).isEqualTo(1);
        assertThat(later.ahead(B, Kind.PERMITS)).isZero();
        assertThat(later.placeUntil(A, Kind.EXCLUSIVE)).isZero();
        assertThat(later.placeUntil(B, Kind.PERMITS)).isEqualTo(NOW + 20);
    }

    @Test
    void hasAnEnd() {
        Line line = empty;
        for (int i = 0; i < 300; i++) {
            line = line.with("%032x".formatted(i), Kind.EXCLUSIVE, NOW + 5);
        }

        assertThat(line.text()).hasSize(250 * Line.PLACE_LENGTH);
    }
}
