package io.holdfast.zookeeper.tree;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Demand;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class LockQueueTest {

    @Test
    void isOrderedByNumberWhoeverMadeTheNodes() {
        LockQueue queue = LockQueue.of(List.of(
                "_c_b-lock-0000000010",
                "_c_a-lock-0000000009",
                "_c_c-__WRIT__0000000011",
                "d__lock__0000000008",
                "no-number",
                "_c_e-read-lock-0000000012"));

        assertThat(queue.nodes())
                .extracting(QueuedNode::name)
                .containsExactly(
                        "d__lock__0000000008",
                        "_c_a-lock-0000000009",
                        "_c_b-lock-0000000010",
                        "_c_c-__WRIT__0000000011",
                        "_c_e-read-lock-0000000012");
    }

    @Test
    void numbersThatWrapAroundStayInOrder() {
        LockQueue queue = LockQueue.of(List.of(
                "_c_d-lock--2147483647", "_c_a-lock-2147483646", "_c_c-lock--2147483648", "_c_b-lock-2147483647"));

        assertThat(queue.nodes())
                .extracting(QueuedNode::sequence)
                .containsExactly(Integer.MAX_VALUE - 1, Integer.MAX_VALUE, Integer.MIN_VALUE, Integer.MIN_VALUE + 1);
        assertThat(LockQueue.of(List.of("_c_b-lock-0000000001", "_c_a-lock--000000005"))
                        .nodes())
                .extracting(QueuedNode::sequence)
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
        LockQueue queue = LockQueue.of(List.of(
                "_c_a-read-lock-0000000001",
                "_c_b-lock-0000000002",
                "_c_c-read-lock-0000000003",
                "_c_d-read-lock-0000000004",
                "_c_e-lock-0000000005"));

        assertThat(queue.holders()).isEqualTo(1);
        assertThat(queue.blockers(3)).containsExactly("_c_b-lock-0000000002");
        assertThat(queue.blockers(4)).hasSize(4);
        assertThat(queue.position("_c_d-read-lock-0000000004")).hasValue(3);
        assertThat(queue.position("_c_d-lock-0000000004")).isEmpty();
    }

    @Test
    void permitsHoldWhileTheSumFits() {
        LockQueue queue = LockQueue.of(
                List.of("_c_a-2of3-lock-0000000001", "_c_b-1of3-lock-0000000002", "_c_c-1of3-lock-0000000003"));

        assertThat(queue.holders()).isEqualTo(2);
        assertThat(queue.wouldAdmit(Demand.permits(1, 9))).isFalse();
    }

    @Test
    void isTooLongBeforeAListingExceedsWhatTheClientReads() {
        String node = "_c_00000000-0000-0000-0000-000000000000-lock-0000000001";

        assertThat(LockQueue.isTooLong(Collections.nCopies(LockQueue.LONGEST, node)))
                .isFalse();
        assertThat(LockQueue.isTooLong(Collections.nCopies(LockQueue.LONGEST + 1, node)))
                .isTrue();
        assertThat(LockQueue.isTooLong(Collections.nCopies(10_000, node + node)))
                .isTrue();
    }

    private static Demand demand(String node) {
        return QueuedNode.parse(node).orElseThrow().demand();
    }
}
