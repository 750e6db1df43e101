package io.holdfast.torture.worker;

import io.holdfast.torture.history.HistoryWriter;
import io.holdfast.torture.resource.ResourceClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * The program of a worker process.
 *
 * <p>It says on standard output what its threads are doing ({@code 2 holds}). On standard input it is told how its client's executor
 * is to behave ({@code hangs}); it ends in an orderly way when it is told to {@code stop}, and at once when standard input ends, for then
 * the run is over or was killed.
 */
public final class Worker {

    static final String STOP = "stop";

    private Worker() {}

    public static void main(String[] arguments) throws Exception {
        WorkerSettings settings = WorkerSettings.parse(arguments);
        String uri = Objects.requireNonNull(System.getenv(WorkerSettings.STORE_VARIABLE), "no store");
        UsersExecutor executor = new UsersExecutor();
        try (HistoryWriter history = HistoryWriter.create(settings.history());
                Sessions sessions = new Sessions(settings, uri, history, executor)) {
            List<Contender> contenders = new ArrayList<>();
            List<Thread> threads = new ArrayList<>();
            for (Workload workload : settings.workloads()) {
                for (int i = 0; i < workload.threads(); i++) {
                    int number = contenders.size();
                    Contender contender = new Contender(
                            settings, sessions, workload, number, new ResourceClient(settings.resourcePort()));
                    contenders.add(contender);
                    threads.add(new Thread(contender, "worker-" + number));
                }
            }
            threads.forEach(Thread::start);
            if (settings.mischief()) {
                sessions.closeNowAndThen();
            }
            listen(contenders, executor);
            for (Thread thread : threads) {
                thread.join();
            }
        }
        // Whatever else still runs here must not keep the process alive.
        Runtime.getRuntime().halt(0);
    }

    private static void listen(List<Contender> contenders, UsersExecutor executor) {
        Thread listener = new Thread(
                () -> {
                    try (BufferedReader orders =
                            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII))) {
                        String order;
                        while ((order = orders.readLine()) != null) {
                            if (order.equals(STOP)) {
                                contenders.forEach(Contender::stop);
                            } else {
                                executor.conduct(UsersExecutor.Conduct.parse(order));
                            }
                        }
                    } catch (IOException ended) {
                        // The same as its end.
                    }
                    Runtime.getRuntime().halt(3);
                },
                "orders");
        listener.setDaemon(true);
        listener.start();
    }
}
