package io.holdfast.spring.boot;

import io.holdfast.StoreUnavailableException;
import io.holdfast.spring.LockMisuseException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Tells people why the application did not start, and what to do. */
final class LockFailureAnalyzers {

    private LockFailureAnalyzers() {}

    static final class Misuse extends AbstractFailureAnalyzer<LockMisuseException> {
        @Override
        protected FailureAnalysis analyze(Throwable root, LockMisuseException cause) {
            return new FailureAnalysis(cause.method() + " " + cause.problem() + ".", cause.nextStep() + ".", cause);
        }
    }

    static final class NoStore extends AbstractFailureAnalyzer<NoLockStoreException> {
        @Override
        protected FailureAnalysis analyze(Throwable root, NoLockStoreException cause) {
            return new FailureAnalysis(cause.getMessage() + ".", cause.nextStep() + ".", cause);
        }
    }

    static final class StoreDown extends AbstractFailureAnalyzer<StoreUnavailableException> {
        @Override
        protected FailureAnalysis analyze(Throwable root, StoreUnavailableException cause) {
            return new FailureAnalysis(
                    String.valueOf(cause.getMessage()),
                    "Start the store, correct its address in holdfast.store, or set holdfast.ping=false to start without it.",
                    cause);
        }
    }
}
