package io.holdfast.torture.nemesis;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Something that goes wrong on purpose. */
public enum Fault {
    KILL_HOLDER(Family.KILL, 0.5, 1, "kill -9 of a process that holds a lock"),
    KILL_WAITER(Family.KILL, 0.5, 1, "kill -9 of a process that waits for one"),
    PAUSE(Family.PAUSE, 3, 3, "SIGSTOP of a process that holds a lock, for three ttls"),
    STALL(Family.PAUSE, 0.3, 1.3, "a pause about as long as a ttl, as a long garbage collection makes"),
    STOP(Family.PAUSE, 4, 5, "SIGSTOP of a process inside its requests for locks; others must go on while it lasts"),
    CUT(Family.NET, 0.5, 2.5, "nothing passes between a client and the servers"),
    CUT_REQUESTS(Family.NET, 0.5, 2.5, "requests do not arrive, replies do"),
    CUT_REPLIES(Family.NET, 0.5, 2.5, "requests arrive and are carried out, replies are lost"),
    DELAY(Family.NET, 1, 3, "everything arrives late, by half to three renewal periods"),
    RESET(Family.NET, 0.2, 0.5, "connections are reset"),
    SERVER_KILL(Family.SERVER, 0.2, 2, "kill -9 of the servers, restarted with their data"),
    SERVER_WIPE(Family.SERVER, 0.2, 1, "kill -9 of a server, restarted without its data"),
    SERVER_PAUSE(Family.SERVER, 0.5, 2.5, "SIGSTOP of a server"),
    LEADER_KILL(Family.SERVER, 1, 3, "kill -9 of the leader or primary, or of a minority of equals"),
    PARTITION(Family.SERVER, 2, 4, "the leader or primary is cut off from the other servers"),
    FULL(Family.SERVER, 1, 3, "the server has no room for anything new"),
    READ_ONLY(
            Family.SERVER,
            0.5,
            3,
            "the server is a replica and refuses to write, as an address that was moved too late"),
    SLOT_MOVE(
            Family.SERVER,
            0.5,
            2,
            "slots are on their way to another server of a Redis Cluster, half of their keys there"),
    LATE_SWEEP(
            Family.SERVER,
            2,
            4,
            "listings for sweeps of etcd's sessions come so late that what they list has changed meanwhile"),
    CLIENT_CLOCK(Family.CLOCK, 0.5, 2, "a client's wall clock jumps by an hour, back or ahead"),
    SERVER_CLOCK(Family.CLOCK, 0.5, 2, "the server's wall clock steps"),
    MISCHIEF(Family.MISCHIEF, 1, 2, "interrupts, cancels, timeouts and closes at random"),
    EXECUTOR(Family.EXECUTOR, 4, 5, "the executor lent to a client hangs, blocks or refuses; all must go on meanwhile");

    /** Faults of one kind; a user may ask for all of them by the family's name. */
    public enum Family {
        KILL,
        PAUSE,
        NET,
        SERVER,
        CLOCK,
        MISCHIEF,
        EXECUTOR;

        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private final Family family;
    private final double shortestTtls;
    private final double longestTtls;
    private final String meaning;

    Fault(Family family, double shortestTtls, double longestTtls, String meaning) {
        this.family = family;
        this.shortestTtls = shortestTtls;
        this.longestTtls = longestTtls;
        this.meaning = meaning;
    }

    public Family family() {
        return family;
    }

    /** The same for people. */
    public String meaning() {
        return meaning;
    }

    /** How people write it: {@code kill-holder}. */
    public String word() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    double shortestTtls() {
        return shortestTtls;
    }

    double longestTtls() {
        return longestTtls;
    }

    /** Whether it is done to servers; such faults come one at a time, beside those of clients. */
    public boolean isOfServers() {
        return family == Family.SERVER || this == SERVER_CLOCK;
    }

    /** Whether locks must be served while it lasts. */
    public boolean isJudgedWhileItLasts() {
        return this == STOP || this == EXECUTOR || this == LATE_SWEEP;
    }

    /**
     * Reads faults and families, as in {@code kill,pause,cut}.
     *
     * @throws IllegalArgumentException naming what there is
     */
    public static Set<Fault> parse(List<String> words) {
        Set<Fault> faults = EnumSet.noneOf(Fault.class);
        for (String word : words) {
            List<Fault> meant = Arrays.stream(values())
                    .filter(fault ->
                            fault.word().equals(word) || fault.family.word().equals(word))
                    .toList();
            if (meant.isEmpty()) {
                throw new IllegalArgumentException("there is no fault '" + word + "'; there are " + known());
            }
            faults.addAll(meant);
        }
        return faults;
    }

    private static List<String> known() {
        List<String> words = new ArrayList<>();
        Arrays.stream(Family.values()).map(Family::word).forEach(words::add);
        Arrays.stream(values())
                .map(Fault::word)
                .filter(word -> !words.contains(word))
                .forEach(words::add);
        return words;
    }
}
