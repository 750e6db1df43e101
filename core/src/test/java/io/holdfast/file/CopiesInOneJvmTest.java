package io.holdfast.file;

import static io.holdfast.file.StoreClient.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.LockView;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Grant;
import io.holdfast.spi.RenewalAnswer;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.net.URLClassLoader;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Several copies of the library in one JVM beside another process. The copies share the POSIX locks of their process,
 * and closing any descriptor of a file drops all of them.
 */
@Timeout(120)
class CopiesInOneJvmTest {

    private static final int LOCKS = 1500;
    private static final int SHORT_HOLDS = 2000;

    @TempDir
    Path directory;

    private Path locks;
    private StoreClient here;
    private ChildProcess other;

    @BeforeEach
    void open() throws IOException {
        locks = directory.resolve("locks");
        here = new StoreClient(locks, "here");
        other = ChildProcess.start(locks);
        assertThat(other.ask("holders warm-up")).isEqualTo("0");
    }

    @AfterEach
    void close() throws IOException, InterruptedException {
        here.close();
        other.close();
    }

    @Test
    void p1ACopyThatOpensAndClosesTheDirectoryLetsNobodyGetALockTwice() throws Exception {
        Race race = new Race(directory);
        try (URLClassLoader loader = OtherCopy.loader();
                Passing passing = new Passing(OtherCopy.in(loader), () -> "pass lock-" + race.step(0), locks)) {
            other.say("keep-each " + LOCKS);
            int overlaps = race.keepEach(here, 0, LOCKS);

            assertThat(other.hear()).isEqualTo("0 overlaps");
            assertThat(overlaps).isZero();
            assertThat(passing.end()).isZero();
        }
    }

    @Test
    void p1ACopyThatOpensAndClosesLockFilesLetsNobodyGetALockTwice() throws Exception {
        Race race = new Race(directory);
        here.release(here.take("short"));
        try (URLClassLoader loader = OtherCopy.loader();
                Passing passing = new Passing(OtherCopy.in(loader), () -> "reopen short.lock", locks)) {
            other.say("hold-shortly " + SHORT_HOLDS);
            int overlaps = race.holdShortly(here, 0, SHORT_HOLDS);

            assertThat(other.hear()).isEqualTo("0 overlaps");
            assertThat(overlaps).isZero();
            assertThat(passing.end()).isZero();
        }
    }

    /**
     * The JDK forgets the locks of a channel before it closes it: who took one in between would lose it. That is a
     * microsecond, too short to be met by chance in a test.
     */
    @Test
    void p1NoCopyTakesOrClosesWhileAnotherDoes() throws Exception {
        here.take("job");
        try (URLClassLoader loader = OtherCopy.loader()) {
            BiFunction<Path, String, String> copy = OtherCopy.in(loader);

            assertWaitsForTheMonitor(() -> copy.apply(locks, "pass other"), "tryGuard");
            assertWaitsForTheMonitor(() -> copy.apply(locks, "reopen job.lock"), "tryClose");
        }
    }

    private static void assertWaitsForTheMonitor(Runnable work, String inMethod) throws InterruptedException {
        Thread thread = new Thread(work);
        synchronized (OpenFile.MONITOR_OF_ALL_COPIES) {
            thread.start();
            await().until(() -> {
                StackTraceElement[] stack = thread.getStackTrace();
                return thread.getState() == Thread.State.TERMINATED
                        || (thread.getState() == Thread.State.BLOCKED
                                && stack.length > 0
                                && stack[0].getClassName().equals(OpenFile.class.getName())
                                && stack[0].getMethodName().equals(inMethod));
            });
            assertThat(thread.getState()).isEqualTo(Thread.State.BLOCKED);
        }
        thread.join();
    }

    @Test
    void p1DeletingTheGuardOfTheDirectoryLetsNobodyGetALockTwice() throws Exception {
        Race race = new Race(directory);
        AtomicBoolean over = new AtomicBoolean();
        CompletableFuture<Void> deleting = CompletableFuture.runAsync(() -> {
            long last = 0;
            while (!over.get()) {
                long step = race.step(0);
                if (step > last) {
                    last = step;
                    deleteQuietly(locks.resolve(".holdfast"));
                }
                Thread.yield();
            }
        });
        other.say("keep-each " + LOCKS);
        int overlaps = race.keepEach(here, 0, LOCKS);
        over.set(true);
        deleting.join();

        assertThat(other.hear()).isEqualTo("0 overlaps");
        assertThat(overlaps).isZero();
    }

