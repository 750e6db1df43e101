package io.holdfast.spring.call;

import io.holdfast.spring.held.Held;
import io.holdfast.spring.held.HeldByThread;
import java.util.List;
import java.util.Optional;

/** Finds the leases under which a call goes on that is inside of others. */
final class Reentry {

    private Reentry() {}

    /**
     * What the calling thread holds of the locks of this call, if it is all of them.
     *
     * @throws IllegalStateException if it holds some of them, or not as the call needs them: to wait for these could last for ever
     */
    static Optional<Held> of(LockedCall call) {
        List<HeldByThread.Found> found = call.names().stream()
                .flatMap(name -> HeldByThread.find(call.client(), name).stream())
                .toList();
        if (found.isEmpty()) {
            return Optional.empty();
        }
        if (found.size() < call.names().size()) {
            throw new IllegalStateException(
                    "This thread holds some of the locks " + call.names() + " of "
                            + call.plan().describe()
                            + " already, and waiting for the others could last for ever: take all of them in the outer method.");
        }
        for (HeldByThread.Found one : found) {
            if (!one.held().covers(call.plan().demand())) {
                throw new IllegalStateException("This thread holds lock '"
                        + one.lease().name() + "' already, but "
                        + one.held().demand() + ", and " + call.plan().describe() + " needs it "
                        + call.plan().demand()
                        + ", for which it would wait for itself: take it so in the outer method.");
            }
            one.lease().requireValid();
        }
        return Optional.of(Held.inside(
                found.stream().map(HeldByThread.Found::held).distinct().toList(),
                found.stream().map(HeldByThread.Found::lease).toList()));
    }
}
