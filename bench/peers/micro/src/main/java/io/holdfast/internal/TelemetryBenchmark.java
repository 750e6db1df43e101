package io.holdfast.internal;

import io.holdfast.Demand;
import io.holdfast.LockStatistics.StoreOperation;
import io.holdfast.ReleaseResult;
import io.holdfast.internal.telemetry.Telemetry;
import io.holdfast.internal.work.Callbacks;
import io.holdfast.internal.work.ClientThreads;
import io.holdfast.internal.work.Lifecycle;
import io.holdfast.spi.LockObserver.Way;
import io.holdfast.spi.TimeSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;

/** What the engine tells of one acquisition and release while nobody listens. With {@code -prof gc}: 0 B/op. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class TelemetryBenchmark {

    private final TimeSource time = TimeSource.system();
    private ClientThreads threads;
    private Telemetry telemetry;

    @Setup
    public void begin() {
        threads = new ClientThreads("bench", time);
        Callbacks callbacks =
                new Callbacks(Optional.empty(), threads.callbacks(), threads.lossCallbacks(), new Lifecycle("bench"));
        telemetry = new Telemetry(List.of(), List.of(), callbacks, time);
    }

    @TearDown
    public void end() {
        threads.stop();
    }

    @Benchmark
    @Threads(1)
    public Object nobodyListens() {
        return tellOfOne();
    }

    @Benchmark
    @Threads(4)
    public Object nobodyListensToFour() {
        return tellOfOne();
    }

    /** The clock alone. */
    @Benchmark
    @Threads(1)
    public long oneLookAtTheClock() {
        return time.nanoTime();
    }

    /** One look at the clock is its own, at the end of the release; at the end of the request the lease begins, too. */
    private Object tellOfOne() {
        Telemetry.Story story = telemetry.begin("bench", Demand.exclusive());
        story.started();
        telemetry.requestEnds(StoreOperation.QUEUE, 0, 1, telemetry.requestBegins(StoreOperation.QUEUE), null);
        story.acquired(Way.GRANTED, 1, 0);
        Object release = telemetry.requestBegins(StoreOperation.RELEASE);
        telemetry.requestEnds(StoreOperation.RELEASE, 0, time.nanoTime(), release, null);
        story.released(1, ReleaseResult.RELEASED, 0);
        return story;
    }
}
