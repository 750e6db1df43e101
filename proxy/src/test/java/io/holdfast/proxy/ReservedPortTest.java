package io.holdfast.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ReservedPortTest {

    @Test
    void isGivenToOneOnly() {
        List<ReservedPort> ports = new ArrayList<>();
        try {
            IntStream.range(0, 500).forEach(i -> ports.add(ReservedPort.pick()));
            assertThat(ports).extracting(ReservedPort::number).doesNotHaveDuplicates();
        } finally {
            ports.forEach(ReservedPort::close);
        }
    }

    @Test
    void isNotGivenToAnotherJvmUntilItIsReturned() throws Exception {
        try (ReservedPort port = ReservedPort.pick()) {
            assertThat(lockableElsewhere(port.number())).isFalse();
            port.close();
            assertThat(lockableElsewhere(port.number())).isTrue();
        }
    }

    private static boolean lockableElsewhere(int port) throws Exception {
        Process other = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        // The lock file lies there, and a test run may have a directory of its own.
                        "-Djava.io.tmpdir=" + System.getProperty("java.io.tmpdir"),
                        "-cp",
                        System.getProperty("java.class.path"),
                        AnotherJvm.class.getName(),
                        Integer.toString(port))
                .inheritIO()
                .start();
        return other.waitFor() == AnotherJvm.LOCKED;
    }

    /** Tries to lock a port the way {@link ReservedPort} does; locks of one JVM do not exclude each other. */
    static final class AnotherJvm {

        static final int LOCKED = 0;
        static final int REFUSED = 3;

        public static void main(String[] arguments) {
            System.exit(ReservedPort.tryLock(Integer.parseInt(arguments[0])) == null ? REFUSED : LOCKED);
        }
    }
}
