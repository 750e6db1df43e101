package io.holdfast.internal.ticket;

import io.holdfast.LockView;
import io.holdfast.LockView.Holder;
import io.holdfast.spi.LockStore.Page;
import io.holdfast.spi.Tokens;
import java.util.List;
import java.util.Optional;

/**
 * Locks as the store sees them, but for what only this client knows: which of its leases goes on with a grant that was handed on.
 * Thread-safe.
 */
public final class Views {

    private final StoreRequests requests;
    private final Keeper keeper;

    public Views(StoreRequests requests, Keeper keeper) {
        this.requests = requests;
        this.keeper = keeper;
    }

    public LockView view(String name) {
        return withLeases(requests.view(name), keeper.handedOn());
    }

    public Page views(String prefix, Optional<String> after, int limit) {
        Page page = requests.views(prefix, after, limit);
        List<KeptTicket> handedOn = keeper.handedOn();
        return new Page(
                page.locks().stream().map(view -> withLeases(view, handedOn)).toList(), page.next());
    }

    private static LockView withLeases(LockView view, List<KeptTicket> handedOn) {
        List<KeptTicket> ofThis = handedOn.stream()
                .filter(kept -> kept.ticket().name().equals(view.name()))
                .toList();
        return ofThis.isEmpty()
                ? view
                : new LockView(
                        view.name(),
                        view.holders().stream()
                                .map(holder -> withLease(holder, ofThis))
                                .toList(),
                        view.waiters());
    }

    private static Holder withLease(Holder holder, List<KeptTicket> handedOn) {
        for (KeptTicket kept : handedOn) {
            long firstToken = Tokens.ofUsers(kept.ticket().storeToken(), 0);
            if (holder.token().equals(Optional.of(firstToken))) {
                return new Holder(
                        holder.origin().map(kept::usersOrigin),
                        holder.demand(),
                        Optional.of(kept.usersToken()),
                        holder.since(),
                        holder.timeLeft(),
                        holder.standing());
            }
        }
        return holder;
    }
}
