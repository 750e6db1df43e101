package io.holdfast.torture.check;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The seed is new in every run and is part of every message: {@code new SmallHistories(seed)} brings a history back. */
@DisplayName("the checker against a search that tries everything")
class CheckerAgainstSearchTest {

    private static final int HISTORIES = 10_000;

    private enum Kind {
        POSSIBLE,
        FLAWED,
        ANYTHING
    }

    private final long seed = new Random().nextLong();

    @Test
    void bothSayTheSameOfEveryHistory() {
        Map<Kind, Integer> impossible = new EnumMap<>(Kind.class);
        for (Kind kind : Kind.values()) {
            for (int i = 0; i < HISTORIES; i++) {
                if (!agree(kind, seed + i)) {
                    impossible.merge(kind, 1, Integer::sum);
                }
            }
        }
        System.out.println("Histories nobody can have produced, of " + HISTORIES + " each: " + impossible
                + ", first seed " + seed);

        assertThat(impossible).as("seed %d", seed).doesNotContainKey(Kind.POSSIBLE);
        assertThat(impossible.get(Kind.FLAWED)).as("seed %d", seed).isBetween(HISTORIES / 20, HISTORIES * 19 / 20);
        assertThat(impossible.get(Kind.ANYTHING)).as("seed %d", seed).isBetween(HISTORIES / 20, HISTORIES * 19 / 20);
    }

    @Test
    void bothFindTheSameBelievers() {
        int found = 0;
        for (int i = 0; i < HISTORIES; i++) {
            List<SmallLease> leases = new SmallHistories(seed + i).anything();
            boolean believers = ExhaustiveSearch.findsTwoBelievers(leases, SmallHistories.HORIZON);

            assertThat(told(leases).violated().contains(Promise.BELIEF))
                    .as("two believers in %s, seed %d", leases, seed + i)
                    .isEqualTo(believers);
            found += believers ? 1 : 0;
        }

        assertThat(found).as("seed %d", seed).isBetween(HISTORIES / 20, HISTORIES * 19 / 20);
    }

    /** Whether the history is possible, once both have said so. */
    private static boolean agree(Kind kind, long seed) {
        SmallHistories histories = new SmallHistories(seed);
        List<SmallLease> leases = switch (kind) {
            case POSSIBLE -> histories.possible();
            case FLAWED -> histories.flawed();
            case ANYTHING -> histories.anything();
        };
        boolean possible = ExhaustiveSearch.findsAWay(leases, SmallHistories.HORIZON);
        List<Promise> violated = told(leases).violated();

        assertThat(!violated.contains(Promise.EXCLUSION) && !violated.contains(Promise.TOKENS))
                .as("there is a way for %s, seed %d (%s)", leases, seed, kind)
                .isEqualTo(possible);
        return possible;
    }

    private static Verdict told(List<SmallLease> leases) {
        Story story = new Story();
        leases.forEach(lease -> lease.tell(story));
        return story.judged();
    }
}
