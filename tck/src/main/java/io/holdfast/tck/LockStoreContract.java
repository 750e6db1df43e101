package io.holdfast.tck;

import io.holdfast.tck.promise.CleanContract;
import io.holdfast.tck.promise.KindsContract;
import io.holdfast.tck.promise.NamesContract;
import io.holdfast.tck.promise.NoGuessingContract;
import io.holdfast.tck.promise.OptionsContract;
import io.holdfast.tck.promise.PingContract;
import io.holdfast.tck.promise.ScaleContract;
import io.holdfast.tck.promise.StormContract;
import io.holdfast.tck.promise.ToldContract;
import io.holdfast.tck.promise.ViewsContract;
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
        protected StoreUnderTest subject() {
            return LockStoreContract.this;
        }
    }

    @Nested
    class NoGuessing extends NoGuessingContract {
        @Override
        protected StoreUnderTest subject() {
            return LockStoreContract.this;
        }
    }

    @Nested
    class Clean extends CleanContract {
        @Override
        protected StoreUnderTest subject() {
            return LockStoreContract.this;
        }
    }

    @Nested
    class Storm extends StormContract {
        @Override
        protected StoreUnderTest subject() {
            return LockStoreContract.this;
        }
    }

    @Nested
    class Options extends OptionsContract {
        @Override
        protected StoreUnderTest subject() {
            return LockStoreContract.this;
        }
    }

    @Nested
    class Kinds extends KindsContract {
        @Override
        protected StoreUnderTest subject() {
            return LockStoreContract.this;
        }
    }

    @Nested
    class Views extends ViewsContract {
        @Override
        protected StoreUnderTest subject() {
            return LockStoreContract.this;
        }
    }

    @Nested
    class Ping extends PingContract {
        @Override
        protected StoreUnderTest subject() {
            return LockStoreContract.this;
        }
    }

    @Nested
    class Names extends NamesContract {
        @Override
        protected StoreUnderTest subject() {
            return LockStoreContract.this;
        }
    }

    @Nested
    class Scale extends ScaleContract {
        @Override
        protected StoreUnderTest subject() {
            return LockStoreContract.this;
        }
    }
}
