package io.holdfast.internal;

import io.holdfast.Loss;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The news that a lease is lost, and those who asked to hear it: each hears it once, whether it asked before or after.
 * Thread-safe.
 */
final class LossNotice {

    private final Queue<Consumer<Loss>> listeners = new ConcurrentLinkedQueue<>();
    private volatile @Nullable Loss loss;

    /** {@code post} runs callbacks off this thread. */
    void add(Consumer<Loss> listener, Post post) {
        listeners.add(listener);
        Loss known = loss;
        if (known != null) {
            deliver(known, post);
        }
    }

    void announce(Loss news, Post post) {
        loss = news;
        deliver(news, post);
    }

    Optional<Loss> loss() {
        return Optional.ofNullable(loss);
    }

    /** Each listener is taken from the queue once, by whoever comes first. */
    private void deliver(Loss news, Post post) {
        Consumer<Loss> listener;
        while ((listener = listeners.poll()) != null) {
            post.send(listener, news);
        }
    }

    @FunctionalInterface
    interface Post {
        void send(Consumer<Loss> listener, Loss news);
    }
}
