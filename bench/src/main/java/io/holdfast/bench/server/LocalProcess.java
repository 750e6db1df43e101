package io.holdfast.bench.server;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Stream;

/** The CPU time of a server process on this machine, from Linux's {@code /proc}. */
final class LocalProcess {

    /** What the kernel counts in; 100 on every Linux one meets. */
    private static final double NANOS_PER_TICK = 1e9 / 100;

    private static final Path PROC = Path.of("/proc");

    private LocalProcess() {}

    /** The process that listens on this port, if it is here and may be looked at. */
    static OptionalLong listeningOn(int port) {
        try {
            Set<String> sockets = listeningSockets(port);
            if (sockets.isEmpty()) {
                return OptionalLong.empty();
            }
            try (Stream<ProcessHandle> all = ProcessHandle.allProcesses()) {
                return all.mapToLong(ProcessHandle::pid)
                        .filter(pid -> hasOneOf(pid, sockets))
                        .min();
            }
        } catch (IOException | RuntimeException notLinux) {
            return OptionalLong.empty();
        }
    }

    private static Set<String> listeningSockets(int port) throws IOException {
        String suffix = String.format(Locale.ROOT, ":%04X", port);
        Set<String> sockets = new HashSet<>();
        for (String table : List.of("net/tcp", "net/tcp6")) {
            for (String line : Files.readAllLines(PROC.resolve(table))) {
                String[] fields = line.strip().split("\\s+");
                if (fields.length > 9 && fields[1].endsWith(suffix) && fields[3].equals("0A")) {
                    sockets.add("socket:[" + fields[9] + "]");
                }
            }
        }
        return sockets;
    }

    private static boolean hasOneOf(long pid, Set<String> sockets) {
        try (Stream<Path> descriptors = Files.list(PROC.resolve(pid + "/fd"))) {
            return descriptors.anyMatch(descriptor -> {
                try {
                    return sockets.contains(Files.readSymbolicLink(descriptor).toString());
                } catch (IOException closedMeanwhile) {
                    return false;
                }
            });
        } catch (IOException notOurs) {
            return false;
        }
    }

    /** Of the process, the children it has and those that have ended. */
    static OptionalDouble cpuNanos(long pid) {
        double ticks = ticks(pid);
        if (ticks < 0) {
            return OptionalDouble.empty();
        }
        double children = ProcessHandle.of(pid).stream()
                .flatMap(ProcessHandle::descendants)
                .mapToDouble(child -> Math.max(0, ticks(child.pid())))
                .sum();
        return OptionalDouble.of((ticks + children) * NANOS_PER_TICK);
    }

    private static double ticks(long pid) {
        try {
            String stat = Files.readString(PROC.resolve(pid + "/stat"), StandardCharsets.UTF_8);
            // The name may contain anything, spaces and brackets too.
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
            double sum = 0;
            for (int i = 11; i <= 14; i++) {
                sum += Double.parseDouble(fields[i]);
            }
            return sum;
        } catch (IOException | RuntimeException gone) {
            return -1;
        }
    }
}
