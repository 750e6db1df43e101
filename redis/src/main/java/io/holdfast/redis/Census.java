package io.holdfast.redis;

import io.holdfast.LockView;
import io.holdfast.StoreUnavailableException;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.StoreContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.stream.Stream;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisException;

/** Walks all keys of all servers: for administrators, never on the way to a lock. */
final class Census {

    private static final System.Logger LOG = System.getLogger(Census.class.getName());
    private static final String SCAN_COUNT = "1000";

    private final String prefix;
    private final Topology topology;
    private final Courier courier;
    private final AtomicBoolean inspected = new AtomicBoolean();

    Census(String prefix, Topology topology, Courier courier) {
        this.prefix = prefix;
        this.topology = topology;
        this.courier = courier;
    }

    List<LockView> views(String namePrefix, Deadline deadline) {
        Map<String, LockKeys> found = new TreeMap<>();
        Set<String> lockKeys = scan(LockKeys.lockPattern(prefix, namePrefix), namePrefix, deadline);
        lockKeys.stream()
                .filter(key -> !key.startsWith("{"))
                .map(key -> LockKeys.ofLockKey(prefix, key))
                .forEach(keys -> found.put(keys.name(), keys));
        scan(LockKeys.queuePattern(prefix, namePrefix), namePrefix, deadline).stream()
                .flatMap(key -> LockKeys.ofQueueKey(prefix, key).stream())
                .forEach(keys -> found.put(keys.name(), keys));
        List<LockView> views = new ArrayList<>();
        for (LockKeys keys : found.values()) {
            LockView view = Views.read(keys.name(), call(Script.VIEW, keys, deadline));
            if (view.isHeld() || !view.waiters().isEmpty()) {
                views.add(view);
            }
        }
        return views;
    }

    int prune(Duration idleFor, Deadline deadline) {
        String idleMicros = Script.micros(idleFor);
        Stream<LockKeys> counters = scan(LockKeys.counterPattern(prefix), "", deadline).stream()
                .flatMap(key -> LockKeys.ofCounterKey(prefix, key).stream());
        int removed = 0;
        for (LockKeys keys : counters.toList()) {
            removed += ((Long) call(Script.PRUNE, keys, deadline, idleMicros)).intValue();
        }
        return removed;
    }

    private Object call(Script script, LockKeys keys, Deadline deadline, String... arguments) {
        return courier.run(
                        new Courier.Call(
                                script, Node.Urgency.SHARED, keys.slot(), keys.name(), keys.all(), List.of(arguments)),
                        deadline)
                .value();
    }

    private Set<String> scan(String pattern, String about, Deadline deadline) {
        try {
            return courier.readAll(deadline, () -> scan(pattern, deadline));
        } catch (JedisException e) {
            throw new StoreUnavailableException(about, Courier.reason(e, Courier.SERVER), e);
        }
    }

    private Set<String> scan(String pattern, Deadline deadline) {
        Set<String> keys = new TreeSet<>();
        for (Node node : topology.primaries(deadline)) {
            String cursor = "0";
            do {
                List<?> page = (List<?>) courier.command(
                        node, deadline, Command.SCAN, List.of(cursor, "MATCH", pattern, "COUNT", SCAN_COUNT));
                cursor = Views.text(page.get(0));
                ((List<?>) page.get(1)).stream().map(Views::text).forEach(keys::add);
                if (deadline.hasPassed()) {
                    throw new JedisException("walking its keys took too long");
                }
            } while (!cursor.equals("0"));
        }
        return keys;
    }

    /** Looks at the servers' settings in the background, the first time it is called. */
    void inspectOnce(StoreContext context, Duration timeout) {
        if (inspected.compareAndSet(false, true)) {
            try {
                context.background().execute(() -> inspect(Deadline.after(context.time(), timeout)));
            } catch (RuntimeException | Error e) {
                // Whoever calls may just have been granted a lock.
                LOG.log(System.Logger.Level.DEBUG, "maxmemory-policy is not looked at", e);
            }
        }
    }

    private void inspect(Deadline deadline) {
        try {
            warnOfEviction(deadline);
        } catch (JedisException e) {
            LOG.log(System.Logger.Level.DEBUG, "cannot read maxmemory-policy", e);
        }
    }

    /** A server that evicts keys takes locks from their holders without telling anybody. */
    private void warnOfEviction(Deadline deadline) {
        for (Node node : topology.primaries(deadline)) {
            String info = Views.text(courier.command(node, deadline, Command.INFO, List.of("memory")));
            Function<String, String> value = field -> info.lines()
                    .filter(line -> line.startsWith(field + ":"))
                    .map(line -> line.substring(field.length() + 1).trim())
                    .findFirst()
                    .orElse("");
            String policy = value.apply("maxmemory_policy").toLowerCase(Locale.ROOT);
            if (!policy.isEmpty() && !policy.equals("noeviction")) {
                LOG.log(
                        System.Logger.Level.WARNING,
                        "Redis at {0} has maxmemory-policy {1}: when it runs full it drops locks that are held. Set it to"
                                + " noeviction, or give locks a server of their own.",
                        node.id(),
                        policy);
            }
        }
    }
}
