package io.holdfast.spi.support;

import io.holdfast.Demand;
import io.holdfast.spi.Admission;
import java.util.List;
import java.util.Optional;

/**
 * The ticket to watch for somebody far from the front of a queue, merely to know when to look again.
 *
 * <p>Not simply the one so many places ahead: it may hold the lock together with others, or be about to, and never have to leave
 * before the one who waits is admitted. So it is one that excludes the waiting ticket. Among permits none has to be, since any holder may
 * make room; then it is the one after which the rest is near if tickets leave as they came.
 *
 * @param place in the queue, from 0
 * @param mustLeave whether nobody is admitted behind it, at that distance, before it has left
 */
public record FarAhead(int place, boolean mustLeave) {

    /**
     * Empty for a ticket with fewer than {@code distance} waiting ahead of it. Those who hold are not counted: a lock of many holders
     * has a front too.
     *
     * @param ahead the demands of the tickets ahead of it, in order
     */
    public static Optional<FarAhead> of(Demand waiting, List<Demand> ahead, int distance) {
        Admission admission = new Admission();
        int holders = (int) ahead.stream().takeWhile(admission::admit).count();
        if (ahead.size() - holders < distance) {
            return Optional.empty();
        }
        for (int place = ahead.size() - distance; place >= 0; place--) {
            if (excludes(ahead.get(place), waiting)) {
                return Optional.of(new FarAhead(place, true));
            }
        }
        return Optional.of(new FarAhead(ahead.size() - distance - holders, false));
    }

    private static boolean excludes(Demand earlier, Demand later) {
        Admission admission = new Admission();
        return !(admission.admit(earlier) && admission.admit(later));
    }
}
