package io.holdfast.torture.check;

import io.holdfast.spi.Tokens;
import io.holdfast.torture.history.Event;
import io.holdfast.torture.history.Operation;
import io.holdfast.torture.history.Phase;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The events of a run, put together to acquisitions and requests per lock. */
final class RunHistory {

    private final Rules rules;
    private final Map<String, LockHistory> locks = new TreeMap<>();
    private final Map<String, Attempt> attempts = new HashMap<>();
    private final Map<ClaimKey, Claim> claims = new HashMap<>();
    private final Map<GrantKey, Claim> grants = new HashMap<>();
    private final Map<String, Long> lastSignOfLife = new HashMap<>();
    private long operations;

    /** @param events in order of time */
    RunHistory(List<Event> events, Rules rules) {
        this.rules = rules;
        events.forEach(this::add);
    }

    Collection<LockHistory> locks() {
        return locks.values();
    }

    long operations() {
        return operations;
    }

    /** When a process was last heard of. */
    long lastSignOfLife(String process) {
        return lastSignOfLife.getOrDefault(process, Long.MIN_VALUE);
    }

    private void add(Event event) {
        lastSignOfLife.put(event.process(), event.nanos());
        String lock = event.lock();
        if (lock == null) {
            return;
        }
        LockHistory history = locks.computeIfAbsent(lock, LockHistory::new);
        if (event.phase() == Phase.INVOKE) {
            operations++;
        }
        switch (event.operation()) {
            case QUEUED, GRANTED, RENEWED, UNQUEUED -> addToClaim(event, lock, history);
            case READ, WRITE, FINAL -> history.resourceEvents().add(event);
            case LEFTOVERS -> history.leftovers().add(event);
            default -> addToAttempt(event, lock, history);
        }
    }

    private void addToClaim(Event event, String lock, LockHistory history) {
        String owner = event.owner();
        if (owner == null) {
            return;
        }
        Claim claim = claims.computeIfAbsent(new ClaimKey(lock, owner), unused -> {
            Claim made = new Claim(rules);
            history.claims().add(made);
            return made;
        });
        claim.add(event);
        Long token = event.token();
        if (event.operation() == Operation.GRANTED && token != null) {
            grants.put(new GrantKey(event.process(), lock, Tokens.ofStore(token)), claim);
        }
    }

    private void addToAttempt(Event event, String lock, LockHistory history) {
        String id = event.acquisition();
        if (id == null) {
            return;
        }
        if (event.is(Operation.ACQUIRE, Phase.INVOKE)) {
            Attempt attempt = new Attempt(event);
            attempts.put(id, attempt);
            history.attempts().add(attempt);
            return;
        }
        Attempt attempt = attempts.get(id);
        if (attempt == null) {
            return;
        }
        attempt.add(event);
        if (event.is(Operation.ACQUIRE, Phase.OK)) {
            attempt.belongsTo(grantOf(event.process(), lock, attempt.token()));
        }
    }

    private @Nullable Claim grantOf(String process, String lock, long token) {
        return grants.get(new GrantKey(process, lock, Tokens.ofStore(token)));
    }

    /** What the events say about one lock. */
    record LockHistory(
            String lock,
            List<Attempt> attempts,
            List<Claim> claims,
            List<Event> resourceEvents,
            List<Event> leftovers) {

        LockHistory(String lock) {
            this(lock, new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        }

        List<Attempt> granted() {
            return attempts.stream().filter(Attempt::isGranted).toList();
        }
    }

    private record ClaimKey(String lock, String owner) {}

    private record GrantKey(String process, String lock, long storeToken) {}
}
