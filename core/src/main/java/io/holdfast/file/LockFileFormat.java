package io.holdfast.file;

import io.holdfast.Demand;
import io.holdfast.LockView.Origin;
import io.holdfast.file.Entry.State;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.support.OriginText;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of one lock's file:
 *
 * <pre>
 *    0  header   HOLDFAST, version, the lock's name, checksum       never changes
 *  640  head     generation, place, length and checksum of the table, checksum of the head
 *  768… tables   the current one, and room for the next
 * </pre>
 *
 * <p>A new table is written where the current one is not, then one small write of the head makes it current. A process
 * killed at any point leaves the old table or the new one. The head lies within one page, which the kernel fills
 * without looking for signals, so a head that does not add up was not left by a kill: it is an error, as everything
 * else that does not add up is. Not thread-safe.
 */
final class LockFileFormat {

    private static final byte[] MAGIC = "HOLDFAST".getBytes(StandardCharsets.US_ASCII);
    private static final int VERSION = 1;
    private static final int HEAD_AT = 640;
    private static final int HEAD_BYTES = 32;
    private static final int TABLES_AT = 768;
    /** A table of a few entries comes with the first read. */
    private static final int FIRST_READ = 4096;
    /** Some 20,000 waiters; more is a program gone wild, and each change would take too long. */
    private static final int MAX_TABLE = 4 << 20;

    private static final int MAX_ORIGIN_CHARS = 200;

    private final Path path;
    private final String boot;
    private final byte[] header;
    private final byte[] buffer = new byte[FIRST_READ];

    /** Where the current table is, as of the last read or write. */
    private Head head = NONE;

    private static final Head NONE = new Head(0, TABLES_AT, 0, 0);

    private record Head(long generation, long at, int length, int checksum) {
        boolean sameAs(Head other) {
            return generation == other.generation
                    && at == other.at
                    && length == other.length
                    && checksum == other.checksum;
        }
    }

    /** What was read; {@code sameBoot} is whether its times count on the clock of today. */
    record Content(Table table, boolean sameBoot) {}

    LockFileFormat(Path path, String lock, String boot) {
        this.path = path;
        this.boot = boot;
        this.header = header(lock);
    }

    /** From now on it is about another file at the same path. */
    void reset() {
        head = NONE;
    }

    /** A whole file of a lock that was never held. */
    byte[] fresh() {
        byte[] table = encode(new Table(1, 0, List.of()));
        ByteBuffer file = ByteBuffer.allocate(TABLES_AT + table.length);
        file.put(header).position(HEAD_AT);
        file.put(encode(new Head(1, TABLES_AT, table.length, checksum(table, 0, table.length))));
        file.position(TABLES_AT).put(table);
        return file.array();
    }

    /** The name in the header, whatever lock it is. */
    static String lockIn(OpenFile file, Path path) throws IOException {
        byte[] bytes = new byte[HEAD_AT];
        int length = file.read(0, bytes);
        ByteBuffer in = ByteBuffer.wrap(bytes, 0, length);
        if (length < HEAD_AT || !Arrays.equals(bytes, 0, MAGIC.length, MAGIC, 0, MAGIC.length)) {
            throw new CorruptFileException(path, "is not a lock file of Holdfast");
        }
        in.position(MAGIC.length + Integer.BYTES);
        int nameLength = in.getShort();
        if (nameLength < 1 || nameLength > in.remaining()) {
            throw new CorruptFileException(path, "has a damaged header");
        }
        return new String(bytes, in.position(), nameLength, StandardCharsets.UTF_8);
    }

    /** Reads the current table; {@code known} is returned again if it still is the current one. */
    Content read(OpenFile file, @Nullable Table known) throws IOException {
        int length = file.read(0, buffer);
        if (length < TABLES_AT || !Arrays.equals(buffer, 0, header.length, header, 0, header.length)) {
            throw new CorruptFileException(path, whyNotOurs(length));
        }
        Head now = decodeHead(ByteBuffer.wrap(buffer, HEAD_AT, HEAD_BYTES));
        if (known != null && now.sameAs(head) && known.generation() == now.generation()) {
            return new Content(known, true);
        }
        // Not forgotten by the next read: the state before was the true one, and somebody may hold the lock by it.
        if (now.generation() < head.generation() || (now.generation() == head.generation() && !now.sameAs(head))) {
            throw new CorruptFileException(path, "went back to an earlier state: was a copy put in its place?");
        }
        byte[] table = buffer;
        int from = (int) now.at();
        if (now.at() + now.length() > length) {
            table = new byte[now.length()];
            from = 0;
            if (file.read(now.at(), table) < table.length) {
                throw new CorruptFileException(path, "is cut off");
            }
        }
        if (checksum(table, from, now.length()) != now.checksum()) {
            throw new CorruptFileException(path, "has a damaged table");
        }
        Content content = decode(table, from, now);
        head = now;
        return content;
    }

    /** A table made ready to be written where the current one is not. */
    final class Update {
        private final byte[] bytes;
        private final Head next;

        private Update(byte[] bytes, Head next) {
            this.bytes = bytes;
            this.next = next;
        }

        /** Nothing has happened if this fails. */
        void write(OpenFile file) throws IOException {
            file.write(next.at(), bytes);
        }

        /** Makes it the current one; if this fails, it may have become so or not. */
        void flip(OpenFile file) throws IOException {
            file.write(HEAD_AT, encode(next));
            head = next;
        }
    }

