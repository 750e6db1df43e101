package io.holdfast.memory;

import io.holdfast.LockView;
import io.holdfast.spi.AdministeredStore;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.DowngradingStore;
import io.holdfast.spi.Grant;
import io.holdfast.spi.QueueingStore;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.RenewalAnswer;
import io.holdfast.spi.RenewalRequest;
import io.holdfast.spi.Request;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.StoreTraits;
import io.holdfast.spi.TicketListener;
import io.holdfast.spi.TokenRaisingStore;
import io.holdfast.spi.Withdrawal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Locks in this JVM's memory: {@code memory:name} is shared by all clients that name it, {@code memory:} is one
 * client's own.
 *
 * <p>Thread-safe. Leases expire by the clock, the queue is first come, first served.
 */
public final class MemoryStore implements QueueingStore, DowngradingStore, TokenRaisingStore, AdministeredStore {

    private final MemorySpace space;
    private final StoreContext context;

    private MemoryStore(MemorySpace space, StoreContext context) {
        this.space = space;
        this.context = context;
    }

    /** The store of that name, made when first named. */
    public static StoreFactory named(String name) {
        return context -> new MemoryStore(MemorySpace.named(name), context);
    }

    /** A store nobody else can reach. */
    public static StoreFactory unnamed() {
        return context -> new MemoryStore(new MemorySpace(), context);
    }

    @Override
    public StoreTraits traits() {
        return StoreTraits.of("memory").withTtls(Duration.ofMillis(1), Duration.ofDays(36500));
    }

    @Override
    public Answer attempt(Request request, Deadline deadline) {
        return space.attempt(request, now(), context);
    }

    @Override
    public Answer enqueue(Request request, TicketListener listener, Deadline deadline) {
        return space.enqueue(request, listener, now(), context);
    }

    @Override
    public List<RenewalAnswer> renew(List<RenewalRequest> renewals, Deadline deadline) {
        List<RenewalAnswer> answers = new ArrayList<>(renewals.size());
        for (RenewalRequest renewal : renewals) {
            answers.add(space.renew(renewal, now()));
        }
        return answers;
    }

    @Override
    public ReleaseAnswer release(Grant grant, Duration linger, Deadline deadline) {
        return space.release(grant.request(), linger, now());
    }

    @Override
    public Withdrawal withdraw(Request request, Deadline deadline) {
        return space.withdraw(request, now());
    }

    @Override
    public Grant downgrade(Grant exclusive, Deadline deadline) {
        return space.downgrade(exclusive, now());
    }

    @Override
    public void raise(String name, long floor, Deadline deadline) {
        space.raise(floor);
    }

    @Override
    public int forceRelease(String name, Deadline deadline) {
        return space.forceRelease(name, now());
    }

    /** Nothing to remove: all locks of a space share one counter. */
    @Override
    public int prune(Duration idleFor, Deadline deadline) {
        return 0;
    }

    @Override
    public LockView view(String name, Deadline deadline) {
        return space.view(name, now());
    }

    @Override
    public List<LockView> views(String prefix, Deadline deadline) {
        return space.views(prefix, now());
    }

    @Override
    public void close() {}

    private long now() {
        return context.time().nanoTime();
    }
}
