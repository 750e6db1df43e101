package io.holdfast.internal;

import io.holdfast.LockListener;
import io.holdfast.LockOptions;
import io.holdfast.spi.LockObserver;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.TimeSource;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;

/** What a client was built with; {@link io.holdfast.HoldfastBuilder} explains each. Immutable. */
public record Settings(
        StoreFactory store,
        String clientName,
        LockOptions defaults,
        List<LockListener> listeners,
        List<LockObserver> observers,
        Optional<Executor> executor,
        Duration requestTimeout,
        Duration closeTimeout,
        Duration longWait,
        int maxHandoffs,
        Duration maxHandoffTime,
        TimeSource time) {

    /** Host and process: tells people where a holder runs. */
    public static String defaultClientName() {
        return host() + "-" + ProcessHandle.current().pid();
    }

    /** The kernel's name for this machine where it can be read: a name lookup may hang. */
    static String host() {
        try {
            return Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
        } catch (IOException notLinux) {
            try {
                return InetAddress.getLocalHost().getHostName();
            } catch (UnknownHostException e) {
                return "unknown-host";
            }
        }
    }
}
