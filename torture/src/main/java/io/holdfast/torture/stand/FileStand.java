package io.holdfast.torture.stand;

import io.holdfast.torture.nemesis.Healing;
import io.holdfast.torture.nemesis.PlannedFault;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The store in files: no servers, no network. */
final class FileStand implements Stand {

    private final Path directory;

    FileStand(Path directory) {
        this.directory = directory;
    }

    @Override
    public List<InetSocketAddress> addresses() {
        return List.of();
    }

    @Override
    public String uri(List<InetSocketAddress> dialled) {
        return "file:" + directory;
    }

    @Override
    public Duration failover() {
        return Duration.ZERO;
    }

    @Override
    public boolean freesTheDeadAtOnce() {
        return true;
    }

    @Override
    public Optional<Healing> begin(PlannedFault fault) {
        return Optional.empty();
    }

    @Override
    public void close() {
        // The directory goes with the run's.
    }
}
