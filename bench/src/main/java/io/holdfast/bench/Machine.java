package io.holdfast.bench;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** What figures depend on. */
public final class Machine {

    private Machine() {}

    public static Map<String, String> facts() {
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put("date", LocalDate.now(ZoneOffset.UTC).toString());
        facts.put("processor", processor());
        facts.put("cores", Runtime.getRuntime().availableProcessors() + " cores");
        facts.put("memory", memory());
        facts.put("system", System.getProperty("os.name") + " " + System.getProperty("os.version"));
        facts.put("java", System.getProperty("java.vm.name") + " " + Runtime.version());
        return facts;
    }

    /** How busy it is with other things, if it is: more wants to run than there are cores. */
    static Optional<String> busy() {
        double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
        int cores = Runtime.getRuntime().availableProcessors();
        return load > cores
                ? Optional.of(String.format(Locale.ROOT, "load %.1f on %d cores before the run", load, cores))
                : Optional.empty();
    }

    private static String processor() {
        return lineOf("/proc/cpuinfo", "model name", System.getProperty("os.arch"));
    }

    private static String memory() {
        String total = lineOf("/proc/meminfo", "MemTotal", "").replaceAll("\\D", "");
        return total.isEmpty() ? "unknown" : Math.round(Double.parseDouble(total) / (1 << 20)) + " GiB";
    }

    private static String lineOf(String file, String name, String otherwise) {
        try {
            return Files.readAllLines(Path.of(file)).stream()
                    .filter(line -> line.startsWith(name))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElse(otherwise);
        } catch (IOException notLinux) {
            return otherwise;
        }
    }
}
