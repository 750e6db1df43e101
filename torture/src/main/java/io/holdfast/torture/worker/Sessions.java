package io.holdfast.torture.worker;

import io.holdfast.Holdfast;
import io.holdfast.HoldfastBuilder;
import io.holdfast.torture.history.HistoryWriter;
import io.holdfast.torture.history.Recorder;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/** The client of a worker process, replaced by another whenever it is closed in the midst of everything. Thread-safe. */
final class Sessions implements AutoCloseable {

    private final WorkerSettings settings;
    private final String uri;
    private final HistoryWriter history;
    private final UsersExecutor executor;
    private final ReentrantLock lock = new ReentrantLock();
    private Session current;
    private int opened;

    Sessions(WorkerSettings settings, String uri, HistoryWriter history, UsersExecutor executor) {
        this.settings = settings;
        this.uri = uri;
        this.history = history;
        this.executor = executor;
        this.current = open();
    }

    Session current() {
        lock.lock();
        try {
            return current;
        } finally {
            lock.unlock();
        }
    }

    /** Closes the client every few seconds, whatever its threads are doing. */
    void closeNowAndThen() {
        Random random = new Random(settings.seed() ^ settings.process().hashCode());
        Thread closer = new Thread(
                () -> {
                    try {
                        while (true) {
                            TimeUnit.MILLISECONDS.sleep(2000 + random.nextInt(6000));
                            replace();
                        }
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                },
                "closer");
        closer.setDaemon(true);
        closer.start();
    }

    @Override
    public void close() {
        current().close();
    }

    private void replace() {
        Session old;
        lock.lock();
        try {
            old = current;
            current = open();
        } finally {
            lock.unlock();
        }
        old.close();
    }

    private Session open() {
        String name = settings.process() + (opened == 0 ? "" : "." + opened);
        opened++;
        Recorder recorder = new Recorder(name, history);
        HoldfastBuilder builder = Holdfast.builder()
                .store(recorder.tap(uri))
                .name(name)
                .requestTimeout(min(settings.ttl().multipliedBy(2), Duration.ofSeconds(5)));
        if (settings.usersExecutor()) {
            // Without a listener it would hear of losses only.
            builder.executor(executor).listener(event -> {});
        }
        return new Session(settings, recorder, builder.connect());
    }

    private static Duration min(Duration a, Duration b) {
        return a.compareTo(b) < 0 ? a : b;
    }
}
