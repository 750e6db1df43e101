package io.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Demand;
import io.holdfast.LockView.Origin;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.Grant;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.QueueingStore;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.RenewalAnswer;
import io.holdfast.spi.RenewalRequest;
import io.holdfast.spi.Request;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TicketListener;
import io.holdfast.spi.Withdrawal;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** Talks to a client's store as its engine does, but without the engine: nothing is renewed, repeated or undone. */
final class DirectStore {

    /** Beyond the numbers the client's own engine uses. */
    private final AtomicLong number = new AtomicLong(1_000_000);

    private final LockStore store;
    private final StoreContext context;

    DirectStore(StoreTap tap) {
        this.store = tap.opened();
        this.context = tap.context();
    }

    LockStore store() {
        return store;
    }

    Deadline deadline() {
        return Deadline.after(context.time(), Duration.ofSeconds(5));
    }

    /** A request with an owner id of its own. */
    Request request(String name, Demand demand, Duration ttl) {
        OwnerId owner = new OwnerId(context.clientId(), number.incrementAndGet());
        Origin origin = new Origin(context.clientName(), "tck-host", 4711, "tck-thread");
        return new Request(name, owner, demand, ttl, origin);
    }

    Answer attempt(Request request) {
        return store.attempt(request, deadline());
    }

    Answer enqueue(Request request, TicketListener listener) {
        return ((QueueingStore) store).enqueue(request, listener, deadline());
    }

    Grant grant(String name, Demand demand, Duration ttl) {
        Answer answer = attempt(request(name, demand, ttl));
        assertThat(answer)
                .as("answer to an attempt on the free lock '%s'", name)
                .isInstanceOf(Answer.Granted.class);
        return ((Answer.Granted) answer).grant();
    }

    RenewalAnswer renew(Claim claim, Duration ttl) {
        List<RenewalAnswer> answers = store.renew(List.of(new RenewalRequest(claim, ttl)), deadline());
        assertThat(answers).as("one answer per renewal").hasSize(1);
        return answers.get(0);
    }

    ReleaseAnswer release(Grant grant) {
        return store.release(grant, Duration.ZERO, deadline());
    }

    Withdrawal withdraw(Request request) {
        return store.withdraw(request, deadline());
    }
}
