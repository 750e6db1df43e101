package io.holdfast.redis;

import io.holdfast.LockView;
import io.holdfast.StoreUnavailableException;
import io.holdfast.redis.script.LockKeys;
import io.holdfast.redis.script.Micros;
import io.holdfast.redis.script.Script;
import io.holdfast.redis.script.ScriptCall;
import io.holdfast.redis.script.ScriptCalls;
import io.holdfast.redis.script.ScriptReply;
import io.holdfast.redis.script.ViewPages;
import io.holdfast.redis.server.Failures;
import io.holdfast.redis.server.Node;
import io.holdfast.redis.server.Replies;
import io.holdfast.redis.server.ServerCommands;
import io.holdfast.redis.server.Topology;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.LockStore;
import java.time.Duration;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisException;

/** Looks at locks, one or all by walking the keys of all servers: for administrators, never on the way to a lock. Thread-safe. */
final class KeyWalk {

    private static final String FIRST_CURSOR = "0";
    private static final String KEYS_PER_SCAN = "1000";
    private static final String[] FIRST_PART = new ViewPages("").next();

    /** What is looked for at a server, one after the other. */
    private enum Stage {
        /** Lock keys: held locks. */
        HELD,
        /** Queues of locks nobody holds: those of held ones have been shown. */
        WAITED_FOR;

        boolean shows(LockView view) {
            return view.isHeld()
                    ? this == HELD
                    : this == WAITED_FOR && !view.waiters().isEmpty();
        }
    }

    /**
     * How far a listing has come.
     *
     * @param server whose keys are walked
     * @param cursor with which SCAN goes on there
     * @param shown the last key shown of what SCAN answers to that cursor, in order; empty if none
     */
    private record Position(Stage stage, String server, String cursor, String shown) {

        private static final String SEPARATOR = "|";

        static Position parse(String text) {
            String[] parts = text.split("\\|", 4);
            if (parts.length < 4) {
                throw new IllegalArgumentException("not where a listing goes on: " + text);
            }
            return new Position(Stage.valueOf(parts[0]), parts[1], parts[2], parts[3]);
        }

        static Position beginningOf(String server) {
            return new Position(Stage.HELD, server, FIRST_CURSOR, "");
        }

        @Override
        public String toString() {
            return String.join(SEPARATOR, stage.name(), server, cursor, shown);
        }
    }

    private final String prefix;
    private final Topology topology;
    private final ScriptCalls calls;
    private final ServerCommands commands;

    KeyWalk(String prefix, Topology topology, ScriptCalls calls, ServerCommands commands) {
        this.prefix = prefix;
        this.topology = topology;
        this.calls = calls;
        this.commands = commands;
    }

    /**
     * Holds no state between pages, so a lock that is taken, given up or moved meanwhile may be missing, or come twice. Some locks
     * of one SCAN answer are left for the next page by asking for the same answer again.
     */
    LockStore.Page views(String namePrefix, Optional<String> after, int limit, Deadline deadline) {
        return walk(deadline, () -> {
            List<Node> servers = servers(deadline);
            Optional<Position> next = Optional.of(begin(after, servers));
            Map<String, LockView> found = new LinkedHashMap<>();
            while (next.isPresent() && found.size() < limit) {
                next = show(next.get(), servers, namePrefix, limit - found.size(), found, deadline);
            }
            return new LockStore.Page(List.copyOf(found.values()), next.map(Position::toString));
        });
    }

    private List<Node> servers(Deadline deadline) {
        return topology.primaries(deadline).stream()
                .sorted(Comparator.comparing(Node::id))
                .toList();
    }

    private static Position begin(Optional<String> after, List<Node> servers) {
        Position beginning = Position.beginningOf(servers.get(0).id());
        // Where that server does not serve any more, its cursor says nothing: a lock shown twice is better than one
        // left out.
        return after.map(Position::parse)
                .filter(position -> servers.stream().anyMatch(node -> node.id().equals(position.server)))
                .orElse(beginning);
    }

