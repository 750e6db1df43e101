package io.holdfast.torture.check;

import io.holdfast.torture.check.Counts.Writes;
import io.holdfast.torture.history.Event;
import io.holdfast.torture.history.Guard;
import io.holdfast.torture.history.Operation;
import io.holdfast.torture.history.Phase;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Whether a resource still contains what it acknowledged. Every write names the write it builds on, so the final content is
 * the chain back from the last one, and an acknowledged write off that chain was overwritten by somebody who had not seen it.
 */
final class ResourceCheck {

    private final String lock;
    private final Guard guard;
    private final Map<String, Written> writes = new HashMap<>();
    private @Nullable Event last;

    private ResourceCheck(String lock, Guard guard, List<Event> events) {
        this.lock = lock;
        this.guard = guard;
        for (Event event : events) {
            if (event.guard() == guard) {
                add(event);
            }
        }
    }

    static Writes check(String lock, Guard guard, List<Event> events, Findings findings) {
        ResourceCheck check = new ResourceCheck(lock, guard, events);
        return check.last == null ? Writes.NONE : check.judge(check.last, findings);
    }

    private void add(Event event) {
        String value = event.value();
        if (event.operation() == Operation.FINAL) {
            last = event;
        } else if (event.operation() == Operation.WRITE && value != null) {
            writes.computeIfAbsent(value, unused -> new Written(event)).ended = event;
        }
    }

    private Writes judge(Event content, Findings findings) {
        Set<String> present = new HashSet<>();
        Map<String, Event> successors = new HashMap<>();
        String value = content.value() == null ? "" : content.value();
        while (!value.isEmpty() && present.add(value)) {
            Written written = writes.get(value);
            if (written == null) {
                broken(findings, "it contains " + value + ", which nobody wrote", content, Optional.empty());
                break;
            }
            if (written.is(Phase.FAIL)) {
                broken(findings, "it contains " + value + ", which it had refused", written.ended, Optional.empty());
            }
            successors.put(written.previous(), written.ended);
            value = written.previous();
        }
        return count(present, successors, findings);
    }

    private Writes count(Set<String> present, Map<String, Event> successors, Findings findings) {
        long acknowledged = 0;
        long lost = 0;
        long refused = 0;
        for (Map.Entry<String, Written> entry : writes.entrySet()) {
            Written written = entry.getValue();
            refused += written.is(Phase.FAIL) ? 1 : 0;
            if (written.is(Phase.OK)) {
                acknowledged++;
                if (!present.contains(entry.getKey())) {
                    lost++;
                    Optional<Event> instead = Optional.ofNullable(successors.get(written.previous()));
                    broken(findings, "the acknowledged write " + entry.getKey() + " is lost", written.ended, instead);
                }
            }
        }
        if (guard == Guard.CHECKED) {
            findings.tested(Promise.FENCING, acknowledged);
        }
        return new Writes(acknowledged, lost, refused);
    }

    /** Without a check of tokens nothing is promised. */
    private void broken(Findings findings, String what, Event event, Optional<Event> instead) {
        if (guard == Guard.CHECKED) {
            findings.violated(
                    Promise.FENCING,
                    lock,
                    what,
                    instead.map(other -> List.of(event, other)).orElse(List.of(event)));
        }
    }

    /** One write: its invoke, then its outcome. */
    private static final class Written {

        private Event ended;

        Written(Event first) {
            ended = first;
        }

        boolean is(Phase phase) {
            return ended.phase() == phase;
        }

        String previous() {
            String previous = ended.previous();
            return previous == null ? "" : previous;
        }
    }
}
