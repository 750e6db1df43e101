package io.holdfast.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockView;
import io.holdfast.StoreUnavailableException;
import io.holdfast.file.RecordedTicket.Told;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a lock file is taken for that is not as it was written: never for free. */
@Timeout(60)
class CorruptFileTest {

    @TempDir
    Path directory;

    private Path file;
    private StoreClient client;

    @BeforeEach
    void open() {
        file = directory.resolve("job.lock");
        client = new StoreClient(directory);
    }

    @AfterEach
    void close() {
        client.close();
    }

    @Test
    void anEmptyFileIsAnErrorThatNamesFileAndNextStep() throws IOException {
        Files.createFile(file);

        assertThatThrownBy(() -> client.tryTake("job"))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContainingAll("'job'", file.toRealPath().toString(), "is empty", "delete the file");
    }

    @Test
    void aForeignFileIsAnErrorAndStaysAsItIs() throws IOException {
        Files.writeString(file, "12345\n");

        assertThatThrownBy(() -> client.want("job", StoreClient.TTL))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("not a lock file");
        assertThat(file).hasContent("12345\n");
    }

    @Test
    void aFileOfALaterFormatIsAnError() throws IOException {
        client.release(client.take("job"));
        overwrite(8, ByteBuffer.allocate(4).putInt(7).array());

        assertThatThrownBy(() -> client.tryTake("job")).hasMessageContainingAll("format 7", "format 1");
    }

    @Test
    void aFileUnderAnotherNameIsAnError() throws IOException {
        client.release(client.take("other"));
        Files.copy(directory.resolve("other.lock"), file);

        assertThatThrownBy(() -> client.tryTake("job")).hasMessageContaining("belongs to another lock");
    }

    @Test
    void everyTruncationIsAnErrorOrHeld() throws IOException {
        client.take("job");
        byte[] whole = Files.readAllBytes(file);

        for (int length = 0; length < whole.length; length += 7) {
            try (RandomAccessFile cut = new RandomAccessFile(file.toFile(), "rw")) {
                cut.setLength(0);
                cut.write(whole, 0, length);
            }
            assertNotGranted("cut to " + length);
        }
    }

    @Test
    void everyDamagedByteIsAnErrorOrHeld() throws IOException {
        client.take("job");
        byte[] whole = Files.readAllBytes(file);
        Random random = new Random(7);

        for (int at = 0; at < whole.length; at++) {
            byte[] damaged = whole.clone();
            damaged[at] ^= (byte) (1 << random.nextInt(8));
            overwrite(0, damaged);
            assertNotGranted("byte " + at);
        }
        overwrite(0, new byte[whole.length]);
        assertNotGranted("zeros");
    }

    /** By a client that has not seen the file before: in another JVM it would have no cache either. */
    private void assertNotGranted(String how) throws IOException {
        Path copy = Files.createDirectories(directory.resolve("copy")).resolve("job.lock");
        Files.write(copy, Files.readAllBytes(file));
        try (StoreClient fresh = new StoreClient(copy.getParent())) {
            assertThat(fresh.tryTake("job")).as(how).isEmpty();
        } catch (StoreUnavailableException e) {
            assertThat(e).as(how).hasCauseInstanceOf(CorruptFileException.class);
        }
    }

    @Test
    void aFilePutBackFromAnEarlierTimeIsAnError() throws IOException {
        client.release(client.take("job"));
        byte[] before = Files.readAllBytes(file);
        client.take("job");

        overwrite(0, before);

        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> client.tryTake("job")).hasMessageContaining("earlier state");
        }
    }

    @Test
    void renewalOfACorruptLockIsFailingNotGone() throws IOException {
        RecordedTicket grant = client.take("job");

        overwrite(640, new byte[32]);

        assertThat(client.renew(grant)).isEqualTo(Told.FAILING);
        assertThat(grant.failure()).hasMessageContaining("damaged head");
    }

    @Test
    void aWaiterHearsThatTheFileWentBad() throws IOException {
        client.take("job");
        RecordedTicket waiting = client.queue("job");

        overwrite(640, new byte[32]);

        assertThat(waiting.outcome())
                .failsWithin(Duration.ofSeconds(20))
                .withThrowableThat()
                .withMessageContaining("damaged head");
    }

    @Test
    void oneBadFileDoesNotHideTheOthers() throws IOException {
        client.take("good");
        Files.writeString(file, "bad");

        assertThat(client.views("")).extracting(LockView::name).containsExactly("good");
        assertThat(client.store.prune(Duration.ZERO, StoreClient.soon())).isZero();
        assertThat(file).exists();
    }

    @Test
    void afterTheBadFileIsDeletedTheLockWorksAgain() throws IOException {
        Files.writeString(file, "bad");
        assertThatThrownBy(() -> client.tryTake("job")).isInstanceOf(StoreUnavailableException.class);

        Files.delete(file);

        client.take("job");
    }

    private void overwrite(long at, byte[] bytes) throws IOException {
        try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
            open.seek(at);
            open.write(bytes);
        }
    }
}
