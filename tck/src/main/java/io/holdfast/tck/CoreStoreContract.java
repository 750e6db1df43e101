package io.holdfast.tck;

import io.holdfast.tck.promise.ExclusionContract;
import io.holdfast.tck.promise.FencingContract;
import io.holdfast.tck.promise.LivenessContract;
import io.holdfast.tck.promise.OrderContract;
import io.holdfast.tck.promise.OwnershipContract;
import org.junit.jupiter.api.Nested;

/**
 * The heart of the kit, for further topologies of a store whose main one passes {@link LockStoreContract}: exclusion,
 * fencing, ownership, order and liveness. Its tests are tagged {@code core} there too.
 */
public abstract class CoreStoreContract implements StoreUnderTest {
    @Nested
    class Exclusion extends ExclusionContract {
        @Override
        protected StoreUnderTest subject() {
            return CoreStoreContract.this;
        }
    }

    @Nested
    class Fencing extends FencingContract {
        @Override
        protected StoreUnderTest subject() {
            return CoreStoreContract.this;
        }
    }

    @Nested
    class Ownership extends OwnershipContract {
        @Override
        protected StoreUnderTest subject() {
            return CoreStoreContract.this;
        }
    }

    @Nested
    class Order extends OrderContract {
        @Override
        protected StoreUnderTest subject() {
            return CoreStoreContract.this;
        }
    }

    @Nested
    class Liveness extends LivenessContract {
        @Override
        protected StoreUnderTest subject() {
            return CoreStoreContract.this;
        }
    }
}
