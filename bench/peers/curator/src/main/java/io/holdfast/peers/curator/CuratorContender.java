package io.holdfast.peers.curator;

import io.holdfast.bench.Contender;
import java.util.Map;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** Curator's {@code InterProcessMutex}. Settings: {@code servers}. Thread-safe. */
public final class CuratorContender implements Contender {

    private final CuratorFramework curator;

    private CuratorContender(CuratorFramework curator) {
        this.curator = curator;
    }

    /** Connects. */
    public static final class Factory implements Contender.Factory {

        @Override
        public Contender open(Map<String, String> settings) throws InterruptedException {
            CuratorFramework curator =
                    CuratorFrameworkFactory.newClient(settings.get("servers"), new ExponentialBackoffRetry(100, 5));
            curator.start();
            curator.blockUntilConnected();
            return new CuratorContender(curator);
        }
    }

    @Override
    public Mutex mutex(String name) {
        InterProcessMutex mutex = new InterProcessMutex(curator, "/curator/" + name);
        Held held = mutex::release;
        return () -> {
            mutex.acquire();
            return held;
        };
    }

    @Override
    public void close() {
        curator.close();
    }
}
