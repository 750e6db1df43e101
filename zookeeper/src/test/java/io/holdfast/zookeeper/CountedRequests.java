package io.holdfast.zookeeper;

import io.holdfast.proxy.Direction;
import io.holdfast.proxy.RequestCounter;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;

/** What kinds of requests went through a proxy, told by the frames of ZooKeeper's protocol. Thread-safe. */
final class CountedRequests implements Supplier<RequestCounter> {

    private static final Map<Integer, String> KINDS = Map.of(
            1,
            "create",
            2,
            "delete",
            3,
            "exists",
            4,
            "getData",
            5,
            "setData",
            8,
            "getChildren",
            15,
            "create2",
            19,
            "createContainer",
            12,
            "getChildren2",
            101,
            "setWatches");

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
