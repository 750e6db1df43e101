package io.holdfast.zookeeper;

import java.util.Set;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Skips what the kit asks of an extension beyond the ttl: here that is refused, see {@code ZooKeeperStoreTest}. */
final class SessionsCannotGrow implements ExecutionCondition {

    private static final Set<String> BEYOND_THE_TTL =
            Set.of("anExtensionLengthensTheLeaseHereAndInTheStore", "aFixedLeaseCanBeExtended");

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        boolean skip = context.getTestMethod()
                .map(method -> BEYOND_THE_TTL.contains(method.getName()))
                .orElse(false);
        return skip
                ? ConditionEvaluationResult.disabled("a ttl is the timeout of a session, which cannot be changed")
                : ConditionEvaluationResult.enabled("");
    }
}
