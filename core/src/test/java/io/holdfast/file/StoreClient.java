package io.holdfast.file;

import io.holdfast.Demand;
import io.holdfast.LockView;
import io.holdfast.LockView.Origin;
import io.holdfast.LossReason;
import io.holdfast.file.RecordedTicket.Told;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.LockStore.Mode;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.Refusal;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TimeSource;
import io.holdfast.spi.Validity;
import io.holdfast.spi.Withdrawal;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/** A client of a file store without the engine: nothing is renewed unless a test says so. */
final class StoreClient implements AutoCloseable {

    static final Duration TTL = Duration.ofSeconds(60);

    /** Few enough that listings of tests take several pages. */
    private static final int VIEWS_PER_PAGE = 3;

    final FileStore store;
    /** What the store said of tickets it ended. */
    final Map<OwnerId, LossReason> losses = new ConcurrentHashMap<>();

    private final OwnerId.Source owners = new OwnerId.Source();
    private final String name;

    StoreClient(Path directory) {
        this(directory, "test");
    }

    StoreClient(Path directory, String name) {
        this(directory, name, TimeSource.system());
    }

    StoreClient(Path directory, String name, TimeSource time) {
        this.name = name;
        StoreContext context = new StoreContext(
                owners.client(),
                name,
                time,
                (nanos, task) -> {
                    throw new UnsupportedOperationException("the file store needs no timer");
                },
                Runnable::run);
        this.store = (FileStore) FileStore.in(directory).open(context);
    }

    private RecordedTicket ticket(String lock, Demand demand, Duration ttl) {
        OwnerId owner = owners.next();
        Origin origin = new Origin(
                name,
                "here",
                ProcessHandle.current().pid(),
                Thread.currentThread().getName());
        Validity validity = new Validity(new RecordedTicket.StandingStill(), Duration.ZERO);
        return new RecordedTicket(
                listener -> new Ticket(lock, owner, demand, ttl, origin, validity, listener),
                why -> losses.put(owner, why.reason()));
    }

    /** Asks once. Empty if it was refused. */
    Optional<RecordedTicket> tryTake(String lock) {
        return tryTake(lock, Demand.exclusive(), TTL);
    }

    Optional<RecordedTicket> tryTake(String lock, Demand demand, Duration ttl) {
        return tryTake(ticket(lock, demand, ttl), soon());
    }

    Optional<RecordedTicket> tryTake(String lock, Deadline deadline) {
        return tryTake(ticket(lock, Demand.exclusive(), TTL), deadline);
    }

    private Optional<RecordedTicket> tryTake(RecordedTicket ticket, Deadline deadline) {
        return request(ticket, Mode.TRY, deadline).isEmpty() ? Optional.of(ticket) : Optional.empty();
    }

    /** Must be refused, or the test fails. */
    Refusal refusal(String lock) {
        return request(ticket(lock, Demand.exclusive(), TTL), Mode.TRY, soon())
                .orElseThrow(() -> new AssertionError(lock + " was granted"));
    }

    /** What the store answers is also what it tells the ticket. */
    private Optional<Refusal> request(RecordedTicket asking, Mode mode, Deadline deadline) {
        Optional<Refusal> refusal = store.request(asking.ticket(), mode, deadline);
        boolean told = asking.told() != Told.NOTHING;
        boolean queuedByATry = mode == Mode.TRY && asking.hasWaited();
        if (refusal.isPresent() == told || queuedByATry) {
            throw new AssertionError("answered " + refusal + " to a " + mode + ", but " + asking);
        }
        return refusal;
    }

    RecordedTicket take(String lock) {
        return take(lock, Demand.exclusive(), TTL);
    }

    RecordedTicket take(String lock, Demand demand, Duration ttl) {
        return tryTake(lock, demand, ttl).orElseThrow(() -> new AssertionError(lock + " was refused"));
    }

    RecordedTicket queue(String lock) {
        return queue(lock, Demand.exclusive(), TTL);
    }

    /** Must wait, or the test fails. */
    RecordedTicket queue(String lock, Demand demand, Duration ttl) {
        RecordedTicket ticket = ticket(lock, demand, ttl);
        Optional<Refusal> refusal = request(ticket, Mode.QUEUE, soon());
        if (refusal.isPresent() || !ticket.hasWaited()) {
            throw new AssertionError("expected a place in the queue, but " + refusal + ", " + ticket);
        }
        return ticket;
    }

    /** The grant now or later. */
    CompletableFuture<RecordedTicket> want(String lock, Duration ttl) {
        RecordedTicket ticket = ticket(lock, Demand.exclusive(), ttl);
        Optional<Refusal> refusal = request(ticket, Mode.QUEUE, soon());
        if (refusal.isPresent()) {
            throw new AssertionError("refused a place in the queue: " + refusal);
        }
        return ticket.outcome();
    }

    /** What the store tells the ticket. */
    Told renew(RecordedTicket ticket) {
        renew(List.of(ticket));
        // The watch over holders may have said so before, and an ended ticket does not hear it twice.
        boolean toldBefore =
                ticket.told() == Told.NOTHING && ticket.ticket().ending().isPresent();
        return toldBefore ? Told.GONE : ticket.told();
    }

    void renew(List<RecordedTicket> tickets) {
        tickets.forEach(RecordedTicket::forgetWhatItWasTold);
        store.renew(tickets.stream().map(RecordedTicket::ticket).toList(), soon());
    }

    ReleaseAnswer release(RecordedTicket ticket) {
        return release(ticket, Duration.ZERO, soon());
    }

    ReleaseAnswer release(RecordedTicket ticket, Duration linger, Deadline deadline) {
        ticket.ticket().end();
        return store.release(ticket.ticket(), linger, deadline);
    }

    Withdrawal withdraw(RecordedTicket ticket) {
        ticket.ticket().end();
        return store.withdraw(ticket.ticket(), soon());
    }

    LockView view(String lock) {
        return store.view(lock, soon());
    }

    /** All pages. */
    List<LockView> views(String prefix) {
        List<LockView> all = new ArrayList<>();
        Optional<String> next = Optional.empty();
        do {
            LockStore.Page page = store.views(prefix, next, VIEWS_PER_PAGE, soon());
            all.addAll(page.locks());
            next = page.next();
        } while (next.isPresent());
        return all;
    }

    static Deadline soon() {
        return Deadline.after(TimeSource.system(), Duration.ofSeconds(20));
    }

    @Override
    public void close() {
        store.close();
    }
}
