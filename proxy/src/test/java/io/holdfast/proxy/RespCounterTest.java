package io.holdfast.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class RespCounterTest {

    @Test
    void countsCommandsWhereverTheyAreCut() {
        assertThat(count("*2\r\n$3\r\nGET\r\n$5\r\na\r\n*9\r\n*1\r\n$4\r\nPING\r\n"))
                .isEqualTo(2);
    }

    @Test
    void countsInlineCommands() {
        assertThat(count("PING\r\n\r\nGET a\r\n")).isEqualTo(2);
    }

    @Test
    void countsRepliesOfEveryType() {
        assertThat(count("+OK\r\n-ERR no\r\n:12\r\n$-1\r\n*-1\r\n_\r\n#t\r\n,1.5\r\n(123\r\n=7\r\ntxt:abc\r\n"))
                .isEqualTo(10);
    }

    @Test
    void countsNestedRepliesAsOne() {
        assertThat(count("*2\r\n*2\r\n:1\r\n:2\r\n$0\r\n\r\n")).isEqualTo(1);
        assertThat(count("%1\r\n+key\r\n*0\r\n~1\r\n:1\r\n")).isEqualTo(2);
        assertThat(count(">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nm\r\n")).isEqualTo(1);
        assertThat(count("|1\r\n+ttl\r\n:3600\r\n*1\r\n:1\r\n")).isEqualTo(1);
    }

    private static int count(String traffic) {
        byte[] bytes = traffic.getBytes(StandardCharsets.US_ASCII);
        int whole = RequestCounter.resp().count(Direction.TO_CLIENT, ByteBuffer.wrap(bytes));
        RequestCounter counter = RequestCounter.resp();
        int byByte = 0;
        for (byte b : bytes) {
            byByte += counter.count(Direction.TO_CLIENT, ByteBuffer.wrap(new byte[] {b}));
        }
        assertThat(byByte).as("counted byte by byte").isEqualTo(whole);
        return whole;
    }
}
