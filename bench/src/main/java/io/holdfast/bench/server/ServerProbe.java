package io.holdfast.bench.server;

import java.util.OptionalDouble;

/** Looks at a server from the outside: how much CPU time and how many commands it has needed so far. */
@FunctionalInterface
public interface ServerProbe {

    Sample sample();

    /** Nothing can be seen. */
    static ServerProbe blind() {
        return () -> new Sample(OptionalDouble.empty(), OptionalDouble.empty());
    }

    /** One look. */
    record Sample(OptionalDouble cpuNanos, OptionalDouble commands) {

        public OptionalDouble cpuNanosSince(Sample before) {
            return difference(cpuNanos, before.cpuNanos);
        }

        public OptionalDouble commandsSince(Sample before) {
            return difference(commands, before.commands);
        }

        private static OptionalDouble difference(OptionalDouble now, OptionalDouble then) {
            return now.isPresent() && then.isPresent()
                    ? OptionalDouble.of(now.getAsDouble() - then.getAsDouble())
                    : OptionalDouble.empty();
        }
    }
}
