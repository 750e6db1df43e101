package io.holdfast.ui.instance;

import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** The instances the dashboard was told of: asked every two seconds while somebody looks. Thread-safe. */
public final class Instances implements AutoCloseable {

    private static final Duration BETWEEN_QUESTIONS = Duration.ofSeconds(2);

    private final List<Instance> all;
    private final Set<Runnable> readers = ConcurrentHashMap.newKeySet();
    /** Without an offer of HTTP/2, which some servers take amiss. */
    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private final ScheduledExecutorService timer;

    public Instances(List<URI> actuators) {
        this.all = actuators.stream().map(Instance::new).toList();
        this.timer = Executors.newSingleThreadScheduledExecutor(task -> {
            Thread thread = new Thread(task, "holdfast-ui-instances");
            thread.setDaemon(true);
            return thread;
        });
        if (!all.isEmpty()) {
            timer.scheduleWithFixedDelay(this::ask, 0, BETWEEN_QUESTIONS.toMillis(), TimeUnit.MILLISECONDS);
        }
    }

    private void ask() {
        if (!readers.isEmpty()) {
            all.forEach(instance -> instance.ask(client, () -> readers.forEach(Runnable::run)));
        }
    }

    public List<Instance> all() {
        return all;
    }

    /** @param news runs when an instance has answered, until what this returns is run; must return at once */
    public Runnable read(Runnable news) {
        // One of its own for every reader, so that one can leave without the other.
        Runnable reader = () -> news.run();
        readers.add(reader);
        return () -> readers.remove(reader);
    }

    @Override
    public void close() {
        timer.shutdownNow();
    }
}
