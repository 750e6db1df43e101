package io.holdfast.bench.worker;

import com.sun.management.OperatingSystemMXBean;
import io.holdfast.bench.Contender;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Holds many locks for a while and looks what that takes: threads, memory, CPU. */
final class HeldRun {

    private static final OperatingSystemMXBean PROCESS =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private static final int SAMPLES_OF_EXCLUSION = 50;

    private final String prefix;
    private final List<Contender.Held> held;
    private final int threadsBefore;
    private final long heapBefore;
    private final long cpuBefore;
    private final long startNanos;

    private HeldRun(String prefix, List<Contender.Held> held, int threadsBefore, long heapBefore) {
        this.prefix = prefix;
        this.held = held;
        this.threadsBefore = threadsBefore;
        this.heapBefore = heapBefore;
        this.cpuBefore = PROCESS.getProcessCpuTime();
        this.startNanos = System.nanoTime();
    }

    static HeldRun acquire(Contender contender, Map<String, Object> command) throws Exception {
        String prefix = (String) command.get("prefix");
        int number = ((Long) command.get("locks")).intValue();
        int threads = threads();
        long heap = usedHeap();
        List<Contender.Held> held = new ArrayList<>();
        for (int i = 0; i < number; i++) {
            held.add(contender.mutex(prefix + i).acquire());
        }
        return new HeldRun(prefix, held, threads, heap);
    }

    Map<String, Object> letGo(Contender rival) throws Exception {
        long cpuNanos = PROCESS.getProcessCpuTime() - cpuBefore;
        long elapsedNanos = System.nanoTime() - startNanos;
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("cpuNanos", cpuNanos);
        result.put("elapsedNanos", elapsedNanos);
        result.put("threads", Math.max(0, threads() - threadsBefore));
        result.put("heapBytes", Math.max(0, usedHeap() - heapBefore));
        result.put("violations", violations(rival));
        for (Contender.Held one : held) {
            one.release();
        }
        return result;
    }

    /** Leases that are lost, and locks that another client can have. */
    private long violations(Contender rival) throws Exception {
        long violations = held.stream().filter(one -> !one.isValid()).count();
        int step = Math.max(1, held.size() / SAMPLES_OF_EXCLUSION);
        for (int i = 0; i < held.size(); i += step) {
            if (rival.isFree(prefix + i)) {
                violations++;
            }
        }
        return violations;
    }

    private static int threads() {
        return ManagementFactory.getThreadMXBean().getThreadCount();
    }

    private static long usedHeap() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }
}
