package io.holdfast.tck;

import org.junit.jupiter.api.Nested;

/**
 * Everything a store promises, checked. A store's test class extends this and says where the store is.
 *
 * <pre>{@code
 * class RedisConformanceTest extends LockStoreContract {
 *     @Override
 *     public StoreFactory store() {
 *         return new RedisStores().store(StoreUri.parse(server.uri()));
 *     }
 * }
 * }</pre>
 *
 * <p>Further topologies extend {@link CoreStoreContract}, which has the most telling part.
 */
public abstract class LockStoreContract extends CoreStoreContract {
    @Nested
    class Told extends ToldContract {
        @Override
        StoreUnderTest subject() {
            return LockStoreContract.this;
        }
    }

    @Nested
    class NoGuessing extends NoGuessingContract {
        @Override
        StoreUnderTest subject() {
            return LockStoreContract.this;
        }
    }

    @Nested
    class Clean extends CleanContract {
        @Override
        StoreUnderTest subject() {
            return LockStoreContract.this;
        }
    }

    @Nested
    class Storm extends StormContract {
        @Override
        StoreUnderTest subject() {
            return LockStoreContract.this;
        }
    }

    @Nested
    class Options extends OptionsContract {
        @Override
        StoreUnderTest subject() {
            return LockStoreContract.this;
        }
    }

    @Nested
    class Kinds extends KindsContract {
        @Override
        StoreUnderTest subject() {
            return LockStoreContract.this;
        }
    }

    @Nested
    class Views extends ViewsContract {
        @Override
        StoreUnderTest subject() {
            return LockStoreContract.this;
        }
    }

    @Nested
    class Ping extends PingContract {
        @Override
        StoreUnderTest subject() {
            return LockStoreContract.this;
        }
    }

    @Nested
    class Names extends NamesContract {
        @Override
        StoreUnderTest subject() {
            return LockStoreContract.this;
        }
    }

    @Nested
    class Scale extends ScaleContract {
        @Override
        StoreUnderTest subject() {
            return LockStoreContract.this;
        }
    }
}
