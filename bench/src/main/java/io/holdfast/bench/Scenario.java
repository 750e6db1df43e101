package io.holdfast.bench;

import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/** The experiments. */
public enum Scenario {
    FREE('a', "free lock", "One thread takes and returns a lock nobody else wants.") {
        @Override
        public List<Load> loads(int jvms) {
            return List.of(Load.of(1, 1));
        }
    },
    SPREAD('b', "32 locks", "32 threads of one JVM, each with a lock of its own.") {
        @Override
        public List<Load> loads(int jvms) {
            return List.of(Load.of(1, 32).withLocks(32));
        }
    },
    FEW('h', "few clients", "Four threads, in two JVMs if the store allows, want the same lock all the time.") {
        @Override
        public List<Load> loads(int jvms) {
            return List.of(Load.of(Math.min(2, jvms), 4));
        }
    },
    CROWD('c', "16 threads", "16 threads of one JVM want the same lock all the time.") {
        @Override
        public List<Load> loads(int jvms) {
            return List.of(Load.of(1, 16));
        }
    },
    PROCESSES('d', "4 JVMs x 4", "Four JVMs with four threads each want the same lock all the time.") {
        @Override
        public List<Load> loads(int jvms) {
            return jvms < 4 ? List.of() : List.of(Load.of(4, 16));
        }
    },
    SECTION('e', "5 ms section", "As before, and each holds the lock for 5 ms: at best 200 a second.") {
        @Override
        public List<Load> loads(int jvms) {
            return List.of(Load.of(Math.min(4, jvms), 16).withSection(Duration.ofMillis(5)));
        }
    },
    GROWTH('f', "growth", "10, 100 and 1,000 threads want the same lock all the time.") {
        @Override
        public List<Load> loads(int jvms) {
            int most = Math.min(4, jvms);
            return List.of(Load.of(most, 10), Load.of(most, 100), Load.of(most, 1000));
        }
    },
    HELD('g', "10,000 held", "10,000 leases are held and renewed for a minute.") {
        @Override
        public List<Load> loads(int jvms) {
            return List.of(Load.of(1, 1).withLocks(10_000).withSection(Duration.ofMinutes(1)));
        }
    },
    NETWORK('n', "1 ms network", "Four JVMs with four threads each, and 1 ms each way to the server.") {
        @Override
        public List<Load> loads(int jvms) {
            return PROCESSES.loads(jvms);
        }
    };

    private final char letter;
    private final String title;
    private final String explanation;

    Scenario(char letter, String title, String explanation) {
        this.letter = letter;
        this.title = title;
        this.explanation = explanation;
    }

    /** What is run, one after the other, on a store that at most {@code jvms} JVMs can share. */
    public abstract List<Load> loads(int jvms);

    /** In options and files. */
    public String key() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The letter under which the comparison knows it. */
    public char letter() {
        return letter;
    }

    public String title() {
        return title;
    }

    public String explanation() {
        return explanation;
    }

    /** Whether somebody waits, so that the way of waiting makes a difference. */
    public boolean isContended() {
        return this != FREE && this != SPREAD && this != HELD;
    }

    /** All but {@link #HELD}, which takes a minute by itself. */
    public static Set<Scenario> usual() {
        return EnumSet.complementOf(EnumSet.of(HELD));
    }

    /**
     * Keys or letters, separated by commas; {@code all} is {@link #usual}.
     *
     * @throws IllegalArgumentException naming those there are
     */
    public static Set<Scenario> parse(String text) {
        Set<Scenario> chosen = EnumSet.noneOf(Scenario.class);
        for (String word : text.toLowerCase(Locale.ROOT).split(",")) {
            String wanted = word.strip();
            if (wanted.equals("all")) {
                chosen.addAll(usual());
            } else {
                chosen.add(Arrays.stream(values())
                        .filter(scenario -> scenario.key().equals(wanted) || wanted.equals("" + scenario.letter))
                        .findAny()
                        .orElseThrow(() -> new IllegalArgumentException("There is no scenario '" + wanted
                                + "'; there are all, "
                                + Arrays.stream(values()).map(Scenario::key).collect(Collectors.joining(", ")))));
            }
        }
        return chosen;
    }
}
