package io.holdfast;

import io.holdfast.memory.MemoryStore;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.DowngradingStore;
import io.holdfast.spi.Grant;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.QueueingStore;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.RenewalAnswer;
import io.holdfast.spi.RenewalRequest;
import io.holdfast.spi.Request;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreTraits;
import io.holdfast.spi.TicketListener;
import io.holdfast.spi.Withdrawal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** The memory store behind a network that can be cut, with hooks around its requests and a count of what crosses it. */
final class FaultyStore implements QueueingStore, DowngradingStore {

    enum Network {
        UP,
        /** Requests do not arrive. */
        DOWN,
        /** Requests arrive, answers do not. */
        ANSWERS_LOST
    }

    volatile Network network = Network.UP;
    volatile Runnable beforeAnswer = () -> {};
    volatile Runnable beforeAsk = () -> {};
    volatile Consumer<Request> afterAsk = request -> {};
    volatile Runnable beforeRelease = () -> {};
    volatile Runnable beforeClose = () -> {};
    volatile Consumer<String> beforeLane = name -> {};
    /** Attempts and requests for a place in line, whether they arrived or not. */
    final AtomicInteger asks = new AtomicInteger();
    /** Releases that were answered. */
    final AtomicInteger releases = new AtomicInteger();

    final AtomicInteger requests = new AtomicInteger();
    final AtomicInteger renewalBatches = new AtomicInteger();
    final List<Integer> batchSizes = new CopyOnWriteArrayList<>();

    final StoreContext context;
    private final QueueingStore inner;

    FaultyStore(StoreContext context) {
        this.context = context;
        this.inner = (QueueingStore) MemoryStore.unnamed().open(context);
    }

    @Override
    public StoreTraits traits() {
        return inner.traits();
    }

    @Override
    public Answer attempt(Request request, Deadline deadline) {
        return ask(request, () -> inner.attempt(request, deadline));
    }

    @Override
    public Answer enqueue(Request request, TicketListener listener, Deadline deadline) {
        return ask(request, () -> inner.enqueue(request, listener, deadline));
    }

    @Override
    public String lane(String name) {
        beforeLane.accept(name);
        return inner.lane(name);
    }

    @Override
    public List<RenewalAnswer> renew(List<RenewalRequest> renewals, Deadline deadline) {
        renewalBatches.incrementAndGet();
        batchSizes.add(renewals.size());
        return send(renewals.get(0).claim().request().name(), () -> inner.renew(renewals, deadline));
    }

    @Override
    public ReleaseAnswer release(Grant grant, Duration linger, Deadline deadline) {
        beforeRelease.run();
        ReleaseAnswer answer = send(grant.request().name(), () -> inner.release(grant, linger, deadline));
        releases.incrementAndGet();
        return answer;
    }

    @Override
    public Withdrawal withdraw(Request request, Deadline deadline) {
        return send(request.name(), () -> inner.withdraw(request, deadline));
    }

    @Override
    public Grant downgrade(Grant exclusive, Deadline deadline) {
        return send(exclusive.request().name(), () -> ((DowngradingStore) inner).downgrade(exclusive, deadline));
    }

    @Override
    public LockView view(String name, Deadline deadline) {
        return inner.view(name, deadline);
    }

    @Override
    public List<LockView> views(String prefix, Deadline deadline) {
        return new ArrayList<>(inner.views(prefix, deadline));
    }

    @Override
    public void close() {
        beforeClose.run();
        inner.close();
    }

    LockStore inner() {
        return inner;
    }

    private Answer ask(Request request, Supplier<Answer> question) {
        asks.incrementAndGet();
        beforeAsk.run();
        Answer answer = send(request.name(), question);
        afterAsk.accept(request);
        return answer;
    }

    private <T> T send(String name, Supplier<T> request) {
        requests.incrementAndGet();
        if (network == Network.DOWN) {
            throw new StoreUnavailableException(name, "the network is down");
        }
        T answer = request.get();
        if (network == Network.ANSWERS_LOST) {
            throw new UnknownOutcomeException(name, "the answer was lost");
        }
        beforeAnswer.run();
        return answer;
    }
}
