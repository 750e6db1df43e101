package io.holdfast.cli;

import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.awaitility.Awaitility;

/** A program that takes one lock and, once told, wants another; for ever, if that one's holder wants the first. */
final class CrossingProgram {

    private CrossingProgram() {}

    /** @param arguments the store, its name, the lock to take, the lock to want, a file to make, a file to wait for */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        LockOptions options = LockOptions.defaults().withTtl(Duration.ofSeconds(30));
        Path told = Path.of(arguments[5]);
        try (Holdfast holdfast = Holdfast.builder()
                        .store(arguments[0])
                        .name(arguments[1])
                        // Two JVMs and a server start at once, and the machine may be busy with others.
                        .requestTimeout(Duration.ofMinutes(1))
                        .connect();
                Lease first = holdfast.lock(arguments[2], options).acquire()) {
            Files.createFile(Path.of(arguments[4]));
            Awaitility.await().atMost(Duration.ofMinutes(10)).until(() -> Files.exists(told));
            try (Lease second = holdfast.lock(arguments[3], options).acquire()) {
                System.out.println(first.name() + " and " + second.name());
            }
        }
    }
}
