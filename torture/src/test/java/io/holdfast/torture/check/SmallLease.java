package io.holdfast.torture.check;

import io.holdfast.Demand;
import io.holdfast.LossReason;
import io.holdfast.torture.history.Phase;

/**
 * A lease of a small random history, in whole units of time.
 *
 * @param released from when to when release ran, if it was called
 * @param deadline last renewal sent plus ttl
 * @param lastValid when it last said it was valid
 * @param validUntil until when, as it said
 */
record SmallLease(
        String who,
        Demand demand,
        long token,
        Span granted,
        End end,
        Span released,
        long deadline,
        long lastValid,
        long validUntil) {

    record Span(long from, long to) {}

    /** How it ended, as its holder saw it. */
    enum End {
        RELEASED,
        RELEASE_UNKNOWN,
        KILLED_RELEASING,
        KILLED,
        EXPIRED,
        GONE
    }

    void tell(Story story) {
        long sent = granted.from;
        story.asks(granted.from, who, demand).gets(granted.to, who, token, sent, deadline - sent);
        story.valid(lastValid, who, validUntil);
        switch (end) {
            case RELEASED -> story.releases(released.from, released.to, who);
            case RELEASE_UNKNOWN -> story.releases(released.from, released.to, who, Phase.UNKNOWN);
            case KILLED_RELEASING -> story.releasesAndNeverKnows(released.from, who);
            case KILLED -> {}
            case EXPIRED ->
                story.releases(released.from, released.to, who, Phase.TOLD_LOST)
                        .lost(released.to, who, LossReason.EXPIRED);
            case GONE -> story.lost(released.to, who, LossReason.GONE);
        }
    }

    /** The earliest and latest moment at which the store may have ended it. */
    Span ended() {
        long ever = Long.MAX_VALUE;
        return switch (end) {
            case RELEASED -> released;
            case RELEASE_UNKNOWN, KILLED_RELEASING -> new Span(Math.min(released.from, deadline), ever);
            case KILLED, EXPIRED -> new Span(deadline, ever);
            case GONE -> new Span(Math.min(deadline, lastValid), ever);
        };
    }

    /** Until when its holder surely believed in it. */
    long believed() {
        return switch (end) {
            case KILLED -> validUntil;
            case GONE -> Math.min(lastValid, validUntil);
            default -> Math.min(released.from, validUntil);
        };
    }
}