    /** Shows up to that many of one SCAN answer. Returns where to go on. */
    private Optional<Position> show(
            Position at,
            List<Node> servers,
            String namePrefix,
            int limit,
            Map<String, LockView> found,
            Deadline deadline) {
        Node server = servers.stream()
                .filter(node -> node.id().equals(at.server))
                .findFirst()
                .orElseThrow();
        String pattern = at.stage == Stage.HELD
                ? LockKeys.lockPattern(prefix, namePrefix)
                : LockKeys.queuePattern(prefix, namePrefix);
        ScanAnswer scanned = scan(server, at.cursor, pattern, deadline);
        List<String> left = scanned.keys.tailSet(at.shown + '\0').stream().toList();
        List<String> now = left.subList(0, Math.min(limit, left.size()));
        List<LockKeys> locks =
                now.stream().flatMap(key -> lockOf(at.stage, key).stream()).toList();
        Reader reader = (keys, reply) -> {
            LockView view = view(keys, reply, deadline).view();
            if (at.stage.shows(view)) {
                found.put(view.name(), view);
            }
        };
        call(Script.VIEW, locks, deadline, reader, FIRST_PART);
        if (now.size() < left.size()) {
            return Optional.of(new Position(at.stage, at.server, at.cursor, now.get(now.size() - 1)));
        }
        return next(at, scanned.cursor, servers);
    }

    /** All of one lock. */
    ViewPages view(LockKeys keys, Deadline deadline) {
        return view(keys, calls.run(Script.VIEW, keys, deadline, FIRST_PART), deadline);
    }

    private ViewPages view(LockKeys keys, ScriptReply firstReply, Deadline deadline) {
        ViewPages pages = new ViewPages(keys.name());
        boolean isMore = pages.add(firstReply.value());
        while (isMore) {
            isMore = pages.add(
                    calls.run(Script.VIEW, keys, deadline, pages.next()).value());
        }
        return pages;
    }

    private Optional<LockKeys> lockOf(Stage stage, String key) {
        if (stage == Stage.WAITED_FOR) {
            return LockKeys.ofQueueKey(prefix, key);
        }
        // With an empty prefix the pattern fits the other keys of locks as well.
        return key.startsWith("{") ? Optional.empty() : Optional.of(LockKeys.ofLockKey(prefix, key));
    }

    private static Optional<Position> next(Position at, String cursor, List<Node> servers) {
        if (!cursor.equals(FIRST_CURSOR)) {
            return Optional.of(new Position(at.stage, at.server, cursor, ""));
        }
        if (at.stage == Stage.HELD) {
            return Optional.of(new Position(Stage.WAITED_FOR, at.server, FIRST_CURSOR, ""));
        }
        return servers.stream()
                .map(Node::id)
                .filter(id -> id.compareTo(at.server) > 0)
                .findFirst()
                .map(Position::beginningOf);
    }

    int prune(Duration idleFor, Deadline deadline) {
        String idleMicros = Micros.text(idleFor);
        String pattern = LockKeys.counterPattern(prefix);
        AtomicInteger removed = new AtomicInteger();
        return walk(deadline, () -> {
            for (Node server : topology.primaries(deadline)) {
                String cursor = FIRST_CURSOR;
                do {
                    ScanAnswer scanned = scan(server, cursor, pattern, deadline);
                    List<LockKeys> locks = scanned.keys.stream()
                            .flatMap(key -> LockKeys.ofCounterKey(prefix, key).stream())
                            .toList();
                    call(
                            Script.PRUNE,
                            locks,
                            deadline,
                            (keys, reply) -> removed.addAndGet((int) reply.number()),
                            idleMicros);
                    cursor = scanned.cursor;
                } while (!cursor.equals(FIRST_CURSOR));
            }
            return removed.get();
        });
    }

    private record ScanAnswer(String cursor, SortedSet<String> keys) {}

    private ScanAnswer scan(Node server, String cursor, String pattern, Deadline deadline) {
        if (deadline.hasPassed()) {
            throw new JedisException("walking its keys took too long");
        }
        List<?> answer = (List<?>)
                commands.send(server, deadline, Command.SCAN, cursor, "MATCH", pattern, "COUNT", KEYS_PER_SCAN);
        SortedSet<String> keys = new TreeSet<>();
        ((List<?>) answer.get(1)).stream().map(Replies::text).forEach(keys::add);
        return new ScanAnswer(Replies.text(answer.get(0)), keys);
    }

    private interface Reader {
        void read(LockKeys keys, ScriptReply reply);
    }

    private void call(Script script, List<LockKeys> locks, Deadline deadline, Reader reader, String... arguments) {
        List<ScriptCall> scripts =
                locks.stream().map(keys -> calls.call(script, keys, arguments)).toList();
        if (!scripts.isEmpty()) {
            calls.runAll(
                    scripts, deadline, (number, outcome) -> reader.read(locks.get(number), outcome.replyOrThrow()));
        }
    }

    private <T> T walk(Deadline deadline, Supplier<T> walk) {
        try {
            return commands.read(deadline, walk);
        } catch (JedisException e) {
            throw StoreUnavailableException.ofWholeStore(Failures.reason(e, Failures.SERVER), e);
        }
    }
}
