package io.holdfast.examples.shop;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Holdfast;
import io.holdfast.servers.PostgresServer;
import io.holdfast.servers.RedisServer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

@DisplayName("three instances of the shop")
class ShopTest {

    private static PostgresServer database;
    private final List<ConfigurableApplicationContext> instances = new ArrayList<>();

    @BeforeAll
    static void startDatabase() {
        database = PostgresServer.start();
    }

    @AfterAll
    static void stopDatabase() {
        database.close();
    }

    @AfterEach
    void stopInstances() {
        instances.forEach(ConfigurableApplicationContext::close);
    }

    private Load start(String... settings) {
        for (int i = 0; i < 3; i++) {
            List<String> arguments = new ArrayList<>(List.of(
                    "--server.port=0",
                    "--server.address=127.0.0.1",
                    "--spring.main.banner-mode=off",
                    "--spring.datasource.url=" + database.jdbcUrl()));
            arguments.addAll(List.of(settings));
            instances.add(new SpringApplicationBuilder(ShopApplication.class).run(arguments.toArray(String[]::new)));
        }
        return new Load(instances.stream()
                .map(instance ->
                        "http://127.0.0.1:" + instance.getEnvironment().getRequiredProperty("local.server.port"))
                .toList());
    }

    private void assertSellsNothingTwice(Load load) throws Exception {
        assertThat(load.sellOut(true)).isEqualTo(new Load.Sales(100, 0));
        assertThat(oversoldWithoutALock(load)).isPositive();
        assertThat(load.grabRides()).isEqualTo(10);
        Holdfast client = instances.get(0).getBean(Holdfast.class);
        assertThat(client.locks("stock/")).isEmpty();
        assertThat(client.locks("ride/")).isEmpty();
    }

    /** That it happens is chance; that it never does in ten rounds would be a miracle. */
    private static int oversoldWithoutALock(Load load) throws Exception {
        int oversold = 0;
        for (int round = 0; round < 10 && oversold == 0; round++) {
            oversold = load.sellOut(false).oversold();
        }
        return oversold;
    }

    @Test
    void sellNoPieceTwiceWithLocksInRedis() throws Exception {
        try (RedisServer redis = RedisServer.start()) {
            assertSellsNothingTwice(start("--holdfast.store=" + redis.uri()));
            stopInstances();
        }
    }

    @Test
    void sellNoPieceTwiceWithLocksInTheirDatabase() throws Exception {
        Load load = start();

        assertThat(instances.get(0).getBean(Holdfast.class).store()).startsWith("jdbc");
        assertSellsNothingTwice(load);
    }

    @Test
    @Tag("full")
    void areStartedByOneCommandOnTheEmbeddedDefault() throws Exception {
        Process run = new ProcessBuilder(Path.of("run").toAbsolutePath().toString(), "--load")
                .redirectErrorStream(true)
                .start();
        String output = read(run);

        assertThat(run.waitFor(10, TimeUnit.MINUTES)).isTrue();
        assertThat(run.exitValue()).as(output).isZero();
        assertThat(output)
                .contains("with @Locked:    100 sold, 0 oversold")
                .containsPattern("without a lock:  1[0-9]+ sold, [1-9][0-9]* oversold")
                .contains("10 of 10 rides have one driver");
    }

    private static String read(Process process) throws IOException {
        return new String(process.getInputStream().readAllBytes());
    }
}
