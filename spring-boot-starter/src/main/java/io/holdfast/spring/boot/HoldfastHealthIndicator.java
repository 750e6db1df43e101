package io.holdfast.spring.boot;

import io.holdfast.Holdfast;
import java.time.Duration;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/** Asks a client's store once, for a second at most. */
final class HoldfastHealthIndicator extends AbstractHealthIndicator {

    private static final Duration LONGEST = Duration.ofSeconds(1);

    private final Holdfast client;

    HoldfastHealthIndicator(Holdfast client) {
        super("The lock store does not answer");
        this.client = client;
    }

    @Override
    protected void doHealthCheck(Health.Builder builder) {
        builder.withDetail("store", client.store());
        client.ping(LONGEST);
        builder.up();
    }
}
