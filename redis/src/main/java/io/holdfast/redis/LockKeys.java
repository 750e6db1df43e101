package io.holdfast.redis;

import java.util.List;
import java.util.Optional;
import redis.clients.jedis.util.JedisClusterCRC16;

/**
 * The four keys of a lock. Immutable.
 *
 * <p>The lock key is the prefix and the encoded name, so that a plain {@code SET NX} on it takes part. Braces would make
 * a hash tag of their own, and percent signs and control characters the encoding ambiguous or unreadable: those are
 * written as {@code %XX}, everything else stands for itself. The other keys wrap the lock key in braces, which puts all
 * four into one cluster slot.
 *
 * @param name the lock
 * @param lock the key whose existence means "held"
 */
record LockKeys(String name, String lock) {

    private static final String ESCAPED = "%{}";
    private static final String QUEUE = "}:queue";
    private static final String TICKETS = "}:tickets";
    private static final String COUNTER = "}:token";

    static LockKeys of(String prefix, String name) {
        return new LockKeys(name, prefix + encode(name));
    }

    /** The keys of the lock whose lock key this is. */
    static LockKeys ofLockKey(String prefix, String key) {
        return new LockKeys(decode(key.substring(prefix.length())), key);
    }

    /** The lock whose queue this key is, if it is one. */
    static Optional<LockKeys> ofQueueKey(String prefix, String key) {
        return ofWrapped(prefix, key, QUEUE);
    }

    /** The lock whose fencing counter this key is, if it is one. */
    static Optional<LockKeys> ofCounterKey(String prefix, String key) {
        return ofWrapped(prefix, key, COUNTER);
    }

    private static Optional<LockKeys> ofWrapped(String prefix, String key, String ending) {
        return key.startsWith("{" + prefix) && key.endsWith(ending)
                ? Optional.of(ofLockKey(prefix, key.substring(1, key.length() - ending.length())))
                : Optional.empty();
    }

    static String queuePattern(String prefix, String namePrefix) {
        return "{" + glob(prefix + encode(namePrefix)) + "*" + QUEUE;
    }

    static String lockPattern(String prefix, String namePrefix) {
        return glob(prefix + encode(namePrefix)) + "*";
    }

    static String counterPattern(String prefix) {
        return "{" + glob(prefix) + "*" + COUNTER;
    }

    String counter() {
        return "{" + lock + COUNTER;
    }

    String queue() {
        return "{" + lock + QUEUE;
    }

    String tickets() {
        return "{" + lock + TICKETS;
    }

    /** In the order the scripts expect. */
    List<String> all() {
        return List.of(lock, queue(), tickets(), counter());
    }

    int slot() {
        return JedisClusterCRC16.getSlot(lock);
    }

    static String encode(String name) {
        StringBuilder encoded = null;
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            if (c < ' ' || c == 0x7f || ESCAPED.indexOf(c) >= 0) {
                if (encoded == null) {
                    encoded = new StringBuilder(name.length() + 16).append(name, 0, i);
                }
                encoded.append('%')
                        .append(Character.toUpperCase(Character.forDigit(c >> 4, 16)))
                        .append(Character.toUpperCase(Character.forDigit(c & 15, 16)));
            } else if (encoded != null) {
                encoded.append(c);
            }
        }
        return encoded == null ? name : encoded.toString();
    }

    /** A foreign key may hold anything: what is not an escape stands for itself. */
    static String decode(String encoded) {
        if (encoded.indexOf('%') < 0) {
            return encoded;
        }
        StringBuilder name = new StringBuilder(encoded.length());
        for (int i = 0; i < encoded.length(); i++) {
            char c = encoded.charAt(i);
            int high = c == '%' && i + 2 < encoded.length() ? Character.digit(encoded.charAt(i + 1), 16) : -1;
            int low = high >= 0 ? Character.digit(encoded.charAt(i + 2), 16) : -1;
            if (low >= 0) {
                name.append((char) (high << 4 | low));
                i += 2;
            } else {
                name.append(c);
            }
        }
        return name.toString();
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
