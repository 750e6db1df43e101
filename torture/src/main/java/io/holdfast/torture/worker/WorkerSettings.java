package io.holdfast.torture.worker;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * What a worker process is told on its command line. The store's URI is not among it but in the environment, as it may hold
 * a password. Immutable.
 *
 * @param process its name in the history
 * @param history the file it writes
 * @param resourcePort where the protected lists are served
 * @param prefix what the names of its locks begin with
 * @param ttl of its leases
 * @param seed of what it does at random
 * @param mischief whether it interrupts, cancels and closes what it is doing
 * @param usersExecutor whether its client gets an executor of its own
 * @param workloads what it does
 */
public record WorkerSettings(
        String process,
        Path history,
        int resourcePort,
        String prefix,
        Duration ttl,
        long seed,
        boolean mischief,
        boolean usersExecutor,
        Set<Workload> workloads) {

    /** The variable with the store's URI. */
    public static final String STORE_VARIABLE = "HOLDFAST_TORTURE_STORE";

    public WorkerSettings {
        workloads = Set.copyOf(workloads);
    }

    /** The lock of a workload. */
    public String lock(Workload workload) {
        return prefix + workload.word();
    }

    public List<String> arguments() {
        return List.of(
                "process=" + process,
                "history=" + history,
                "resource=" + resourcePort,
                "prefix=" + prefix,
                "ttl=" + ttl.toMillis(),
                "seed=" + seed,
                "mischief=" + mischief,
                "executor=" + usersExecutor,
                "workloads=" + workloads.stream().sorted().map(Workload::word).collect(Collectors.joining(",")));
    }

    static WorkerSettings parse(String[] arguments) {
        Map<String, String> values = new TreeMap<>();
        for (String argument : arguments) {
            int equals = argument.indexOf('=');
            values.put(argument.substring(0, equals), argument.substring(equals + 1));
        }
        Set<Workload> workloads = EnumSet.noneOf(Workload.class);
        Arrays.stream(required(values, "workloads").split(","))
                .map(Workload::parse)
                .forEach(workloads::add);
        return new WorkerSettings(
                required(values, "process"),
                Path.of(required(values, "history")),
                Integer.parseInt(required(values, "resource")),
                required(values, "prefix"),
                Duration.ofMillis(Long.parseLong(required(values, "ttl"))),
                Long.parseLong(required(values, "seed")),
                Boolean.parseBoolean(required(values, "mischief")),
                Boolean.parseBoolean(required(values, "executor")),
                workloads);
    }

    private static String required(Map<String, String> values, String key) {
        return Objects.requireNonNull(values.get(key), key);
    }
}
