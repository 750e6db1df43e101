package io.holdfast.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.testing.TestLocks;
import io.micrometer.tracing.Span;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.test.simple.SimpleSpan;
import io.micrometer.tracing.test.simple.SimpleTracer;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("spans")
class HoldfastTracingTest {

    private final SimpleTracer tracer = new SimpleTracer();
    private final TestLocks locks = TestLocks.create(
            // A first acquisition of a busy machine may take longer than the 10 ms that count as having waited.
            builder -> builder.observer(HoldfastTracing.of(tracer, Duration.ofSeconds(2))));
    private final Holdfast holdfast = locks.holdfast();

    @AfterEach
    void close() {
        locks.close();
    }

    @Test
    void aLockThatWasFreeMakesNoSpan() {
        holdfast.lock("stock/42").tryRun(() -> {});

        assertThat(tracer.getSpans()).isEmpty();
    }

    @Test
    void anAcquisitionThatWaitedIsASpanWithItsRealStartNameAndToken() {
        TestLocks.OtherHolder other = locks.takenByOther("stock/42");
        CompletableFuture<Lease> waiting = holdfast.lock("stock/42").acquireAsync();
        locks.advance(Duration.ofSeconds(7));
        other.release();
        Instant before = Instant.now();
        Lease lease = waiting.join();

        SimpleSpan span = tracer.onlySpan();
        assertThat(span.getName()).isEqualTo("acquire lock");
        assertThat(span.getTags())
                .containsEntry("holdfast.lock", "stock/42")
                .containsEntry("holdfast.token", String.valueOf(lease.token()))
                .containsEntry("holdfast.outcome", "granted")
                .containsEntry("holdfast.store", "memory");
        assertThat(span.getStartTimestamp()).isCloseTo(before.minusSeconds(7), within(2, ChronoUnit.SECONDS));
        assertThat(span.getEndTimestamp()).isCloseTo(before, within(2, ChronoUnit.SECONDS));
        lease.release();
    }

    @Test
    void anAcquisitionWithoutALeaseIsASpanToo() {
        locks.takenByOther("stock/42");

        assertThat(holdfast.lock("stock/42").tryAcquire()).isEmpty();

        assertThat(tracer.onlySpan().getTags())
                .containsEntry("holdfast.outcome", "taken")
                .doesNotContainKey("holdfast.token");
    }

    @Test
    void itBelongsToTheSpanInWhichTheLockWasAskedForWhateverThreadEndsIt() {
        TestLocks.OtherHolder other = locks.takenByOther("stock/42");
        Span request = tracer.nextSpan().name("request").start();
        CompletableFuture<Lease> waiting;
        try (Tracer.SpanInScope scope = tracer.withSpan(request)) {
            waiting = holdfast.lock("stock/42").acquireAsync();
        }
        locks.advance(Duration.ofSeconds(3));
        other.release();
        waiting.join().release();
        request.end();

        assertThat(tracer.getSpans())
                .filteredOn(span -> span.getName().equals("acquire lock"))
                .singleElement()
                .satisfies(span -> {
                    assertThat(span.context().traceId())
                            .isEqualTo(request.context().traceId());
                    assertThat(span.context().parentId())
                            .isEqualTo(request.context().spanId());
                });
    }
}
