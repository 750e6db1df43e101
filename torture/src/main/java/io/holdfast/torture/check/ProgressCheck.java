package io.holdfast.torture.check;

import io.holdfast.torture.check.Finding.Outcome;
import io.holdfast.torture.check.RunHistory.LockHistory;
import io.holdfast.torture.history.Event;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Whether a lock that somebody wants is granted to somebody, again and again, as long as there is no fault. Who fails and asks
 * again wants it still. Waiters whose process was not heard of again do not count: nobody can serve the dead. Nor does time in
 * which the machine was too busy: a stall that is long only with it is not judged.
 */
final class ProgressCheck {

    private final RunHistory run;
    private final Faults faults;
    private final BusyTimes busy;
    private final long withinNanos;
    private final Findings findings;

    ProgressCheck(RunHistory run, Faults faults, BusyTimes busy, Duration within, Findings findings) {
        this.run = run;
        this.faults = faults;
        this.busy = busy;
        this.withinNanos = within.toNanos();
        this.findings = findings;
    }

    void check(LockHistory history) {
        NavigableMap<Long, Event> served = new TreeMap<>();
        for (Attempt attempt : history.attempts()) {
            Event granted = attempt.outcome();
            if (attempt.isGranted() && granted != null) {
                served.put(granted.nanos(), granted);
            }
        }
        for (Faults.Calm calm : faults.calms()) {
            check(history, calm, served);
        }
    }

    private void check(LockHistory history, Faults.Calm calm, NavigableMap<Long, Event> served) {
        Stretches wanted = new Stretches();
        NavigableMap<Long, Event> asked = new TreeMap<>();
        for (Attempt attempt : history.attempts()) {
            long from = Math.max(calm.fromNanos(), attempt.invoke().nanos());
            long to = Math.min(calm.toNanos(), waitEnd(attempt));
            if (to > from && !faults.isStopped(attempt.invoke().process(), from, to)) {
                findings.tested(Promise.PROGRESS, 1);
                wanted.add(from, to + pauseNanos());
                asked.put(from, attempt.invoke());
            }
        }
        for (Map.Entry<Long, Long> stretch : wanted.inOrder()) {
            Outcome outcome = outcomeOf(stretch.getKey(), stretch.getValue() - pauseNanos(), served);
            if (outcome == Outcome.VIOLATED) {
                Event first = asked.get(stretch.getKey());
                findings.violated(
                        Promise.PROGRESS,
                        history.lock(),
                        first.process()
                                + " waited, or failed and others asked, no fault was active that excuses it, and"
                                + " nobody was served for " + withinNanos / 1_000_000 + " ms",
                        List.of(first));
                return; // it would be said of every further stretch
            }
            if (outcome == Outcome.NOT_JUDGED) {
                findings.notJudged(Promise.PROGRESS);
            }
        }
    }

    /** Whoever failed asks again after a moment: a store that refuses everybody at once serves nobody, too. */
    private long pauseNanos() {
        return withinNanos / 20;
    }

    private Outcome outcomeOf(long from, long to, NavigableMap<Long, Event> served) {
        Outcome outcome = Outcome.HELD;
        long last = from;
        while (to - last > withinNanos) {
            Long next = served.higherKey(last);
            long end = next == null ? to : Math.min(next, to);
            if (busy.judgedNanos(last, end) > withinNanos) {
                return Outcome.VIOLATED;
            }
            if (end - last > withinNanos) {
                outcome = Outcome.NOT_JUDGED;
            }
            last = end;
        }
        return outcome;
    }

    private long waitEnd(Attempt attempt) {
        Event outcome = attempt.outcome();
        return outcome != null
                ? outcome.nanos()
                : run.lastSignOfLife(attempt.invoke().process());
    }
}
