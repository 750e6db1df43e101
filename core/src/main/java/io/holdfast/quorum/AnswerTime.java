package io.holdfast.quorum;

import io.holdfast.spi.Deadline;

/**
 * How long the nodes have to answer one question. Immutable.
 *
 * @param usual how long one node may take: once a majority has answered, the others are not waited for beyond this
 * @param longest how long a majority may take: without one there is nothing to lose by waiting, and it may be this process that is slow
 */
record AnswerTime(Deadline usual, Deadline longest) {

    static AnswerTime until(Deadline deadline) {
        return new AnswerTime(deadline, deadline);
    }

    /** A node that did not answer the last time gets the usual time only. */
    Deadline at(QuorumNode node) {
        return node.isAnswering() ? longest : usual;
    }
}
