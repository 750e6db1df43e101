package io.holdfast.bench;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A contender by name, and how a worker JVM gets it.
 *
 * @param name for people, for example {@code queued}
 * @param store the store it talks to, for people
 * @param kind what it is
 * @param factory the class of its {@link Contender.Factory}
 * @param settings for the factory
 * @param classPath of the worker
 * @param scenarios what it can take part in
 * @param heavy whether its JVM needs a long warm-up
 */
public record ContenderSpec(
        String name,
        String store,
        Kind kind,
        String factory,
        Map<String, String> settings,
        List<String> classPath,
        Set<Scenario> scenarios,
        boolean heavy) {

    /** What a contender is to the reader of a report. */
    public enum Kind {
        /** Holdfast. */
        OURS,
        /** Another library, with leases. */
        PEER,
        /** A lock without lease or token: it frees nothing if its holder hangs. */
        BARE,
        /** Only the round trips a lock of this store cannot avoid. */
        FLOOR
    }

    public ContenderSpec {
        settings = Map.copyOf(settings);
        classPath = List.copyOf(classPath);
        scenarios = Set.copyOf(scenarios);
    }

    /** The same contender with another value of a setting. */
    public ContenderSpec with(String setting, String value) {
        Map<String, String> changed = new HashMap<>(settings);
        changed.put(setting, value);
        return new ContenderSpec(name, store, kind, factory, changed, classPath, scenarios, heavy);
    }
}
