package io.holdfast.torture.check;

import io.holdfast.torture.check.Frontier.Mark;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/*
 * Is there a way in which the store can have granted and ended these leases so that those that exclude each other never held
 * at once, and did so in the order of their tokens? A lease was granted somewhere in [invoke, ok] and ended at `end` or later.
 *
 * In general, placing intervals like this takes exponential time. Tokens make it easy: they say who came first. Walk the leases
 * in token order and grant each at the earliest moment possible, which is when it asked or when the last one it excludes had
 * ended, and end it as early as possible. Placing a lease earlier never hurts a later one, so if one does not fit (its earliest
 * moment lies after its ok), nothing would have made it fit. Several kinds of holders change only which ends a lease has to wait
 * for: Frontier keeps the latest end per demand.
 *
 * Permits exclude each other by their sum, which no pair shows. A lease occupies its permits at least from ok to end, and nothing
 * keeps it from doing no more: whoever has ok < end is granted at ok, whoever has not takes its permits for no time at all, at the
 * moment the walk gave it. So all leases fit if the walk succeeds and the sum over [ok, end) never exceeds the total.
 * (A search that tries every placement agrees on thousands of random histories.)
 *
 * Why a lease did not fit is either a matter of tokens (what stands in the way asked only after this one had been granted: the
 * token is out of order) or of exclusion (it was there at the same time). After a misfit the walk starts afresh, so that one fault
 * is counted once.
 */

/** Whether the leases of one lock can have held one after the other, in the order of their tokens. Linear but for the sorting. */
final class ExclusionWalk {

    private final String lock;
    private final Findings findings;
    private final Frontier frontier = new Frontier();

    private ExclusionWalk(String lock, Findings findings) {
        this.lock = lock;
        this.findings = findings;
    }

    static void check(String lock, List<Tenure> tenures, Findings findings) {
        List<Tenure> byToken = new ArrayList<>(tenures);
        byToken.sort(Comparator.comparingLong(Tenure::token).thenComparingLong(Tenure::okNanos));
        ExclusionWalk walk = new ExclusionWalk(lock, findings);
        byToken.forEach(walk::place);
        walk.checkUnique(byToken);
        PermitSum.check(Promise.EXCLUSION, lock, tenures, Tenure::endNanos, findings);
        findings.tested(Promise.EXCLUSION, tenures.size());
        findings.tested(Promise.TOKENS, tenures.size());
    }

    private void place(Tenure next) {
        Mark blocker = frontier.latestExcluding(next.demand());
        if (blocker != null && blocker.nanos() > next.okNanos()) {
            misfit(next, blocker.cause());
            frontier.clear();
            blocker = null;
        }
        frontier.advance(next.demand(), end(next, blocker));
    }

    /** The earliest end of a lease, and who accounts for it. */
    private static Mark end(Tenure tenure, @Nullable Mark blocker) {
        Mark own = new Mark(Math.max(tenure.invokeNanos(), tenure.endNanos()), tenure);
        return blocker != null && blocker.nanos() > own.nanos() ? blocker : own;
    }

    private void misfit(Tenure next, Tenure blocker) {
        if (blocker.invokeNanos() > next.okNanos()) {
            findings.violated(
                    Promise.TOKENS,
                    lock,
                    "token " + blocker.token() + " was asked for after " + next.token() + " had been granted",
                    next,
                    blocker);
        } else {
            findings.violated(
                    Promise.EXCLUSION,
                    lock,
                    "token " + next.token() + " was granted before token " + blocker.token() + " had ended",
                    blocker,
                    next);
        }
    }

    private void checkUnique(List<Tenure> byToken) {
        for (int i = 1; i < byToken.size(); i++) {
            Tenure one = byToken.get(i - 1);
            Tenure other = byToken.get(i);
            if (one.token() == other.token()) {
                findings.violated(Promise.TOKENS, lock, "token " + one.token() + " was given twice", one, other);
            }
        }
    }
}
