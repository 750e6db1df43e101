package io.holdfast.torture.mutant;

import io.holdfast.LockView;
import io.holdfast.spi.TimeSource;
import io.holdfast.torture.history.Event;
import io.holdfast.torture.history.Guard;
import io.holdfast.torture.history.HistoryReader;
import io.holdfast.torture.history.HistoryWriter;
import io.holdfast.torture.history.Operation;
import io.holdfast.torture.history.Phase;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A store, a resource and some clients; what they do ends up in histories as it would with processes. */
final class Stage implements AutoCloseable {

    static final String LOCK = "orders";

    private final Flaw flaw;
    private final Path directory;
    private final FlawedStore store;
    private final Resource resource;
    private final HistoryWriter history;
    private final List<Actor> actors = new ArrayList<>();

    Stage(Flaw flaw, Path directory) {
        this.flaw = flaw;
        this.directory = directory;
        this.store = new FlawedStore(flaw);
        this.resource = new Resource(flaw);
        this.history = HistoryWriter.create(directory.resolve("runner.jsonl"));
    }

    FlawedStore store() {
        return store;
    }

    Actor actor(String name) {
        return actor(name, TimeSource.system());
    }

    /** A client with an engine whose clock is far too slow, if that is the flaw. */
    Actor actorWithItsOwnClock(String name) {
        return actor(name, flaw == Flaw.SLOW_CLOCK ? new SlowClock() : TimeSource.system());
    }

    private Actor actor(String name, TimeSource time) {
        Actor actor = new Actor(name, directory, store, resource, time);
        actors.add(actor);
        return actor;
    }

    /** Writes down what is in the resource and in the store, and reads all that was written down. */
    List<Event> end() {
        history.write(runner(Operation.FINAL, Phase.OK)
                .guard(Guard.CHECKED)
                .value(resource.last())
                .build());
        LockView left = store.view(LOCK);
        boolean clean = left.holders().isEmpty() && left.waiters().isEmpty();
        history.write(runner(Operation.LEFTOVERS, clean ? Phase.OK : Phase.FAIL)
                .detail(left.toString())
                .build());
        return HistoryReader.directory(directory);
    }

    private static Event.Builder runner(Operation operation, Phase phase) {
        return Event.at(System.nanoTime(), "runner", operation, phase).lock(LOCK);
    }

    @Override
    public void close() {
        actors.forEach(Actor::close);
        store.close();
        history.close();
    }

    private static final class SlowClock implements TimeSource {

        private static final int SLOWNESS = 10;

        private final long start = System.nanoTime();

        @Override
        public long nanoTime() {
            return start + (System.nanoTime() - start) / SLOWNESS;
        }

        @Override
        public void parkUntil(Object blocker, long untilNanos) {
            TimeSource.system().parkUntil(blocker, start + (untilNanos - start) * SLOWNESS);
        }
    }
}
