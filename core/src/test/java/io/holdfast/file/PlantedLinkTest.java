package io.holdfast.file;

import static io.holdfast.file.StoreClient.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.holdfast.LockView;
import io.holdfast.StoreUnavailableException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A member of the group that shares a directory puts links where Holdfast is about to make or open a file. */
@Timeout(60)
class PlantedLinkTest {

    private static final String SECRET = "of somebody else";

    @TempDir
    Path directory;

    private Path locks;
    private Path secret;
    private StoreClient client;

    @BeforeEach
    void open() throws IOException {
        locks = Files.createDirectory(directory.resolve("locks"));
        Files.setPosixFilePermissions(locks, PosixFilePermissions.fromString("rwxrwx---"));
        secret = Files.writeString(directory.resolve("secret"), SECRET);
        Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-------"));
        client = new StoreClient(locks);
    }

    @AfterEach
    void close() {
        client.close();
    }

    @Test
    void aGuessedNameOfAFileAboutToBeMadeIsNotWrittenThrough() throws IOException {
        client.release(client.take("first"));
        String life = lives().get(0).getFileName().toString().substring(".life-".length());
        for (int thread = 0; thread < 500; thread++) {
            Files.createSymbolicLink(locks.resolve(".new-" + life + "-" + thread), secret);
        }

        client.take("job");

        assertSecretIsUntouched();
        assertThat(locks.resolve("job.lock")).isRegularFile().isNotEmptyFile();
        assertThat(Files.isSymbolicLink(locks.resolve("job.lock"))).isFalse();
    }

    @Test
    void theGuardOfTheDirectoryIsNotOpenedThroughALink() throws IOException {
        Files.createSymbolicLink(locks.resolve(".holdfast"), secret);

        assertThatThrownBy(() -> client.tryTake("job"))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContainingAll(".holdfast", "link");
        assertThatThrownBy(() -> client.store.forceRelease("job", soon()))
                .isInstanceOf(StoreUnavailableException.class);

        assertSecretIsUntouched();
    }

    @Test
    void theGuardOfTheDirectoryIsNotMadeThroughALink() throws IOException {
        Path nowhere = directory.resolve("nowhere");
        Files.createSymbolicLink(locks.resolve(".holdfast"), nowhere);

        assertThatThrownBy(() -> client.tryTake("job")).isInstanceOf(StoreUnavailableException.class);

        assertThat(nowhere).doesNotExist();
    }

    @Test
    void aGuardOfTheDirectoryReplacedByALinkIsNotFollowed() throws IOException {
        client.take("first");
        // In one step: the holder looks there, and makes it anew if it is missing.
        Path planted = Files.createSymbolicLink(directory.resolve("planted"), secret);
        Files.move(planted, locks.resolve(".holdfast"), StandardCopyOption.ATOMIC_MOVE);

        assertThatThrownBy(() -> client.store.forceRelease("second", soon()))
                .isInstanceOf(StoreUnavailableException.class);

        assertSecretIsUntouched();
    }

    @Test
    void aLockFileIsNotOpenedThroughALink() throws IOException {
        Path elsewhere = directory.resolve("private");
        try (StoreClient owner = new StoreClient(elsewhere)) {
            owner.release(owner.take("job"));
        }
        byte[] before = Files.readAllBytes(elsewhere.resolve("job.lock"));
        Files.createSymbolicLink(locks.resolve("job.lock"), elsewhere.resolve("job.lock"));

        assertThatThrownBy(() -> client.tryTake("job"))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContainingAll("job.lock", "link");

        assertThat(elsewhere.resolve("job.lock")).hasBinaryContent(before);
    }

    @Test
    void aLockFileIsNotMadeThroughALink() throws IOException {
        Path nowhere = directory.resolve("nowhere");
        Files.createSymbolicLink(locks.resolve("job.lock"), nowhere);

        assertThatThrownBy(() -> client.tryTake("job")).isInstanceOf(StoreUnavailableException.class);

        assertThat(nowhere).doesNotExist();
        assertThat(Files.isSymbolicLink(locks.resolve("job.lock"))).isTrue();
    }

    @Test
    void oneLinkDoesNotHideOtherLocks() throws IOException {
        client.take("good");
        Files.createSymbolicLink(locks.resolve("bad.lock"), secret);
        Files.createSymbolicLink(locks.resolve(FileNames.of("y".repeat(300))), secret);

        assertThat(client.views("")).extracting(LockView::name).containsExactly("good");
    }

    @Test
    void linksToItsOwnProofOfLifeDoNotMakeAProcessLookDead() throws IOException, InterruptedException {
        client.take("job");
        Path own = lives().get(0);
        for (int i = 0; i < 100; i++) {
            Files.createSymbolicLink(locks.resolve(".life-1." + i + "-0"), own);
        }

        client.store.prune(Duration.ZERO, soon());

        try (ChildProcess other = ChildProcess.start(locks)) {
            assertThat(other.ask("try job 1000")).isEqualTo("refused");
        }
        assertThat(client.tryTake("job")).isEmpty();
    }

    @Test
    void aPipeIsNotWaitedFor() throws IOException, InterruptedException {
        client.take("job");
        for (String name : List.of(".life-1.2-3", "pipe.lock", FileNames.of("y".repeat(300)))) {
            String pipe = locks.resolve(name).toString();
            assertThat(new ProcessBuilder("mkfifo", pipe).start().waitFor()).isZero();
        }

        assertTimeoutPreemptively(Duration.ofSeconds(20), () -> {
            assertThat(client.views("")).hasSize(1);
            client.store.prune(Duration.ZERO, soon());
        });
    }

    @Test
    void permissionsAreNotSetThroughALink() throws IOException {
        Path link = Files.createSymbolicLink(locks.resolve("link"), secret);

        assertThatThrownBy(() -> FileModes.of(locks).apply(link)).isInstanceOf(IOException.class);

        assertSecretIsUntouched();
    }

    private void assertSecretIsUntouched() throws IOException {
        assertThat(secret).hasContent(SECRET);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(secret, LinkOption.NOFOLLOW_LINKS)))
                .isEqualTo("rw-------");
    }

    private List<Path> lives() throws IOException {
        try (Stream<Path> files = Files.list(locks)) {
            return files.filter(file -> file.getFileName().toString().startsWith(".life-"))
                    .toList();
        }
    }
}
