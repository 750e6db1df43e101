package io.holdfast.torture.nemesis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;

/**
 * Which faults come when. A function of its arguments alone: the same seed gives the same schedule, on any machine.
 *
 * <p>Faults of clients follow each other, those of servers too, and the two kinds overlap. Which process "a holder" is when
 * a fault comes depends on the run, not on the schedule.
 *
 * @param seed what it was made from
 * @param length how long the run is
 * @param faults in the order in which they begin
 */
public record Schedule(long seed, Duration length, List<PlannedFault> faults) {

    /** Nothing happens before: workers shall have begun. */
    private static final Duration CALM = Duration.ofMillis(1500);

    public Schedule {
        faults = List.copyOf(faults);
    }

    /** Plans a run: all faults have ended when it is over. */
    public static Schedule plan(long seed, Collection<Fault> kinds, Duration length, Duration ttl) {
        List<PlannedFault> planned = new ArrayList<>();
        planTrack(seed, kinds.stream().filter(Fault::isOfServers).toList(), length, ttl, planned);
        planTrack(~seed, kinds.stream().filter(kind -> !kind.isOfServers()).toList(), length, ttl, planned);
        planned.sort(Comparator.comparing(PlannedFault::at).thenComparing(PlannedFault::fault));
        return new Schedule(seed, length, planned);
    }

    private static void planTrack(
            long seed, List<Fault> kinds, Duration length, Duration ttl, List<PlannedFault> planned) {
        if (kinds.isEmpty()) {
            return;
        }
        Random random = new Random(seed);
        List<Fault> deck = new ArrayList<>();
        Duration at = CALM.plus(ttls(ttl, random.nextDouble() * 0.3));
        while (true) {
            if (deck.isEmpty()) {
                // Dealt out like cards: in a short run too, every kind comes before one comes twice.
                kinds.stream().sorted().forEach(deck::add);
                Collections.shuffle(deck, random);
            }
            Fault fault = deck.remove(deck.size() - 1);
            double span = fault.longestTtls() - fault.shortestTtls();
            Duration lasting = ttls(ttl, fault.shortestTtls() + random.nextDouble() * span);
            if (at.plus(lasting).compareTo(length) > 0) {
                return;
            }
            planned.add(new PlannedFault(at, lasting, fault, random.nextInt()));
            at = at.plus(lasting).plus(ttls(ttl, 0.3 + random.nextDouble() * 0.9));
        }
    }

    /** In whole milliseconds, so that a schedule reads as it is. */
    private static Duration ttls(Duration ttl, double count) {
        return Duration.ofMillis(Math.round(ttl.toMillis() * count));
    }
}
