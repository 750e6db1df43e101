package io.holdfast.redis.script;

import io.holdfast.spi.support.PercentEncoding;
import java.util.List;
import java.util.Optional;
import redis.clients.jedis.args.Rawable;
import redis.clients.jedis.args.RawableFactory;
import redis.clients.jedis.util.JedisClusterCRC16;

/**
 * The six keys of a lock. Immutable.
 *
 * <p>The lock key is the prefix and the encoded name, so that a plain {@code SET NX} on it takes part. Braces would make
 * a hash tag of their own, and percent signs and control characters the encoding ambiguous or unreadable: those are
 * written as {@code %XX}, everything else stands for itself. The other keys wrap the lock key in braces, which puts all
 * of them into one cluster slot.
 *
 * @param name the lock
 * @param lock the key whose existence means "held"
 * @param all in the order the scripts expect
 * @param encoded the same as they are sent: every request names all of them
 * @param slot of a cluster, in which all of them are
 */
public record LockKeys(String name, String lock, List<String> all, List<Rawable> encoded, int slot) {

    private static final PercentEncoding NAMES =
            new PercentEncoding(c -> c >= ' ' && c != 0x7f && c != '{' && c != '}');
    private static final String QUEUE = "}:queue";
    private static final String HOLDERS = "}:holders";
    private static final String HEARTBEATS = "}:heartbeats";
    private static final String TICKETS = "}:tickets";
    private static final String COUNTER = "}:token";

    public static LockKeys of(String prefix, String name) {
        return make(name, prefix + NAMES.encode(name));
    }

    private static LockKeys make(String name, String lock) {
        String wrapped = "{" + lock;
        List<String> all = List.of(
                lock, wrapped + HOLDERS, wrapped + QUEUE, wrapped + HEARTBEATS, wrapped + TICKETS, wrapped + COUNTER);
        List<Rawable> encoded = all.stream().map(RawableFactory::from).toList();
        return new LockKeys(name, lock, all, encoded, JedisClusterCRC16.getSlot(lock));
    }

    /** The keys of the lock whose lock key this is. A foreign key may hold anything: it is named as it is. */
    public static LockKeys ofLockKey(String prefix, String key) {
        String encoded = key.substring(prefix.length());
        return make(NAMES.decode(encoded).orElse(encoded), key);
    }

    /** The lock whose queue this key is, if it is one. */
    public static Optional<LockKeys> ofQueueKey(String prefix, String key) {
        return ofWrapped(prefix, key, QUEUE);
    }

    /** The lock whose fencing counter this key is, if it is one. */
    public static Optional<LockKeys> ofCounterKey(String prefix, String key) {
        return ofWrapped(prefix, key, COUNTER);
    }

    private static Optional<LockKeys> ofWrapped(String prefix, String key, String ending) {
        return key.startsWith("{" + prefix) && key.endsWith(ending)
                ? Optional.of(ofLockKey(prefix, key.substring(1, key.length() - ending.length())))
                : Optional.empty();
    }

    public static String queuePattern(String prefix, String namePrefix) {
        return "{" + glob(prefix + NAMES.encode(namePrefix)) + "*" + QUEUE;
    }

    public static String lockPattern(String prefix, String namePrefix) {
        return glob(prefix + NAMES.encode(namePrefix)) + "*";
    }

    public static String counterPattern(String prefix) {
        return "{" + glob(prefix) + "*" + COUNTER;
    }

    public String counter() {
        return all.get(5);
    }

    public String queue() {
        return all.get(2);
    }

    /** What holders that share the lock say of themselves. */
    public String holders() {
        return all.get(1);
    }

    public String heartbeats() {
        return all.get(3);
    }

    public String tickets() {
        return all.get(4);
    }

    private static String glob(String literal) {
        StringBuilder pattern = new StringBuilder(literal.length() + 8);
        for (char c : literal.toCharArray()) {
            if ("*?[]\\^-".indexOf(c) >= 0) {
                pattern.append('\\');
            }
            pattern.append(c);
        }
        return pattern.toString();
    }
}
