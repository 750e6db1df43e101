package io.holdfast.zookeeper.tree;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeout;

import io.holdfast.Demand;
import io.holdfast.spi.Admission;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class QueueViewTest {

    @Test
    void isOrderedByNumberWhoeverMadeTheNodes() {
        QueueView queue = QueueView.of(List.of(
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
    void numbersOfThoseWhoGoOnWhenTheyAreUsedUpComeLast() {
        QueueView queue = QueueView.of(List.of(
                "_c_d-lock--2147483647", "_c_a-lock-2147483646", "_c_c-lock--2147483648", "_c_b-lock-2147483647"));

        assertThat(queue.nodes())
                .extracting(QueuedNode::sequence)
                .containsExactly(Integer.MAX_VALUE - 1, Integer.MAX_VALUE, Integer.MIN_VALUE, Integer.MIN_VALUE + 1);
    }

    @Test
    void aNumberBelongsToOneNodeUnlessItIsTheLastOrBeyond() {
        assertThat(node("_c_a-lock-0000000000").isNumberedForItself()).isTrue();
        assertThat(node("_c_a-lock-2147483646").isNumberedForItself()).isTrue();
        assertThat(node("_c_a-lock-2147483647").isNumberedForItself()).isFalse();
        assertThat(node("_c_a-lock--2147483648").isNumberedForItself()).isFalse();
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
    void theFirstHoldAndNobodyOvertakesThem() {
        QueueView queue = QueueView.of(List.of(
                "_c_a-read-lock-0000000001",
                "_c_b-lock-0000000002",
                "_c_c-read-lock-0000000003",
                "_c_d-read-lock-0000000004",
                "_c_e-lock-0000000005"));

        assertThat(queue.holders()).extracting(QueuedNode::name).containsExactly("_c_a-read-lock-0000000001");
        assertThat(queue.admits(node("_c_c-read-lock-0000000003"))).isFalse();
        assertThat(queue.contains(node("_c_d-read-lock-0000000004"))).isTrue();
        assertThat(queue.contains(node("_c_d-lock-0000000004"))).isFalse();

        queue.deleted("_c_b-lock-0000000002");

        assertThat(queue.admitted(
                        nodes("_c_d-read-lock-0000000004", "_c_c-read-lock-0000000003", "_c_e-lock-0000000005")))
                .containsExactly(node("_c_c-read-lock-0000000003"), node("_c_d-read-lock-0000000004"));
    }

    @Test
    void P9_admitsBySharedRunsWhatTheRuleAdmitsOneByOne() {
        Random random = new Random(1);
        List<String> kinds = List.of("read-lock-", "read-lock-", "read-lock-", "lock-", "1of2-lock-", "1of3-lock-");
        for (int round = 0; round < 2_000; round++) {
            List<String> names = IntStream.range(0, 1 + random.nextInt(6))
                    .mapToObj(number -> "_c_a-" + kinds.get(random.nextInt(kinds.size())) + "000000000" + number)
                    .toList();
            QueueView queue = QueueView.of(names);
            queue.deleted(names.get(random.nextInt(names.size())));
            Admission rule = new Admission();
            for (QueuedNode node : queue.nodes()) {
                assertThat(queue.admits(node))
                        .as("%s in %s", node, queue.nodes())
                        .isEqualTo(rule.admit(node.demand()));
            }
            assertThat(queue.admitted(new TreeSet<>(queue.nodes()))).isEqualTo(queue.holders());
        }
    }

    @Test
    void P9_besideThousandsOfReadersAnotherIsAdmittedAtOnce() {
        int readers = 15_000;
        QueueView queue = QueueView.of(names(readers, "_c_a-read-lock-"));
        QueuedNode last = node(String.format("_c_a-read-lock-%010d", readers - 1));

        assertTimeout(Duration.ofSeconds(1), () -> {
            for (int i = 0; i < readers; i++) {
                assertThat(queue.admits(last)).isTrue();
            }
        });
    }

    @Test
    void coversWhatJoinedAsLongAsNoNumberIsMissing() {
        QueueView queue = QueueView.of(List.of("_c_a-lock-0000000007"), afterMaking(8, 1));
        queue.created("_c_b-lock-0000000008");
        assertThat(queue.covers(node("_c_b-lock-0000000008"))).isTrue();

        queue.created("_c_d-lock-0000000010");
        queue.created("_c_e-lock-0000000011");

        assertThat(queue.covers(node("_c_d-lock-0000000010")))
                .as("9 was not seen")
                .isFalse();
        assertThat(queue.covers(node("_c_e-lock-0000000011"))).isFalse();
        assertThat(queue.covers(node("_c_b-lock-0000000008"))).isTrue();
        assertThat(queue.covers(node("_c_c-lock-0000000008"))).as("not there").isFalse();
    }

    @Test
    void aNodeWithoutANumberTookOneToo() {
        QueueView queue = QueueView.of(List.of("_c_a-lock-0000000007"), afterMaking(8, 1));
        queue.created("somebody's notes");
        queue.created("_c_b-lock-0000000009");

        assertThat(queue.covers(node("_c_b-lock-0000000009"))).isFalse();
    }

    @Test
    void knowsTheNextNumberThoughTheLastHaveLeftOrAll() {
        QueueView left = QueueView.of(List.of("_c_a-lock-0000000007"), afterMaking(10, 1));
        left.created("_c_b-lock-0000000010");
        QueueView empty = QueueView.of(List.of(), afterMaking(3, 0));
        empty.created("_c_c-lock-0000000003");
        QueueView gap = QueueView.of(List.of(), afterMaking(3, 0));
        gap.created("_c_d-lock-0000000004");

        assertThat(left.covers(node("_c_b-lock-0000000010"))).isTrue();
        assertThat(empty.covers(node("_c_c-lock-0000000003"))).isTrue();
        assertThat(gap.covers(node("_c_d-lock-0000000004")))
                .as("3 may be hidden")
                .isFalse();
    }

    @Test
    void knowsTheNextNumberAsLongAsThereIsOne() {
        int last = Integer.MAX_VALUE - 1;
        QueueView queue = QueueView.of(List.of(), afterMaking(last, 0));
        queue.created("_c_a-lock-" + last);

        assertThat(queue.covers(node("_c_a-lock-" + last))).isTrue();
    }

    @Test
    void itsVersionCountsEveryCreationAndDeletion() {
        QueueView queue = QueueView.of(List.of("_c_a-lock-0000000007"), 40);
        queue.created("_c_b-lock-0000000008");
        queue.created("somebody's notes");
        queue.deleted("_c_a-lock-0000000007");

        assertThat(queue.version()).isEqualTo(43);
        assertThat(queue.size()).isEqualTo(1);
    }

    @Test
    void tellsWhoHasToLeaveBeforeATicketIsNear() {
        QueueView queue = QueueView.of(List.of(
                "_c_a-lock-0000000001",
                "_c_b-lock-0000000002",
                "_c_c-lock-0000000003",
                "_c_d-lock-0000000004",
                "_c_e-lock-0000000005"));

        assertThat(queue.farAhead(2, nodes("_c_e-lock-0000000005"))).hasValueSatisfying(far -> {
            assertThat(far.node().sequence()).isEqualTo(3);
            assertThat(far.mustLeave()).isTrue();
        });
        assertThat(queue.farAhead(2, nodes("_c_e-lock-0000000005", "_c_b-lock-0000000002")))
                .as("the first is near")
                .isEmpty();
        assertThat(queue.farAhead(3, nodes("_c_e-lock-0000000005"))).isPresent();
        assertThat(queue.farAhead(4, nodes("_c_e-lock-0000000005")))
                .as("holders do not count")
                .isEmpty();
    }

    @Test
    void readersNeedNotLeaveBeforeAReaderButWritersMust() {
        QueueView queue = QueueView.of(List.of(
                "_c_a-read-lock-0000000001",
                "_c_b-lock-0000000002",
                "_c_c-read-lock-0000000003",
                "_c_d-read-lock-0000000004",
                "_c_e-read-lock-0000000005"));

        assertThat(queue.farAhead(2, nodes("_c_e-read-lock-0000000005"))).hasValueSatisfying(far -> {
            assertThat(far.node().sequence()).isEqualTo(2);
            assertThat(far.mustLeave()).isTrue();
        });
    }

    @Test
    void noneOfThoseWithPermitsMustLeaveBeforeAnother() {
        QueueView queue = QueueView.of(List.of(
                "_c_a-1of2-lock-0000000001",
                "_c_b-1of2-lock-0000000002",
                "_c_c-1of2-lock-0000000003",
                "_c_d-1of2-lock-0000000004",
                "_c_e-1of2-lock-0000000005"));

        assertThat(queue.farAhead(2, nodes("_c_e-1of2-lock-0000000005"))).hasValueSatisfying(far -> {
            assertThat(far.node().sequence()).isEqualTo(1);
            assertThat(far.mustLeave()).isFalse();
        });
        assertThat(queue.farAhead(2, nodes("_c_d-1of2-lock-0000000004"))).isEmpty();
    }

    @Test
    void permitsHoldWhileTheSumFits() {
        QueueView queue = QueueView.of(
                List.of("_c_a-2of3-lock-0000000001", "_c_b-1of3-lock-0000000002", "_c_c-1of3-lock-0000000003"));

        assertThat(queue.holders()).hasSize(2);
        assertThat(queue.wouldAdmit(Demand.permits(1, 9))).isFalse();
    }

    @Test
    void isTooLongBeforeAListingExceedsWhatTheClientReads() {
        String node = "_c_00000000-0000-0000-0000-000000000000-lock-";

        QueueView longest = QueueView.of(names(QueueView.LONGEST, node));
        assertThat(longest.isTooLong()).isFalse();
        longest.created(node + "0000015000");
        assertThat(longest.isTooLong()).isTrue();
        longest.deleted(node + "0000000000");
        assertThat(longest.isTooLong()).isFalse();
        assertThat(QueueView.of(names(10_000, node + node)).isTooLong()).isTrue();
    }

    /** The version of a directory's children, of which so many are left. */
    private static int afterMaking(int made, int left) {
        return 2 * made - left;
    }

    private static List<String> names(int count, String prefix) {
        return IntStream.range(0, count)
                .mapToObj(number -> prefix + String.format("%010d", number))
                .toList();
    }

    private static QueuedNode node(String name) {
        return QueuedNode.ours(name);
    }

    private static SortedSet<QueuedNode> nodes(String... names) {
        return Stream.of(names).map(QueuedNode::ours).collect(Collectors.toCollection(TreeSet::new));
    }

    private static Demand demand(String node) {
        return QueuedNode.parse(node).orElseThrow().demand();
    }
}
