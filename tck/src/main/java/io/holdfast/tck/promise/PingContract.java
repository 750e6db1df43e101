package io.holdfast.tck.promise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.ClientClosedException;
import io.holdfast.Holdfast;
import io.holdfast.StoreUnavailableException;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Whether the store can be reached is found out by one question that touches no lock. */
@DisplayName("Ping")
public abstract class PingContract extends StoreContract {

    @Test
    void aStoreThatCanBeReachedAnswersEvenIfNothingWasAskedBefore() {
        Holdfast fresh = client();

        fresh.ping(patience());
        fresh.ping(patience());

        assertThat(fresh.locks(name(""))).isEmpty();
    }

    @Test
    void aStoreThatCannotBeReachedIsSaidToBeUnavailableWithinTheTimeGiven() {
        assumeTrue(subject().faults().isPresent(), "the way to the server cannot be cut");
        Duration maxWait = Duration.ofSeconds(1);
        Holdfast client = client(subject().store());
        client.ping(patience());

        subject().faults().orElseThrow().cut();
        long started = System.nanoTime();

        assertThatThrownBy(() -> client.ping(maxWait)).isInstanceOf(StoreUnavailableException.class);
        assertThat(Duration.ofNanos(System.nanoTime() - started)).isLessThan(maxWait.plus(SLACK));

        subject().faults().orElseThrow().heal();
        soon().ignoreExceptionsInstanceOf(StoreUnavailableException.class).untilAsserted(() -> client.ping(patience()));
    }

    @Test
    void aStoreThatWasNeverReachedIsSaidToBeUnavailableWithinTheTimeGiven() {
        assumeTrue(subject().faults().isPresent(), "the way to the server cannot be cut");
        Duration maxWait = Duration.ofSeconds(1);
        subject().faults().orElseThrow().cut();
        Holdfast client = client(subject().store(), builder -> builder.closeTimeout(Duration.ofMillis(300)));
        long started = System.nanoTime();

        assertThatThrownBy(() -> client.ping(maxWait)).isInstanceOf(StoreUnavailableException.class);

        assertThat(Duration.ofNanos(System.nanoTime() - started)).isLessThan(maxWait.plus(SLACK));
    }

    @Test
    void aClosedClientAsksNobody() {
        Holdfast closed = client();
        closed.close();

        assertThatThrownBy(() -> closed.ping(patience())).isInstanceOf(ClientClosedException.class);
    }
}
