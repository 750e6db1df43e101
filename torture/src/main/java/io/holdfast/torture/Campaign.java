package io.holdfast.torture;

import io.holdfast.torture.cell.Cell;
import io.holdfast.torture.cell.CellResult;
import io.holdfast.torture.cell.CellRun;
import io.holdfast.torture.report.CellSummary;
import io.holdfast.torture.stand.NotPossibleException;
import io.holdfast.torture.stand.Stand;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;

/** Runs cells, several at a time. */
public final class Campaign {

    /** Hears how it goes. Called from several threads. */
    public interface Listener {

        void started(Cell cell);

        void at(Cell cell, String what);

        /** The cell was run and judged; its history is gone afterwards unless {@link CellSummary#isBad}. */
        void judged(CellResult result, CellSummary summary);

        void notRun(Cell cell, CellSummary summary);
    }

    /** Starting servers and JVMs is what a cell costs most for: all at once would keep those that run from running. */
    private static final int STARTING_AT_ONCE = 2;

    private final Semaphore starting = new Semaphore(STARTING_AT_ONCE);
    private final List<Job> jobs;
    private final int parallel;
    private final Path directory;
    private final Listener listener;

    /** @param directory where histories are written; those of bad cells stay */
    public Campaign(List<Job> jobs, int parallel, Path directory, Listener listener) {
        this.jobs = List.copyOf(jobs);
        this.parallel = parallel;
        this.directory = directory;
        this.listener = listener;
    }

    /** One summary per job, in their order. */
    public List<CellSummary> run() throws InterruptedException {
        ExecutorService threads = Executors.newFixedThreadPool(parallel, task -> {
            Thread thread = new Thread(task, "holdfast-torture-cell");
            thread.setDaemon(true);
            return thread;
        });
        try {
            List<Future<CellSummary>> running = new ArrayList<>();
            for (Job job : jobs) {
                running.add(threads.submit(() -> run(job)));
            }
            List<CellSummary> summaries = new ArrayList<>();
            for (Future<CellSummary> future : running) {
                summaries.add(future.get());
            }
            return summaries;
        } catch (ExecutionException e) {
            throw new IllegalStateException("A cell failed", e.getCause());
        } finally {
            threads.shutdownNow();
        }
    }

    private CellSummary run(Job job) throws IOException, InterruptedException {
        Cell cell = job.cell();
        Path own = Files.createDirectories(directory.resolve(cell.name()));
        Files.setPosixFilePermissions(own, PosixFilePermissions.fromString("rwxr-xr-x"));
        starting.acquire();
        AtomicBoolean runs = new AtomicBoolean();
        listener.started(cell);
        CellSummary summary;
        try (Stand stand = job.opener().open(own)) {
            CellRun run = new CellRun(cell, job.rules(), own, what -> {
                if (what.equals(CellRun.RUNNING) && !runs.getAndSet(true)) {
                    starting.release();
                }
                listener.at(cell, what);
            });
            CellResult result = run.run(stand);
            summary = CellSummary.of(result);
            listener.judged(result, summary);
        } catch (NotPossibleException e) {
            summary = CellSummary.notRun(cell, String.valueOf(e.getMessage()));
            listener.notRun(cell, summary);
        } catch (RuntimeException e) {
            summary = CellSummary.notRun(cell, "it failed: " + e);
            listener.notRun(cell, summary);
        } finally {
            if (!runs.getAndSet(true)) {
                starting.release();
            }
        }
        if (!summary.isBad() && summary.wasRun()) {
            delete(own);
        }
        return summary;
    }

    private static void delete(Path directory) throws IOException {
        Files.walkFileTree(directory, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.deleteIfExists(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path visited, IOException e) throws IOException {
                Files.deleteIfExists(visited);
                return FileVisitResult.CONTINUE;
            }
        });
    }
}
