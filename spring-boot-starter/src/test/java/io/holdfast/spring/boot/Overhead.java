package io.holdfast.spring.boot;

import io.holdfast.Holdfast;
import io.holdfast.servers.RedisServer;
import io.holdfast.spring.Locked;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Measures what {@code @Locked} and a meter registry add to a call: the middle of interleaved rounds. Started by hand. */
final class Overhead {

    private static final int ROUNDS = 15;

    private Overhead() {}

    static class Shop {
        @Locked("fixed")
        public int fixed(int sku) {
            return sku;
        }

        @Locked("stock/#{#sku}")
        public int named(int sku) {
            return sku;
        }
    }

    private interface Call {
        int run(int i) throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        measure("memory:", 20_000);
        try (RedisServer server = RedisServer.start()) {
            measure(server.uri(), 1_500);
        }
    }

    private static void measure(String store, int calls) {
        ApplicationContextRunner plain = new ApplicationContextRunner()
                .withConfiguration(
                        AutoConfigurations.of(HoldfastAutoConfiguration.class, HoldfastMetricsAutoConfiguration.class))
                .withPropertyValues("holdfast.store=" + store)
                .withBean(Shop.class);
        plain.run(without -> plain.withBean(MeterRegistry.class, SimpleMeterRegistry::new)
                .run(with -> {
                    Shop target = new Shop();
                    Holdfast client = without.getBean(Holdfast.class);
                    Holdfast observed = with.getBean(Holdfast.class);
                    Shop locked = without.getBean(Shop.class);
                    Shop metered = with.getBean(Shop.class);
                    Map<String, Call> ways = new LinkedHashMap<>();
                    ways.put("plain call", target::fixed);
                    ways.put("lock.call", i -> client.lock("fixed").call(() -> target.fixed(i)));
                    ways.put("@Locked, fixed name", locked::fixed);
                    ways.put("@Locked, name from a parameter", locked::named);
                    ways.put("lock.call, meters", i -> observed.lock("fixed").call(() -> target.fixed(i)));
                    ways.put("@Locked, name from a parameter, meters", metered::named);
                    report(store, ways, calls);
                }));
    }

    private static void report(String store, Map<String, Call> ways, int calls) throws Exception {
        Map<String, List<Double>> micros = new LinkedHashMap<>();
        for (int round = 0; round < ROUNDS; round++) {
            for (Map.Entry<String, Call> way : ways.entrySet()) {
                long before = System.nanoTime();
                int sum = 0;
                for (int i = 0; i < calls; i++) {
                    sum += way.getValue().run(i % 1000);
                }
                double each = (System.nanoTime() - before) / 1e3 / calls;
                if (round >= ROUNDS / 3 && sum >= 0) {
                    micros.computeIfAbsent(way.getKey(), name -> new ArrayList<>())
                            .add(each);
                }
            }
        }
        System.out.println(store.replaceAll(":.*", ""));
        micros.forEach((way, each) -> {
            double[] sorted = each.stream().mapToDouble(value -> value).sorted().toArray();
            System.out.printf(
                    "%-42s %8.2f µs (%.2f to %.2f)%n",
                    way,
                    sorted[sorted.length / 2],
                    sorted[0],
                    Arrays.stream(sorted).max().orElseThrow());
        });
    }
}
