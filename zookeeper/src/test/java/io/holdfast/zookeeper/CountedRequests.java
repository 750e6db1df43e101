package io.holdfast.zookeeper;

import static java.util.Map.entry;

import io.holdfast.proxy.Direction;
import io.holdfast.proxy.RequestCounter;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;

/** What kinds of requests went through a proxy, told by the frames of ZooKeeper's protocol. Thread-safe. */
final class CountedRequests implements Supplier<RequestCounter> {

    private static final Map<Integer, String> KINDS = Map.ofEntries(
            entry(1, "create"),
            entry(2, "delete"),
            entry(3, "exists"),
            entry(4, "getData"),
            entry(5, "setData"),
            entry(8, "getChildren"),
            entry(9, "sync"),
            entry(12, "getChildren2"),
            entry(14, "multi"),
            entry(15, "create2"),
            entry(17, "checkWatches"),
            entry(18, "removeWatches"),
            entry(19, "createContainer"),
            entry(101, "setWatches"),
            entry(105, "setWatches2"),
            entry(106, "addWatch"));

    private final Map<String, Integer> counts = new TreeMap<>();
    private long total;

    @Override
    public RequestCounter get() {
        return new Frames();
    }

    /** Probes and pings are not among them. */
    synchronized Map<String, Integer> sinceLastAsked() {
        Map<String, Integer> seen = new TreeMap<>(counts);
        counts.clear();
        return seen;
    }

    /** Of that kind, since last asked for all. */
    synchronized int count(String kind) {
        return counts.getOrDefault(kind, 0);
    }

    synchronized long total() {
        return total;
    }

    private synchronized void count(int kind) {
        String name = KINDS.get(kind);
        if (name != null && !name.equals("exists")) {
            counts.merge(name, 1, Integer::sum);
            total++;
        }
    }

    private final class Frames implements RequestCounter {

        private final ByteArrayOutputStream unread = new ByteArrayOutputStream();
        private boolean greeted;

        @Override
        public int count(Direction direction, ByteBuffer bytes) {
            if (direction == Direction.TO_CLIENT) {
                bytes.position(bytes.limit());
                return 0;
            }
            byte[] more = new byte[bytes.remaining()];
            bytes.get(more);
            unread.writeBytes(more);
            ByteBuffer all = ByteBuffer.wrap(unread.toByteArray());
            int complete = 0;
            while (all.remaining() >= 4 && all.remaining() - 4 >= all.getInt(all.position())) {
                int length = all.getInt();
                if (greeted) {
                    CountedRequests.this.count(all.getInt(all.position() + 4));
                }
                greeted = true;
                all.position(all.position() + length);
                complete++;
            }
            unread.reset();
            unread.write(all.array(), all.position(), all.remaining());
            return complete;
        }
    }
}
