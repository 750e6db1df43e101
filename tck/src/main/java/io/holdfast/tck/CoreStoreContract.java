package io.holdfast.tck;

import org.junit.jupiter.api.Nested;

/**
 * The heart of the kit, for further topologies of a store whose main one passes {@link LockStoreContract}: exclusion,
 * fencing, ownership, order and liveness. Its tests are tagged {@code core} there too.
 */
public abstract class CoreStoreContract implements StoreUnderTest {
    @Nested
    class Exclusion extends ExclusionContract {
        @Override
        StoreUnderTest subject() {
            return CoreStoreContract.this;
        }
    }

    @Nested
    class Fencing extends FencingContract {
        @Override
        StoreUnderTest subject() {
            return CoreStoreContract.this;
        }
    }

    @Nested
    class Ownership extends OwnershipContract {
        @Override
        StoreUnderTest subject() {
            return CoreStoreContract.this;
        }
    }

    @Nested
    class Order extends OrderContract {
        @Override
        StoreUnderTest subject() {
            return CoreStoreContract.this;
        }
    }

    @Nested
    class Liveness extends LivenessContract {
        @Override
        StoreUnderTest subject() {
            return CoreStoreContract.this;
        }
    }
}
