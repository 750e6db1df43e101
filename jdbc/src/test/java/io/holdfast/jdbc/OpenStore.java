package io.holdfast.jdbc;

import io.holdfast.Demand;
import io.holdfast.jdbc.HeldTicket.Told;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.Refusal;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.StoreUri;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TimeSource;
import io.holdfast.spi.Withdrawal;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executor;

/** A store as one client sees it, without the engine in front. */
final class OpenStore implements AutoCloseable {

    final SqlLockStore store;
    private final OwnerId.Source owners = new OwnerId.Source();

    OpenStore(String url) {
        this(new JdbcStores().store(StoreUri.parse(url)));
    }

    OpenStore(StoreFactory factory) {
        this(factory, TimeSource.system(), Runnable::run);
    }

    OpenStore(StoreFactory factory, TimeSource time, Executor background) {
        StoreContext context = new StoreContext(owners.client(), "test", time, (nanos, task) -> () -> {}, background);
        store = (SqlLockStore) factory.open(context);
    }

    static Deadline soon() {
        return Deadline.after(TimeSource.system(), Duration.ofSeconds(20));
    }

    private HeldTicket ticket(String name, Demand demand, Duration ttl) {
        return new HeldTicket(name, owners.next(), demand, ttl);
    }

    Optional<Refusal> refusal(String name, Demand demand, Duration ttl) {
        return refusal(name, demand, ttl, soon());
    }

    Optional<Refusal> refusal(String name, Demand demand, Duration ttl, Deadline deadline) {
        return store.request(ticket(name, demand, ttl).ticket, LockStore.Mode.TRY, deadline);
    }

    Optional<HeldTicket> take(String name, Demand demand, Duration ttl) {
        HeldTicket asked = ticket(name, demand, ttl);
        store.request(asked.ticket, LockStore.Mode.TRY, soon());
        return asked.ticket.state() == Ticket.State.HELD ? Optional.of(asked) : Optional.empty();
    }

    Optional<HeldTicket> take(String name, Demand demand) {
        return take(name, demand, Duration.ofSeconds(30));
    }

    Optional<HeldTicket> take(String name) {
        return take(name, Demand.exclusive());
    }

    HeldTicket hold(String name, Demand demand) {
        return take(name, demand).orElseThrow();
    }

    HeldTicket hold(String name) {
        return take(name).orElseThrow();
    }

    /** Takes its place in the queue. Its lock is looked at when this client changes it. */
    HeldTicket enqueue(String name, Demand demand, Duration ttl) {
        HeldTicket asked = ticket(name, demand, ttl);
        store.request(asked.ticket, LockStore.Mode.QUEUE, soon());
        return asked;
    }

    Told renew(HeldTicket held, Duration ttl) {
        held.forgetWhatItWasTold();
        store.extend(held.ticket, ttl, soon());
        return held.told();
    }

    ReleaseAnswer release(HeldTicket held) {
        return release(held, Duration.ZERO);
    }

    ReleaseAnswer release(HeldTicket held, Duration linger) {
        return store.release(held.ticket, linger, soon());
    }

    Withdrawal withdraw(HeldTicket held) {
        return store.withdraw(held.ticket, soon());
    }

    @Override
    public void close() {
        store.close();
    }
}
