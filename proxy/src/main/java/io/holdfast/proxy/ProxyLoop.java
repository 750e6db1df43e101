package io.holdfast.proxy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The one thread of a proxy: accepts, reads, writes, and changes conditions when told to.
 *
 * <p>Everything it works on belongs to it alone; others hand it tasks through {@link #call}.
 */
final class ProxyLoop implements Runnable {

    private static final long NANOS_BELOW_A_MILLI = 999_999;

    private record Task(Runnable action, CompletableFuture<Void> done) {}

    private final InetSocketAddress address;
    private final ProxyConditions conditions;
    private final ProxyTraffic traffic;
    private final Supplier<RequestCounter> counters;
    private final Selector selector;
    private final Set<ProxyConnection> connections = new HashSet<>();
    private final Queue<Task> tasks = new ConcurrentLinkedQueue<>();
    private volatile boolean ended;
    private boolean stopping;
    private volatile int openConnections;
    private @Nullable ServerSocketChannel listener;

    ProxyLoop(
            InetSocketAddress address,
            ProxyConditions conditions,
            ProxyTraffic traffic,
            Supplier<RequestCounter> counters)
            throws IOException {
        this.address = address;
        this.conditions = conditions;
        this.traffic = traffic;
        this.counters = counters;
        selector = Selector.open();
        listen();
    }

    int openConnections() {
        return openConnections;
    }

    /** Runs an action on the proxy's thread; returns when its effect can be seen from outside. */
    void call(Runnable action) {
        Task task = new Task(action, new CompletableFuture<>());
        tasks.add(task);
        selector.wakeup();
        if (ended) {
            // It may have ended between the look at its tasks and ours; if it has seen this one, the answer stands.
            task.done.completeExceptionally(closed());
        }
        try {
            task.done.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : e;
        }
    }

    void listen() {
        if (listener != null) {
            return;
        }
        try {
            ServerSocketChannel channel = ServerSocketChannel.open();
            channel.configureBlocking(false);
            channel.bind(address);
            channel.register(selector, SelectionKey.OP_ACCEPT);
            listener = channel;
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot listen on " + address, e);
        }
    }

    void stopListening() {
        ServerSocketChannel channel = listener;
        if (channel == null) {
            return;
        }
        listener = null;
        try {
            channel.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Set<ProxyConnection> connections() {
        return connections;
    }

    void stop() {
        stopping = true;
    }

    @Override
    public void run() {
        List<Task> applied = new ArrayList<>();
        try (selector) {
            long nowNanos = System.nanoTime();
            while (!stopping || !applied.isEmpty()) {
                if (applied.isEmpty()) {
                    select(nowNanos);
                } else {
                    // Channels closed by a task are really closed only by the next select.
                    selector.selectNow();
                    applied.forEach(task -> task.done.complete(null));
                    applied.clear();
                }
                selector.selectedKeys().clear();
                accept();
                applyTasks(applied);
                // One reading for the whole turn: what is due is written now, what is not is what select waits for.
                nowNanos = System.nanoTime();
                for (ProxyConnection connection : connections) {
                    connection.serve(nowNanos);
                }
                connections.removeIf(connection -> !connection.isOpen());
                openConnections = connections.size();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            ended = true;
            tasks.forEach(task -> task.done.completeExceptionally(closed()));
        }
    }

    private IllegalStateException closed() {
        return new IllegalStateException("The proxy on " + address + " is closed");
    }

    private void select(long nowNanos) throws IOException {
        long nanos = connections.stream()
                .mapToLong(connection -> connection.nanosToNextDue(nowNanos))
                .min()
                .orElse(Long.MAX_VALUE);
        if (nanos == Long.MAX_VALUE) {
            selector.select();
        } else {
            // Rounded up, and no more: a delay of 1 ms must not become 2. Zero would mean for ever.
            selector.select(Math.max(1, TimeUnit.NANOSECONDS.toMillis(nanos + NANOS_BELOW_A_MILLI)));
        }
    }

    private void accept() throws IOException {
        while (listener != null) {
            SocketChannel client = listener.accept();
            if (client == null) {
                return;
            }
            traffic.addConnection();
            connections.add(new ProxyConnection(client, selector, conditions, traffic, counters.get()));
        }
    }

    private void applyTasks(List<Task> applied) {
        for (Task task = tasks.poll(); task != null; task = tasks.poll()) {
            try {
                task.action.run();
                applied.add(task);
            } catch (RuntimeException e) {
                task.done.completeExceptionally(e);
            }
        }
    }
}
