package io.holdfast.zookeeper;

import io.holdfast.servers.ZooKeeperEnsemble;
import io.holdfast.servers.ZooKeeperServer;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.StoreUri;
import io.holdfast.tck.LockStoreContract;
import io.holdfast.tck.Mortal;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/** Three servers, clients of any of them. */
@Tag("full")
@ExtendWith(SessionsCannotGrow.class)
class EnsembleConformanceTest extends LockStoreContract {

    private static ZooKeeperEnsemble ensemble;
    private static ZooKeeperUnderTest follower;

    @BeforeAll
    static void start() throws Exception {
        ensemble = ZooKeeperEnsemble.builder().each(TestServers::options).start();
        ZooKeeperServer one = ensemble.followers().get(0);
        follower = new ZooKeeperUnderTest(one);
    }

    @AfterAll
    static void stop() throws Exception {
        follower.close();
        ensemble.close();
    }

    @Override
    public StoreFactory store() {
        return new ZooKeeperStores().store(StoreUri.parse(TestServers.uri(ensemble.connectString())));
    }

    @Override
    public Duration shortTtl() {
        return ZooKeeperUnderTest.SHORT_TTL;
    }

    @Override
    public Mortal mortal() {
        return follower.mortal();
    }
}
