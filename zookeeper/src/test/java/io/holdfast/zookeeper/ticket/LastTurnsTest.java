package io.holdfast.zookeeper.ticket;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.zookeeper.session.AsyncZooKeeper.Created;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("What the last turn tells of the next")
class LastTurnsTest {

    private static final String DIRECTORY = "/locks/orders";

    private final LastTurns turns = new LastTurns();

    @Test
    void theNextNumberIsTheFirstIfTooFewTransactionsCameBetweenForAnotherDirectory() {
        turn(7, 100);

        assertThat(turns.isNext(DIRECTORY, node(8, 108))).isTrue();
        assertThat(turns.isNext(DIRECTORY, node(8, 109)))
                .as("eight came between")
                .isFalse();
        assertThat(turns.isNext(DIRECTORY, node(9, 102)))
                .as("somebody is ahead")
                .isFalse();
        assertThat(turns.isNext("/locks/other", node(8, 102))).isFalse();
    }

    @Test
    void aNodeThatIsStillThereIsInTheWay() {
        turns.begun(DIRECTORY, node(7, 100));

        assertThat(turns.isNext(DIRECTORY, node(8, 101))).isFalse();
    }

    @Test
    void aLateAnswerAboutANodeInAFormerDirectoryConcernsNoOther() {
        turns.begun(DIRECTORY, node(7, 100));
        turns.begun(DIRECTORY, node(7, 200));

        turns.over(DIRECTORY, node(7, 100));

        assertThat(turns.isNext(DIRECTORY, node(8, 201))).isFalse();
    }

    @Test
    void aListingIsLeftOutAfterTwoTurnsInARowAndUntilSomebodyElseComes() {
        turn(7, 100);
        assertThat(turns.isNextExpected(DIRECTORY)).isFalse();
        turn(8, 102);
        assertThat(turns.isNextExpected(DIRECTORY)).isTrue();

        turns.disturbed(DIRECTORY);

        assertThat(turns.isNextExpected(DIRECTORY)).isFalse();
        assertThat(turns.isNext(DIRECTORY, node(9, 104))).isFalse();
    }

    private void turn(int number, long czxid) {
        turns.begun(DIRECTORY, node(number, czxid));
        turns.over(DIRECTORY, node(number, czxid));
    }

    private static Created node(int number, long czxid) {
        return new Created(String.format("%s/_c_uuid-lock-%010d", DIRECTORY, number), czxid);
    }
}
