package io.holdfast.jdbc;

import io.holdfast.Demand;
import io.holdfast.LockView.Origin;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.Grant;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.Request;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.StoreUri;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executor;

/** A store as one client sees it, without the engine in front. */
final class OpenStore implements AutoCloseable {

    final RowStore store;
    private final OwnerId.Source owners = new OwnerId.Source();

    OpenStore(String url) {
        this(new JdbcStoreProvider().store(StoreUri.parse(url)));
    }

    OpenStore(StoreFactory factory) {
        this(factory, TimeSource.system(), Runnable::run);
    }

    OpenStore(StoreFactory factory, TimeSource time, Executor background) {
        StoreContext context = new StoreContext(
                owners.client(), "test", time, (nanos, task) -> () -> {}, background, (owner, reason, detail) -> {});
        store = (RowStore) factory.open(context);
    }

    static Deadline soon() {
        return Deadline.after(TimeSource.system(), Duration.ofSeconds(20));
    }

    Request request(String name, Demand demand, Duration ttl) {
        return new Request(name, owners.next(), demand, ttl, new Origin("client", "host", 42, "thread"));
    }

    Answer attempt(String name, Demand demand, Duration ttl) {
        return store.attempt(request(name, demand, ttl), soon());
    }

    Optional<Grant> take(String name, Demand demand, Duration ttl) {
        return attempt(name, demand, ttl) instanceof Answer.Granted granted
                ? Optional.of(granted.grant())
                : Optional.empty();
    }

    Optional<Grant> take(String name, Demand demand) {
        return take(name, demand, Duration.ofSeconds(30));
    }

    Optional<Grant> take(String name) {
        return take(name, Demand.exclusive());
    }

    Grant hold(String name, Demand demand) {
        return take(name, demand).orElseThrow();
    }

    Grant hold(String name) {
        return take(name).orElseThrow();
    }

    @Override
    public void close() {
        store.close();
    }
}
