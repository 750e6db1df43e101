package io.holdfast.quorum;

import io.holdfast.LockView;
import io.holdfast.StoreUnavailableException;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.memory.MemoryStore;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.Refusal;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.StoreTraits;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TokenRaisingStore;
import io.holdfast.spi.Withdrawal;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/** A node of a quorum whose network can be cut. */
final class FaultyNode implements StoreFactory {

    enum Network {
        UP,
        /** Requests do not arrive. */
        DOWN,
        /** Requests arrive, answers do not. */
        ANSWERS_LOST,
        /** Nothing is heard of requests for a lock until their deadline. */
        SILENT
    }

    volatile Network network = Network.UP;
    volatile Runnable beforeRequest = () -> {};
    volatile boolean withdrawalsFail;
    /** What the last request for a lock was given. */
    volatile Duration timeToAnswer = Duration.ZERO;

    /** Whether they arrived or not. */
    final AtomicInteger releases = new AtomicInteger();

    /** Those it has made. */
    final AtomicInteger extensions = new AtomicInteger();

    final AtomicInteger withdrawals = new AtomicInteger();
    private final StoreFactory memory;

    FaultyNode(String name) {
        this.memory = MemoryStore.named(name);
    }

    @Override
    public TokenRaisingStore open(StoreContext context) {
        return new Cut((MemoryStore) memory.open(context));
    }

    private <T> T send(String lock, Supplier<T> request) {
        if (network == Network.DOWN) {
            throw new StoreUnavailableException(lock, "the network is down");
        }
        T answer = request.get();
        if (network == Network.ANSWERS_LOST) {
            throw new UnknownOutcomeException(lock, "the answer was lost");
        }
        return answer;
    }

    private final class Cut implements TokenRaisingStore {

        private final MemoryStore inner;

        Cut(MemoryStore inner) {
            this.inner = inner;
        }

        @Override
        public StoreTraits traits() {
            return inner.traits();
        }

        @Override
        public Optional<Refusal> request(Ticket ticket, Mode mode, Deadline deadline) {
            timeToAnswer = deadline.remaining();
            beforeRequest.run();
            while (network == Network.SILENT) {
                if (deadline.hasPassed()) {
                    throw new UnknownOutcomeException(ticket.name(), "no answer in time");
                }
                Thread.onSpinWait();
            }
            return send(ticket.name(), () -> inner.request(ticket, mode, deadline));
        }

        @Override
        public void renew(List<Ticket> tickets, Deadline deadline) {
            send(tickets.get(0).name(), () -> {
                inner.renew(tickets, deadline);
                return true;
            });
        }

        @Override
        public void extend(Ticket ticket, Duration ttl, Deadline deadline) {
            send(ticket.name(), () -> {
                inner.extend(ticket, ttl, deadline);
                extensions.incrementAndGet();
                return true;
            });
        }

        @Override
        public ReleaseAnswer release(Ticket ticket, Duration linger, Deadline deadline) {
            releases.incrementAndGet();
            return send(ticket.name(), () -> inner.release(ticket, linger, deadline));
        }

        @Override
        public Withdrawal withdraw(Ticket ticket, Deadline deadline) {
            withdrawals.incrementAndGet();
            if (withdrawalsFail) {
                throw new StoreUnavailableException(ticket.name(), "withdrawals fail");
            }
            return send(ticket.name(), () -> inner.withdraw(ticket, deadline));
        }

        @Override
        public LockView view(String name, Deadline deadline) {
            return send(name, () -> inner.view(name, deadline));
        }

        @Override
        public Page views(String prefix, Optional<String> after, int limit, Deadline deadline) {
            return send(prefix, () -> inner.views(prefix, after, limit, deadline));
        }

        @Override
        public void ping(Deadline deadline) {
            inner.ping(deadline);
        }

        @Override
        public void raise(String name, long floor, Deadline deadline) {
            send(name, () -> {
                inner.raise(name, floor, deadline);
                return true;
            });
        }

        @Override
        public void close() {
            inner.close();
        }
    }
}
