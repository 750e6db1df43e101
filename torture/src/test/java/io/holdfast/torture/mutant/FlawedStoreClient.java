package io.holdfast.torture.mutant;

import io.holdfast.LockException;
import io.holdfast.LockView;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.Grant;
import io.holdfast.spi.QueueingStore;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.RenewalAnswer;
import io.holdfast.spi.RenewalRequest;
import io.holdfast.spi.Request;
import io.holdfast.spi.StoreTraits;
import io.holdfast.spi.TicketListener;
import io.holdfast.spi.Withdrawal;
import io.holdfast.torture.mutant.Wire.Message;
import java.time.Duration;
import java.util.List;

/** The client side of a {@link FlawedStore}. */
final class FlawedStoreClient implements QueueingStore {

    private final FlawedStore server;
    private final Wire wire;
    private final Flaw flaw;

    FlawedStoreClient(FlawedStore server, Wire wire, Flaw flaw) {
        this.server = server;
        this.wire = wire;
        this.flaw = flaw;
    }

    @Override
    public StoreTraits traits() {
        return StoreTraits.of("flawed");
    }

    @Override
    public Answer attempt(Request request, Deadline deadline) {
        long sent = System.nanoTime();
        return counted(wire.pass(Message.ASK, () -> server.attempt(request, sent)));
    }

    @Override
    public Answer enqueue(Request request, TicketListener listener, Deadline deadline) {
        long sent = System.nanoTime();
        return counted(wire.pass(Message.ASK, () -> server.enqueue(request, listener, sent)));
    }

    private Answer counted(Answer answer) {
        if (flaw == Flaw.DEADLINE_FROM_THE_REPLY && answer instanceof Answer.Granted granted) {
            Grant grant = granted.grant();
            return new Answer.Granted(new Grant(grant.request(), grant.token(), grant.ttl(), System.nanoTime()));
        }
        return answer;
    }

    @Override
    public List<RenewalAnswer> renew(List<RenewalRequest> renewals, Deadline deadline) {
        return renewals.stream().map(this::renew).toList();
    }

    private RenewalAnswer renew(RenewalRequest renewal) {
        long sent = System.nanoTime();
        try {
            boolean kept =
                    wire.pass(Message.RENEW, () -> server.renew(renewal.claim().request(), renewal.ttl(), sent));
            return kept
                    ? new RenewalAnswer.Extended(sent, renewal.ttl())
                    : new RenewalAnswer.Gone("the store does not know it");
        } catch (LockException e) {
            return flaw == Flaw.RENEWAL_COUNTED_WITHOUT_REPLY
                    ? new RenewalAnswer.Extended(sent, renewal.ttl())
                    : new RenewalAnswer.Unsettled(e);
        }
    }

    @Override
    public ReleaseAnswer release(Grant grant, Duration linger, Deadline deadline) {
        boolean held =
                wire.pass(Message.RELEASE, () -> server.release(grant.request().owner()));
        return held ? ReleaseAnswer.RELEASED : ReleaseAnswer.NOT_HELD;
    }

    @Override
    public Withdrawal withdraw(Request request, Deadline deadline) {
        boolean removed = wire.pass(Message.WITHDRAW, () -> server.withdraw(request.owner()));
        return removed ? Withdrawal.REMOVED : Withdrawal.NOT_FOUND;
    }

    @Override
    public LockView view(String name, Deadline deadline) {
        return server.view(name);
    }

    @Override
    public List<LockView> views(String prefix, Deadline deadline) {
        return List.of(server.view(Stage.LOCK));
    }

    @Override
    public void close() {}
}