    Update update(Table table) throws IOException {
        byte[] bytes = encode(table);
        if (bytes.length > MAX_TABLE) {
            throw new IOException(
                    path + " would grow beyond " + MAX_TABLE + " bytes: too many wait for this lock at once");
        }
        long at = TABLES_AT + bytes.length <= head.at() ? TABLES_AT : head.at() + head.length();
        return new Update(bytes, new Head(table.generation(), at, bytes.length, checksum(bytes, 0, bytes.length)));
    }

    private static byte[] header(String lock) {
        byte[] name = lock.getBytes(StandardCharsets.UTF_8);
        ByteBuffer header =
                ByteBuffer.allocate(MAGIC.length + Integer.BYTES + Short.BYTES + name.length + Integer.BYTES);
        header.put(MAGIC).putInt(VERSION).putShort((short) name.length).put(name);
        header.putInt(checksum(header.array(), 0, header.position()));
        return header.array();
    }

    private String whyNotOurs(int length) {
        if (length < MAGIC.length || !Arrays.equals(buffer, 0, MAGIC.length, MAGIC, 0, MAGIC.length)) {
            return length == 0 ? "is empty" : "is not a lock file of Holdfast";
        }
        if (length < TABLES_AT) {
            return "is cut off";
        }
        int version = ByteBuffer.wrap(buffer).getInt(MAGIC.length);
        if (version != VERSION) {
            return "has format " + version + ", this version of Holdfast knows format " + VERSION;
        }
        return "has a damaged header or belongs to another lock";
    }

    private static byte[] encode(Head head) {
        ByteBuffer bytes = ByteBuffer.allocate(HEAD_BYTES);
        bytes.putLong(head.generation())
                .putLong(head.at())
                .putInt(head.length())
                .putInt(head.checksum());
        return bytes.putInt(checksum(bytes.array(), 0, bytes.position())).array();
    }

    private Head decodeHead(ByteBuffer bytes) throws CorruptFileException {
        int from = bytes.position();
        Head decoded = new Head(bytes.getLong(), bytes.getLong(), bytes.getInt(), bytes.getInt());
        int expected = checksum(bytes.array(), from, bytes.position() - from);
        if (bytes.getInt() != expected
                || decoded.at() < TABLES_AT
                || decoded.length() < 0
                || decoded.length() > MAX_TABLE) {
            throw new CorruptFileException(path, "has a damaged head");
        }
        return decoded;
    }

    private byte[] encode(Table table) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(512);
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeLong(table.generation());
            out.writeUTF(boot);
            out.writeLong(table.lastToken());
            out.writeInt(table.entries().size());
            for (Entry entry : table.entries()) {
                encode(entry, out);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("memory does not fail", e);
        }
        return bytes.toByteArray();
    }

    private static void encode(Entry entry, DataOutputStream out) throws IOException {
        out.writeByte(entry.state().ordinal());
        out.writeUTF(entry.owner().client());
        out.writeLong(entry.owner().number());
        out.writeInt(entry.demand() instanceof Demand.Permits permits ? permits.count() : 0);
        out.writeInt(total(entry.demand()));
        out.writeUTF(entry.life());
        out.writeLong(entry.ttlNanos());
        out.writeLong(entry.expiresNanos());
        out.writeLong(entry.token());
        out.writeLong(entry.sinceMillis());
        out.writeUTF(cut(entry.origin().client()));
        out.writeUTF(cut(entry.origin().host()));
        out.writeLong(entry.origin().pid());
        out.writeUTF(OriginText.writeWork(entry.origin()));
    }

    /** Nobody needs more of a name to find somebody. */
    private static String cut(String text) {
        return text.length() <= MAX_ORIGIN_CHARS ? text : text.substring(0, MAX_ORIGIN_CHARS);
    }

    /** The total of permits; of none, 0 is exclusive and 1 is shared. */
    private static int total(Demand demand) {
        return demand instanceof Demand.Permits permits ? permits.total() : demand instanceof Demand.Shared ? 1 : 0;
    }

    private Content decode(byte[] bytes, int from, Head head) throws CorruptFileException {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes, from, head.length()))) {
            long generation = in.readLong();
            String writtenIn = in.readUTF();
            long lastToken = in.readLong();
            int count = in.readInt();
            if (generation != head.generation() || count < 0) {
                throw new CorruptFileException(path, "has a table that is not the one its head means");
            }
            List<Entry> entries = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                entries.add(decodeEntry(in));
            }
            return new Content(new Table(generation, lastToken, entries), boot.equals(writtenIn));
        } catch (CorruptFileException e) {
            throw e;
        } catch (IOException | RuntimeException e) {
            CorruptFileException corrupt = new CorruptFileException(path, "has a table that cannot be read");
            corrupt.initCause(e);
            throw corrupt;
        }
    }

    private static Entry decodeEntry(DataInputStream in) throws IOException {
        State state = State.values()[in.readByte()];
        OwnerId owner = new OwnerId(in.readUTF(), in.readLong());
        Demand demand = demand(in.readInt(), in.readInt());
        String life = in.readUTF();
        long ttl = in.readLong();
        long expires = in.readLong();
        long token = in.readLong();
        long since = in.readLong();
        Origin origin = OriginText.read(in.readUTF(), in.readUTF(), in.readLong(), in.readUTF());
        return new Entry(state, owner, demand, life, ttl, expires, token, since, origin);
    }

    private static Demand demand(int count, int total) {
        if (count > 0) {
            return Demand.permits(count, total);
        }
        return total == 1 ? Demand.shared() : Demand.exclusive();
    }

    private static int checksum(byte[] bytes, int from, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, from, length);
        return (int) crc.getValue();
    }
}
