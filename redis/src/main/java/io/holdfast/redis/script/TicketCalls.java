package io.holdfast.redis.script;

import io.holdfast.spi.Ticket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import redis.clients.jedis.args.Rawable;

/** Makes calls that keep many tickets at once. Immutable. */
public final class TicketCalls {

    /**
     * One call, and the tickets in the order of its replies.
     *
     * @param tickets all of one lock where a script must not touch several slots
     */
    public record Batch(ScriptCall call, List<Ticket> tickets) {}

    private final KnownKeys knownKeys;
    private final String channel;
    private final String counterLife;

    /** @param channel where scripts tell this client things */
    public TicketCalls(KnownKeys knownKeys, String channel, Duration counterLife) {
        this.knownKeys = knownKeys;
        this.channel = channel;
        this.counterLife = String.valueOf(counterLife.toMillis());
    }

    /** Of tickets that are held. Only the lock keys are needed. */
    public Batch renew(List<Ticket> held, Function<Ticket, Duration> ttl) {
        Map<LockKeys, List<Ticket>> byLock = byLock(held);
        List<Rawable> keys = new ArrayList<>(held.size());
        List<Rawable> optional = new ArrayList<>();
        List<String> arguments = new ArrayList<>(4 * held.size());
        arguments.add(String.valueOf(byLock.size()));
        byLock.forEach((lock, tickets) -> {
            String mode = Script.mode(tickets.get(0));
            keys.add(lock.encoded().get(0));
            if (!mode.equals("x")) {
                optional.add(lock.encoded().get(1));
            }
            arguments.add(mode);
            add(arguments, tickets, ttl);
        });
        keys.addAll(optional);
        return batch(Script.RENEW, byLock, keys, optional.size(), arguments);
    }

    /** Of tickets that wait, as far as we know. */
    public Batch heartbeat(List<Ticket> waiting, Function<Ticket, Duration> ttl) {
        Map<LockKeys, List<Ticket>> byLock = byLock(waiting);
        List<Rawable> keys = new ArrayList<>(6 * byLock.size());
        List<String> arguments = new ArrayList<>(3 * waiting.size());
        arguments.add(channel);
        byLock.forEach((lock, tickets) -> {
            keys.addAll(lock.encoded());
            add(arguments, tickets, ttl);
        });
        arguments.add(counterLife);
        return batch(Script.HEARTBEAT, byLock, keys, 0, arguments);
    }

    private Map<LockKeys, List<Ticket>> byLock(List<Ticket> all) {
        Map<LockKeys, List<Ticket>> byLock = new LinkedHashMap<>();
        for (Ticket ticket : all) {
            byLock.computeIfAbsent(knownKeys.of(ticket), lock -> new ArrayList<>(1))
                    .add(ticket);
        }
        return byLock;
    }

    private static void add(List<String> arguments, List<Ticket> tickets, Function<Ticket, Duration> ttl) {
        arguments.add(String.valueOf(tickets.size()));
        for (Ticket ticket : tickets) {
            arguments.add(Script.owner(ticket));
            arguments.add(Script.millis(ttl.apply(ticket)));
        }
    }

    private static Batch batch(
            Script script,
            Map<LockKeys, List<Ticket>> byLock,
            List<Rawable> keys,
            int optionalKeys,
            List<String> arguments) {
        LockKeys first = byLock.keySet().iterator().next();
        List<Ticket> tickets = byLock.values().stream().flatMap(List::stream).toList();
        return new Batch(new ScriptCall(script, first.slot(), first.name(), keys, optionalKeys, arguments), tickets);
    }
}
