package io.holdfast.internal.acquire;

import io.holdfast.Demand;
import io.holdfast.Fairness;
import io.holdfast.internal.lease.InsideGate;
import io.holdfast.internal.ticket.KeptTicket;
import io.holdfast.internal.ticket.TicketUser;
import org.jspecify.annotations.Nullable;

/** The stay of one acquisition, and then of its lease, inside the gate of this client. Without a gate it is merely listed as held. */
final class GateStay extends Gate.Entry<KeptTicket> implements InsideGate {

    private final LockTerms terms;
    private final Caller caller;
    private final HeldLocks held;

    // Used by HeldLocks only.
    boolean listed;

    @Nullable
    GateStay below;

    GateStay(LockTerms terms, Caller caller, HeldLocks held) {
        super(terms.demand());
        this.terms = terms;
        this.caller = caller;
        this.held = held;
    }

    String lockName() {
        return terms.name();
    }

    /** Whose work it is for: what holds a lock and waits for another counts as one. Null for a future without a note. */
    @Nullable
    Object unit() {
        return terms.options().note().isPresent() ? terms.options().note().get() : caller.thread();
    }

    // What the acquisition calls.

    /**
     * Whether it is inside by now. If not it is called later, unless it asks once.
     *
     * @param sinceNanos when its wait began
     */
    boolean begin(Patience patience, long sinceNanos) {
        if (!terms.usesGate()) {
            return true;
        }
        if (position() != Gate.Position.OUTSIDE) {
            return gate().proceed(this);
        }
        return patience.isForOneTry() ? gate().tryEnter(this) : gate().enter(this, sinceNanos);
    }

    /** Stops waiting for the gate. It may have been let in, or have inherited a ticket, a moment ago. */
    void withdraw() {
        gate().withdraw(this);
    }

    private Gate<KeptTicket> gate() {
        return terms.site().gate;
    }

    // What the gate calls.

    @Override
    void wake() {
        caller.wake();
    }

    @Override
    boolean accepts(KeptTicket warm) {
        return terms.options().fairness() == Fairness.BALANCED
                && terms.options().minHold().isZero()
                && warm.ticket().renewal() == terms.options().renewal()
                && warm.ticket().demand().equals(demand)
                && warm.ticket().ttl().equals(terms.options().ttl());
    }

    @Override
    void letGo(KeptTicket handedOver) {
        handedOver.usedBy(TicketUser.NOBODY);
    }

    // What the lease calls.

    @Override
    public void leave() {
        held.remove(this);
        gate().leave(this);
    }

    @Override
    public boolean handOn(KeptTicket ticket) {
        held.remove(this);
        return gate().handOver(this, ticket);
    }

    @Override
    public InsideGate asShared() {
        GateStay successor = new GateStay(terms.withDemand(Demand.shared()), caller, held);
        held.remove(this);
        held.add(successor);
        if (position() == Gate.Position.INSIDE) {
            gate().downgrade(this, successor);
        }
        return successor;
    }
}
