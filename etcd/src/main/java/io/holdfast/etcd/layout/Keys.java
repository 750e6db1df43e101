package io.holdfast.etcd.layout;

import com.google.protobuf.ByteString;
import io.holdfast.spi.support.PercentEncoding;
import java.util.Optional;

/**
 * Where things lie in etcd: the ticket of a lock at {@code <prefix><name>/<slot>}, a session at
 * {@code <prefix>%session/<lease hex>}.
 *
 * <p>Slots are numbers, few, used again and shared by all clients: etcd remembers the name of a deleted key until it is compacted,
 * and every range over a lock's keys passes all of them. So a name says nothing about whose ticket it is: its create revision does.
 *
 * <p>All keys below {@code <prefix><name>/} are tickets of that lock, whoever wrote them. So a slash inside a name is
 * escaped, else the tickets of {@code a/b} would be in the queue for {@code a}; and so is the per cent sign, which keeps
 * escaped names apart from literal ones and no name can collide with {@code %session}. Immutable.
 */
public final class Keys {

    /** What a session's own key says after a forced release, before the create revision of the ticket that was taken. */
    public static final String FORCED = "forced ";

    private static final String SESSIONS = "%session/";
    private static final PercentEncoding NAMES = new PercentEncoding(c -> c != '/');

    /** No other slot begins so: those are numbers, or begin with hex digits, as do the keys of Go's mutex. */
    private static final ByteString READERS = ByteString.copyFromUtf8("shared-");

    private static final ByteString ZERO = ByteString.copyFrom(new byte[1]);

    private final String prefix;

    public Keys(String prefix) {
        this.prefix = prefix;
    }

    /** The start of all keys of a lock. */
    public ByteString queue(String name) {
        return ByteString.copyFromUtf8(prefix + NAMES.encode(name) + "/");
    }

    /** The start of all keys of a lock in readers' slots. */
    public static ByteString readers(ByteString queue) {
        return queue.concat(READERS);
    }

    /** A number of a readers' slot, as of any other. */
    public static String numberOf(String slot) {
        String start = READERS.toStringUtf8();
        return slot.startsWith(start) ? slot.substring(start.length()) : slot;
    }

    public ByteString session(long lease) {
        return ByteString.copyFromUtf8(prefix + SESSIONS + Long.toHexString(lease));
    }

    /** Says that a client still writes tickets on a lease that is not its own. */
    public ByteString marker(long lease, String client) {
        return ByteString.copyFromUtf8(prefix + SESSIONS + Long.toHexString(lease) + "-" + client);
    }

    /** The last part of a ticket's key. */
    public static String slotOf(ByteString ticket) {
        String text = ticket.toStringUtf8();
        return text.substring(text.lastIndexOf('/') + 1);
    }

    /** The start of all keys of locks whose name begins so. */
    public ByteString namesBeginningWith(String namePrefix) {
        return ByteString.copyFromUtf8(prefix + NAMES.encode(namePrefix));
    }

    /** The name of the lock a ticket's key belongs to; empty for keys that are no tickets. */
    public Optional<String> lockOf(ByteString key) {
        String text = key.toStringUtf8();
        int end = text.indexOf('/', prefix.length());
        if (!text.startsWith(prefix) || end <= prefix.length() || text.startsWith(SESSIONS, prefix.length())) {
            return Optional.empty();
        }
        return NAMES.decode(text.substring(prefix.length(), end));
    }

    /** etcd wants a key to begin a range with: a zero byte is the first there can be. */
    public static ByteString orFirst(ByteString start) {
        return start.isEmpty() ? ZERO : start;
    }

    /** The first key behind all keys that begin so. */
    public static ByteString endOf(ByteString start) {
        byte[] bytes = start.toByteArray();
        for (int i = bytes.length - 1; i >= 0; i--) {
            if (bytes[i] != (byte) 0xff) {
                bytes[i]++;
                return ByteString.copyFrom(bytes, 0, i + 1);
            }
        }
        // Nothing is behind: etcd reads a single zero byte as "to the end".
        return ZERO;
    }
}