    @Test
    void p1ClosingTheDirectoryWaitsForTheGuardAnotherCopyHas() throws IOException {
        here.take("job");
        try (FileChannel otherCopy = FileChannel.open(locks.resolve(".holdfast"), StandardOpenOption.WRITE)) {
            assertThat(otherCopy.tryLock(1L << 40, 1, false)).isNotNull();

            here.close();

            assertThat(other.ask("probe .holdfast")).isEqualTo("taken");
        }
        assertThat(other.ask("probe .holdfast")).isEqualTo("free");
    }

    @Test
    void p1ClosingALockFileWaitsForTheGuardAnotherCopyHas() throws IOException {
        here.take("job");
        try (FileChannel otherCopy = FileChannel.open(locks.resolve("job.lock"), StandardOpenOption.WRITE)) {
            assertThat(otherCopy.tryLock(1L << 40, 1, false)).isNotNull();

            here.close();

            assertThat(other.ask("probe job.lock")).isEqualTo("taken");
        }
        assertThat(other.ask("probe job.lock")).isEqualTo("free");
    }

    @Test
    void p1ListingDoesNotDropTheGuardAnotherCopyHas() throws IOException {
        String longName = "x".repeat(300);
        String fileName = FileNames.of(longName);
        assertThat(other.ask("try " + longName + " 60000")).startsWith("granted");
        try (FileChannel otherCopy = FileChannel.open(locks.resolve(fileName), StandardOpenOption.WRITE)) {
            assertThat(otherCopy.tryLock(1L << 40, 1, false)).isNotNull();

            assertThat(here.store.views("", soon())).extracting(LockView::name).containsExactly(longName);

            assertThat(other.ask("probe " + fileName)).isEqualTo("taken");
        }
    }

    @Test
    void whatCouldNotBeClosedIsClosedLater() throws IOException {
        here.take("job");
        try (FileChannel otherCopy = FileChannel.open(locks.resolve("job.lock"), StandardOpenOption.WRITE)) {
            assertThat(otherCopy.tryLock(1L << 40, 1, false)).isNotNull();
            here.close();
            assertThat(descriptors()).isEqualTo(2);
        }

        try (StoreClient later = new StoreClient(locks, "later")) {
            later.attempt("job");
        }

        assertThat(descriptors()).isZero();
    }

    /** Another process that knows the old proof of life still has it open. */
    @Test
    void p1ASweptDirectoryDoesNotMakeAHolderLookDead() throws IOException {
        Grant held = here.take("job");
        here.release(here.take("swept"));
        assertThat(other.ask("try job 1000")).isEqualTo("refused");
        try (Stream<Path> files = Files.list(locks)) {
            files.filter(file -> file.getFileName().toString().startsWith(".life-"))
                    .forEach(CopiesInOneJvmTest::deleteQuietly);
        }
        Files.delete(locks.resolve("swept.lock"));

        here.take("swept");
        collectGarbage();

        assertThat(here.renew(held)).isInstanceOf(RenewalAnswer.Extended.class);
        assertThat(other.ask("try job 1000")).isEqualTo("refused");
        assertThat(here.attempt("job")).isInstanceOf(Answer.Refused.class);
    }

    private static void collectGarbage() {
        for (int i = 0; i < 3; i++) {
            WeakReference<Object> probe = new WeakReference<>(new Object());
            await().until(() -> {
                System.gc();
                return probe.refersTo(null);
            });
        }
    }

    private long descriptors() throws IOException {
        Path real = locks.toRealPath();
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            return open.filter(descriptor -> {
                        try {
                            return Files.readSymbolicLink(descriptor).startsWith(real);
                        } catch (IOException e) {
                            return false;
                        }
                    })
                    .count();
        }
    }

    private static void deleteQuietly(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A thread in which a copy opens the directory, uses it and closes it again and again. */
    private static final class Passing implements AutoCloseable {
        private final AtomicBoolean over = new AtomicBoolean();
        private final CompletableFuture<Integer> overlaps;

        Passing(BiFunction<Path, String, String> copy, Supplier<String> command, Path locks) {
            this.overlaps = CompletableFuture.supplyAsync(() -> {
                int sum = 0;
                while (!over.get()) {
                    sum += Integer.parseInt(copy.apply(locks, command.get()));
                }
                return sum;
            });
        }

        int end() {
            over.set(true);
            return overlaps.join();
        }

        @Override
        public void close() {
            over.set(true);
        }
    }
}
