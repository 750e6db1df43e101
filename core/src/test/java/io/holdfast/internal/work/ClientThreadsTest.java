package io.holdfast.internal.work;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.spi.TimeSource;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("The threads of a client")
@Timeout(60)
class ClientThreadsTest {

    private final Logger logger = Logger.getLogger(ClientTimer.class.getName());

    @Test
    void endWithoutAnErrorInTheLogThoughATimerTaskIsAboutToHandWorkOver() throws Exception {
        List<LogRecord> logged = new CopyOnWriteArrayList<>();
        Handler handler = into(logged);
        logger.addHandler(handler);
        try {
            ClientThreads threads = new ClientThreads("closing", TimeSource.system());
            CountDownLatch due = new CountDownLatch(1);
            CountDownLatch stopped = new CountDownLatch(1);
            AtomicReference<Thread> timer = new AtomicReference<>();
            threads.timer().at(System.nanoTime(), () -> {
                timer.set(Thread.currentThread());
                due.countDown();
                await().until(() -> stopped.getCount() == 0);
                threads.storeBackground().execute(() -> {});
            });

            due.await();
            threads.stop();
            stopped.countDown();
            timer.get().join();

            assertThat(logged).noneMatch(line -> line.getThrown() instanceof RejectedExecutionException);
        } finally {
            logger.removeHandler(handler);
        }
    }

    private static Handler into(List<LogRecord> logged) {
        return new Handler() {
            @Override
            public void publish(LogRecord line) {
                logged.add(line);
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
    }
}
