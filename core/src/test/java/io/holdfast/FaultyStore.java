package io.holdfast;

import io.holdfast.memory.MemoryStore;
import io.holdfast.spi.AdministeredStore;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.DowngradingStore;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.Refusal;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreTraits;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.Withdrawal;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/** The memory store behind a network that can be cut, with hooks around its requests and a count of what crosses it. */
final class FaultyStore implements DowngradingStore, AdministeredStore {

    enum Network {
        UP,
        /** Requests do not arrive. */
        DOWN,
        /** Requests arrive, answers do not. */
        ANSWERS_LOST,
        /** Requests for a lock arrive by {@link #deliver}, when nobody waits for their answer any more; others at once. */
        REQUESTS_LATE
    }

    volatile Network network = Network.UP;
    volatile Runnable beforeAnswer = () -> {};
    volatile Runnable beforeAsk = () -> {};
    /** With the deadline that a request for a lock was given. */
    volatile Consumer<Deadline> beforeRequest = deadline -> {};
    /** With the engine's ticket, once it has been told the answer and before the engine looks at it. */
    volatile Consumer<Ticket> afterAsk = ticket -> {};

    volatile Runnable beforeRelease = () -> {};
    volatile Runnable beforeWithdrawal = () -> {};
    /** With the deadline that the withdrawal was given. */
    volatile Consumer<Deadline> withdrawalWithin = deadline -> {};

    volatile Runnable beforeDowngrade = () -> {};
    volatile Runnable beforePing = () -> {};
    volatile Consumer<List<Ticket>> beforeRenewal = tickets -> {};
    volatile Runnable beforeClose = () -> {};
    volatile Consumer<String> beforeServer = name -> {};
    /** Which server has a lock. */
    volatile UnaryOperator<String> serverOf = name -> "";
    /** Requests for a lock, whether they arrived or not. */
    final AtomicInteger asks = new AtomicInteger();
    /** Releases that were answered. */
    final AtomicInteger releases = new AtomicInteger();

    final AtomicInteger requests = new AtomicInteger();
    final AtomicInteger renewalBatches = new AtomicInteger();
    final List<Integer> batchSizes = new CopyOnWriteArrayList<>();

    private final Queue<Runnable> underWay = new ConcurrentLinkedQueue<>();

    final StoreContext context;
    private final MemoryStore inner;

    FaultyStore(StoreContext context) {
        this.context = context;
        this.inner = (MemoryStore) MemoryStore.unnamed().open(context);
    }

    @Override
    public StoreTraits traits() {
        return inner.traits();
    }

    @Override
    public Optional<Refusal> request(Ticket ticket, Mode mode, Deadline deadline) {
        asks.incrementAndGet();
        beforeAsk.run();
        beforeRequest.accept(deadline);
        if (network == Network.REQUESTS_LATE) {
            underWay.add(() -> {
                RelayedTicket relayed = RelayedTicket.of(ticket);
                relayed.holdBack();
                inner.request(relayed.atStore(), mode, deadline);
                relayed.settle(false);
            });
            throw new UnknownOutcomeException(ticket.name(), "there was no answer in time");
        }
        Optional<Refusal> refusal = send(
                List.of(ticket), () -> inner.request(RelayedTicket.of(ticket).atStore(), mode, deadline));
        afterAsk.accept(ticket);
        return refusal;
    }

    @Override
    public String server(String name) {
        beforeServer.accept(name);
        return serverOf.apply(name);
    }

    @Override
    public void renew(List<Ticket> tickets, Deadline deadline) {
        renewalBatches.incrementAndGet();
        batchSizes.add(tickets.size());
        beforeRenewal.accept(tickets);
        send(tickets, () -> {
            inner.renew(
                    tickets.stream()
                            .map(ticket -> RelayedTicket.of(ticket).atStore())
                            .toList(),
                    deadline);
            return true;
        });
    }

    @Override
    public void extend(Ticket ticket, Duration ttl, Deadline deadline) {
        send(List.of(ticket), () -> {
            inner.extend(RelayedTicket.of(ticket).atStore(), ttl, deadline);
            return true;
        });
    }

    @Override
    public ReleaseAnswer release(Ticket ticket, Duration linger, Deadline deadline) {
        beforeRelease.run();
        ReleaseAnswer answer = send(
                List.of(ticket), () -> inner.release(RelayedTicket.of(ticket).endedAtStore(), linger, deadline));
        releases.incrementAndGet();
        return answer;
    }

    @Override
    public Withdrawal withdraw(Ticket ticket, Deadline deadline) {
        withdrawalWithin.accept(deadline);
        beforeWithdrawal.run();
        return send(
                List.of(ticket), () -> inner.withdraw(RelayedTicket.of(ticket).endedAtStore(), deadline));
    }

    @Override
    public void downgrade(Ticket exclusive, Deadline deadline) {
        beforeDowngrade.run();
        send(List.of(exclusive), () -> {
            inner.downgrade(RelayedTicket.of(exclusive).atStore(), deadline);
            return true;
        });
    }

    @Override
    public LockView view(String name, Deadline deadline) {
        return inner.view(name, deadline);
    }

    @Override
    public Page views(String prefix, Optional<String> after, int limit, Deadline deadline) {
        return inner.views(prefix, after, limit, deadline);
    }

    @Override
    public void ping(Deadline deadline) {
        beforePing.run();
        inner.ping(deadline);
    }

    @Override
    public int forceRelease(String name, Deadline deadline) {
        return inner.forceRelease(name, deadline);
    }

    @Override
    public int prune(Duration idleFor, Deadline deadline) {
        return inner.prune(idleFor, deadline);
    }

    @Override
    public void close() {
        beforeClose.run();
        inner.close();
    }

    /** Lets the requests that are late arrive. */
    void deliver() {
        for (Runnable request = underWay.poll(); request != null; request = underWay.poll()) {
            request.run();
        }
    }

    LockStore inner() {
        return inner;
    }

    /** What the store says while it does the request is the answer; what it says at other times arrives at once. */
    private <T> T send(List<Ticket> tickets, Supplier<T> request) {
        requests.incrementAndGet();
        String name = tickets.get(0).name();
        if (network == Network.DOWN) {
            throw new StoreUnavailableException(name, "the network is down");
        }
        List<RelayedTicket> relayed = tickets.stream().map(RelayedTicket::of).toList();
        relayed.forEach(RelayedTicket::holdBack);
        boolean answered = false;
        try {
            T answer = request.get();
            relayed.forEach(RelayedTicket::endAnswer);
            if (network == Network.ANSWERS_LOST) {
                throw new UnknownOutcomeException(name, "the answer was lost");
            }
            beforeAnswer.run();
            answered = true;
            return answer;
        } finally {
            for (RelayedTicket ticket : relayed) {
                ticket.settle(answered);
            }
        }
    }
}
