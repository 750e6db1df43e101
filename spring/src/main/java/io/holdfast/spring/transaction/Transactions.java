package io.holdfast.spring.transaction;

import io.holdfast.spring.held.Held;
import org.springframework.core.Ordered;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/** The transaction of the calling thread. Transactions are an optional dependency: without it there never is one. */
public final class Transactions {

    private static final boolean PRESENT = ClassUtils.isPresent(
            "org.springframework.transaction.support.TransactionSynchronizationManager",
            Transactions.class.getClassLoader());

    private Transactions() {}

    public static boolean isOpen() {
        return PRESENT
                && TransactionSynchronizationManager.isActualTransactionActive()
                && TransactionSynchronizationManager.isSynchronizationActive();
    }

    /** Runs it when the transaction has ended, after everything else that waits for that. */
    public static void whenEnded(Runnable release) {
        TransactionSynchronizationManager.registerSynchronization(new AtEnd(release));
    }

    /** Rolls the transaction back instead of committing it, if the lease is lost by then. */
    static void commitOnlyWith(Held held) {
        TransactionSynchronizationManager.registerSynchronization(new BeforeCommit(held));
    }

    private record AtEnd(Runnable release) implements TransactionSynchronization {
        @Override
        public void afterCompletion(int status) {
            release.run();
        }

        @Override
        public int getOrder() {
            return Ordered.LOWEST_PRECEDENCE;
        }
    }

    private record BeforeCommit(Held held) implements TransactionSynchronization {
        @Override
        public void beforeCommit(boolean readOnly) {
            held.requireValid();
        }

        /** Last, so that what other synchronizations write late is covered too. */
        @Override
        public int getOrder() {
            return Ordered.LOWEST_PRECEDENCE;
        }
    }
}
