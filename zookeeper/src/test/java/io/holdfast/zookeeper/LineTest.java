package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Demand;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class LineTest {

    @Test
    void isOrderedByNumberWhoeverMadeTheNodes() {
        Line line = Line.of(List.of(
                "_c_b-lock-0000000010",
                "_c_a-lock-0000000009",
                "_c_c-__WRIT__0000000011",
                "d__lock__0000000008",
                "no-number",
                "_c_e-read-lock-0000000012"));

        assertThat(line.members())
                .extracting(Member::node)
                .containsExactly(
                        "d__lock__0000000008",
                        "_c_a-lock-0000000009",
                        "_c_b-lock-0000000010",
                        "_c_c-__WRIT__0000000011",
                        "_c_e-read-lock-0000000012");
    }

    @Test
    void numbersThatWrapAroundStayInOrder() {
        Line line = Line.of(List.of(
                "_c_d-lock--2147483647", "_c_a-lock-2147483646", "_c_c-lock--2147483648", "_c_b-lock-2147483647"));

        assertThat(line.members())
                .extracting(Member::sequence)
                .containsExactly(Integer.MAX_VALUE - 1, Integer.MAX_VALUE, Integer.MIN_VALUE, Integer.MIN_VALUE + 1);
        assertThat(Line.of(List.of("_c_b-lock-0000000001", "_c_a-lock--000000005"))
                        .members())
                .extracting(Member::sequence)
                .containsExactly(-5, 1);
    }

    @Test
    void readsWhatIsAskedForFromTheName() {
        assertThat(demand("_c_a-lock-0000000001")).isEqualTo(Demand.exclusive());
        assertThat(demand("_c_a-read-lock-0000000001")).isEqualTo(Demand.shared());
        assertThat(demand("_c_a-__READ__0000000001")).isEqualTo(Demand.shared());
        assertThat(demand("_c_a-2of5-lock-0000000001")).isEqualTo(Demand.permits(2, 5));
        assertThat(demand("_c_a-9of5-lock-0000000001")).isEqualTo(Demand.exclusive());
        assertThat(demand("whatever-0000000001")).isEqualTo(Demand.exclusive());
    }

    @Test
    void sharedOnesAreBlockedOnlyByThoseWhoDoNotShare() {
        Line line = Line.of(List.of(
                "_c_a-read-lock-0000000001",
                "_c_b-lock-0000000002",
                "_c_c-read-lock-0000000003",
                "_c_d-read-lock-0000000004",
                "_c_e-lock-0000000005"));

        assertThat(line.holders()).isEqualTo(1);
        assertThat(line.blockers(line.of("d").get(0))).containsExactly("_c_b-lock-0000000002");
        assertThat(line.blockers(line.of("e").get(0))).hasSize(4);
    }

    @Test
    void permitsHoldWhileTheSumFits() {
        Line line =
                Line.of(List.of("_c_a-2of3-lock-0000000001", "_c_b-1of3-lock-0000000002", "_c_c-1of3-lock-0000000003"));

        assertThat(line.holders()).isEqualTo(2);
        assertThat(line.wouldAdmit(Demand.permits(1, 9))).isFalse();
    }

    @Test
    void isTooLongBeforeAListingExceedsWhatTheClientReads() {
        String node = "_c_00000000-0000-0000-0000-000000000000-lock-0000000001";

        assertThat(Line.isTooLong(Collections.nCopies(Line.LONGEST, node))).isFalse();
        assertThat(Line.isTooLong(Collections.nCopies(Line.LONGEST + 1, node))).isTrue();
        assertThat(Line.isTooLong(Collections.nCopies(10_000, node + node))).isTrue();
    }

    private static Demand demand(String node) {
        return Member.parse(node).orElseThrow().demand();
    }
}
