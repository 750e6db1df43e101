package io.holdfast.torture.mutant;

import io.holdfast.LockException;
import io.holdfast.LockView;
import io.holdfast.LossReason;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.Refusal;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.StoreTraits;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.Withdrawal;
import io.holdfast.torture.mutant.FlawedStore.Renewed;
import io.holdfast.torture.mutant.Wire.Message;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The client side of a {@link FlawedStore}. */
final class FlawedStoreClient implements LockStore {

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
    public Optional<Refusal> request(Ticket ticket, Mode mode, Deadline deadline) {
        long sent = System.nanoTime();
        Optional<Long> token = wire.pass(Message.ASK, () -> server.request(ticket, mode));
        if (token.isPresent()) {
            long base = flaw == Flaw.DEADLINE_FROM_THE_REPLY ? System.nanoTime() : sent;
            ticket.granted(token.get(), ticket.ttl(), base);
            return Optional.empty();
        }
        if (mode == Mode.TRY) {
            return Optional.of(new Refusal("it is taken"));
        }
        ticket.waiting(ticket.ttl(), sent);
        return Optional.empty();
    }

    @Override
    public void renew(List<Ticket> tickets, Deadline deadline) {
        tickets.forEach(ticket -> {
            try {
                extend(ticket, ticket.ttl(), deadline);
            } catch (LockException e) {
                ticket.failing(e);
            }
        });
    }

    @Override
    public void extend(Ticket ticket, Duration ttl, Deadline deadline) {
        long sent = System.nanoTime();
        switch (renewed(ticket, ttl)) {
            case WAITING -> ticket.waiting(ttl, sent);
            case HELD -> ticket.extended(ttl, sent);
            case GONE -> ticket.gone(LossReason.GONE, "the store does not know it");
        }
    }

    private Renewed renewed(Ticket ticket, Duration ttl) {
        try {
            return wire.pass(Message.RENEW, () -> server.renew(ticket, ttl));
        } catch (LockException e) {
            if (flaw == Flaw.RENEWAL_COUNTED_WITHOUT_REPLY) {
                return Renewed.HELD;
            }
            throw e;
        }
    }

    @Override
    public ReleaseAnswer release(Ticket ticket, Duration linger, Deadline deadline) {
        boolean held = wire.pass(Message.RELEASE, () -> server.release(ticket.owner()));
        return held ? ReleaseAnswer.RELEASED : ReleaseAnswer.NOT_HELD;
    }

    @Override
    public Withdrawal withdraw(Ticket ticket, Deadline deadline) {
        boolean removed = wire.pass(Message.WITHDRAW, () -> server.withdraw(ticket.owner()));
        return removed ? Withdrawal.REMOVED : Withdrawal.NOT_FOUND;
    }

    @Override
    public LockView view(String name, Deadline deadline) {
        return server.view(name);
    }

    @Override
    public Page views(String prefix, Optional<String> after, int limit, Deadline deadline) {
        return new Page(List.of(server.view(Stage.LOCK)), Optional.empty());
    }

    @Override
    public void ping(Deadline deadline) {}

    @Override
    public void close() {}
}
