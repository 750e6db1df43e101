package io.holdfast.proxy;

import java.nio.ByteBuffer;
import java.util.EnumMap;
import java.util.Map;

/** Counts top-level values of the Redis protocol in both directions. */
final class RespCounter implements RequestCounter {

    private final Map<Direction, ValueCounter> counters = new EnumMap<>(Map.of(
            Direction.TO_SERVER, new ValueCounter(),
            Direction.TO_CLIENT, new ValueCounter()));

    @Override
    public int count(Direction direction, ByteBuffer bytes) {
        ValueCounter counter = counters.get(direction);
        int values = 0;
        while (bytes.hasRemaining()) {
            if (counter.endsValue(bytes)) {
                values++;
            }
        }
        return values;
    }

    /*
     * A value is a line, "<type><rest>\r\n", that may announce more: '$', '=' and '!' announce that many bytes and a line end,
     * '*', '~' and '>' that many values, '%' twice as many, '|' twice as many and then the value they belong to. Values that
     * are announced and not yet seen are "open"; a top-level value is complete when none is open. A line of no known type is
     * an inline command, or anything else, and stands for itself.
     */
    private static final class ValueCounter {

        private static final int LONGEST_NUMBER = 20;

        private final StringBuilder line = new StringBuilder();
        private long openValues = 1;
        private long bytesToSkip;

        /** Takes one byte, or many of a text; says whether a top-level value ends with it. */
        boolean endsValue(ByteBuffer bytes) {
            if (bytesToSkip > 0) {
                int skipped = (int) Math.min(bytesToSkip, bytes.remaining());
                bytes.position(bytes.position() + skipped);
                bytesToSkip -= skipped;
                return bytesToSkip == 0 && closeValue();
            }
            char c = (char) (bytes.get() & 0xff);
            if (c != '\n') {
                if (line.length() < LONGEST_NUMBER) {
                    line.append(c);
                }
                return false;
            }
            boolean ended = endLine();
            line.setLength(0);
            return ended;
        }

        private boolean endLine() {
            char type = line.isEmpty() ? '\r' : line.charAt(0);
            switch (type) {
                case '$', '=', '!' -> {
                    long length = announced();
                    if (length < 0) {
                        return closeValue();
                    }
                    bytesToSkip = length + 2;
                    return false;
                }
                case '*', '~', '>' -> openValues += Math.max(0, announced());
                case '%' -> openValues += 2 * announced();
                case '|' -> openValues += 2 * announced() + 1;
                case '\r' -> {
                    return false; // an empty line between inline commands
                }
                default -> {}
            }
            return closeValue();
        }

        private boolean closeValue() {
            openValues--;
            if (openValues > 0) {
                return false;
            }
            openValues = 1;
            return true;
        }

        private long announced() {
            try {
                return Long.parseLong(line.substring(1).trim());
            } catch (NumberFormatException notResp) {
                return 0;
            }
        }
    }
}
