package io.holdfast.ui;

import com.sun.net.httpserver.HttpExchange;
import io.holdfast.ui.http.Refusal;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

/** Sends pages what is new, as server-sent events, on the request's own thread. Thread-safe. */
final class EventStreams {

    /** Each open page has one, and one thread with it. */
    static final int MOST = 64;

    /** So that a page whose browser has gone is noticed, and one that is there can tell silence from trouble. */
    private static final Duration LONGEST_SILENCE = Duration.ofSeconds(5);

    /** A browser that takes nothing for so long is asleep or gone; stores are not looked at for it. */
    private static final Duration LONGEST_WRITE = Duration.ofSeconds(30);

    private final Semaphore free = new Semaphore(MOST);
    private final Duration longestWrite;

    EventStreams() {
        this(LONGEST_WRITE);
    }

    EventStreams(Duration longestWrite) {
        this.longestWrite = longestWrite;
    }

    interface Opener extends Function<News, PageView> {}

    /** Returns when the browser has gone away. */
    void serve(HttpExchange exchange, Opener opener) throws IOException, Refusal {
        if (!free.tryAcquire()) {
            throw new Refusal(503, "too-many", "too many pages are open at this dashboard; close some");
        }
        News news = new News();
        try (PageView page = opener.apply(news)) {
            exchange.getResponseHeaders().set("Content-Type", "text/event-stream; charset=utf-8");
            exchange.getResponseHeaders().set("X-Accel-Buffering", "no");
            exchange.sendResponseHeaders(200, 0);
            OutputStream out = exchange.getResponseBody();
            while (!Thread.currentThread().isInterrupted()) {
                write(out, ("data: " + page.event() + "\n\n").getBytes(StandardCharsets.UTF_8));
                news.await(LONGEST_SILENCE);
            }
        } catch (InterruptedException e) {
            // The dashboard is closing.
            Thread.currentThread().interrupt();
        } finally {
            free.release();
        }
    }

    /** An interrupt closes the connection that is written to. */
    private void write(OutputStream out, byte[] event) throws IOException {
        Thread writer = Thread.currentThread();
        AtomicBoolean over = new AtomicBoolean();
        CompletableFuture<Void> written = new CompletableFuture<>();
        written.orTimeout(longestWrite.toMillis(), TimeUnit.MILLISECONDS).exceptionally(late -> {
            if (over.compareAndSet(false, true)) {
                writer.interrupt();
            }
            return null;
        });
        try {
            out.write(event);
            out.flush();
        } finally {
            if (over.compareAndSet(false, true)) {
                written.complete(null);
            } else {
                // It is about to be interrupted, and must not go on to another request before.
                while (!writer.isInterrupted()) {
                    Thread.onSpinWait();
                }
            }
        }
    }
}
