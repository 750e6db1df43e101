package io.holdfast.file;

import io.holdfast.Demand;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Another JVM with a client of its own, which does what it is told line by line. */
final class ChildProcess implements AutoCloseable {

    private final Process process;
    private final BufferedWriter to;
    private final BufferedReader from;

    private ChildProcess(Process process) {
        this.process = process;
        this.to = new BufferedWriter(new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
        this.from = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    static ChildProcess start(Path directory) throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Process process = new ProcessBuilder(List.of(
                        java,
                        "-Xshare:auto",
                        "-XX:TieredStopAtLevel=1",
                        "-Xmx64m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        ChildProcess.class.getName(),
                        directory.toString()))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        return new ChildProcess(process);
    }

    /** Says it and waits for the answer. */
    String ask(String command) throws IOException {
        say(command);
        return hear();
    }

    void say(String command) throws IOException {
        to.write(command);
        to.newLine();
        to.flush();
    }

    String hear() throws IOException {
        String line = from.readLine();
        if (line == null) {
            throw new IOException("the child process ended without an answer");
        }
        return line;
    }

    boolean hasAnswered() throws IOException {
        return from.ready();
    }

    /** kill -9 */
    void kill() {
        process.destroyForcibly();
    }

    void stop() throws IOException, InterruptedException {
        signal("-STOP");
    }

    void resume() throws IOException, InterruptedException {
        signal("-CONT");
    }

    /** From now on it can make files and write nothing into them, as on a full disk. */
    void fillDisk() throws IOException, InterruptedException {
        run("prlimit", "--fsize=0:", "--pid", Long.toString(process.pid()));
    }

    void emptyDisk() throws IOException, InterruptedException {
        run("prlimit", "--fsize=unlimited:", "--pid", Long.toString(process.pid()));
    }

    private void signal(String signal) throws IOException, InterruptedException {
        run("kill", signal, Long.toString(process.pid()));
    }

    private static void run(String... command) throws IOException, InterruptedException {
        int exit = new ProcessBuilder(command).start().waitFor();
        if (exit != 0) {
            throw new IOException(String.join(" ", command) + " exited with " + exit);
        }
    }

    @Override
    public void close() throws IOException, InterruptedException {
        process.destroyForcibly();
        process.waitFor(10, TimeUnit.SECONDS);
    }

    public static void main(String[] arguments) throws IOException {
        Path directory = Path.of(arguments[0]);
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        try (StoreClient client = new StoreClient(directory, "child");
                BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            Obedient obedient = new Obedient(directory, client);
            String line = in.readLine();
            while (line != null) {
                try {
                    out.println(obedient.perform(line.split(" ")));
                } catch (RuntimeException e) {
                    out.println("failed " + e);
                }
                line = in.readLine();
            }
        }
    }

    private static final class Obedient {
        private final Path directory;
        private final StoreClient client;
        private final Map<String, RecordedTicket> grants = new HashMap<>();

        Obedient(Path directory, StoreClient client) {
            this.directory = directory;
            this.client = client;
        }

        String perform(String[] words) {
            return switch (words[0]) {
                case "try" -> attempt(words[1], Duration.ofMillis(Long.parseLong(words[2])));
                case "want" -> {
                    RecordedTicket grant = client.want(words[1], Duration.ofMillis(Long.parseLong(words[2])))
                            .join();
                    grants.put(words[1], grant);
                    yield "granted " + grant.token();
                }
                case "queue" -> {
                    client.queue(words[1], Demand.exclusive(), Duration.ofMillis(Long.parseLong(words[2])));
                    yield "queued";
                }
                case "renew" -> client.renew(grants.get(words[1])).name();
                case "release" -> client.release(grants.get(words[1])).toString();
                case "holders" ->
                    Integer.toString(client.view(words[1]).holders().size());
                case "losses" -> client.losses.values().toString();
                case "prune" -> Integer.toString(client.store.prune(Duration.ZERO, StoreClient.soon()));
                case "force" -> Integer.toString(client.store.forceRelease(words[1], StoreClient.soon()));
                case "jam" -> jam(words[1]);
                case "churn" -> churn(words[1], Integer.parseInt(words[2]));
                case "count" -> count(words[1], Path.of(words[2]), Integer.parseInt(words[3]));
                case "keep-each" -> keepEach(Integer.parseInt(words[1]));
                case "hold-shortly" -> holdShortly(Integer.parseInt(words[1]));
                case "probe" -> probe(words[1]);
                case "hold-and-want" -> holdAndWant(words[1], words[2]);
                default -> throw new IllegalArgumentException(words[0]);
            };
        }

        private String attempt(String lock, Duration ttl) {
            Optional<RecordedTicket> granted = client.tryTake(lock, Demand.exclusive(), ttl);
            granted.ifPresent(grant -> grants.put(lock, grant));
            return granted.map(grant -> "granted " + grant.token()).orElse("refused");
        }

        /** Takes the guard of a lock's file and keeps it, as a process does that is stopped in the middle. */
        private String jam(String lock) {
            try {
                OpenFile file = OpenFile.open(directory.resolve(FileNames.of(lock)), OpenFile.Access.READ_WRITE);
                return file.tryGuard() ? "jammed" : "busy";
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** Whether the guard in that file is free. */
        private String probe(String fileName) {
            try (FileChannel file = FileChannel.open(directory.resolve(fileName), StandardOpenOption.WRITE)) {
                return file.tryLock(1L << 40, 1, false) == null ? "taken" : "free";
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private String keepEach(int locks) {
            try {
                return new Race(directory.getParent()).keepEach(client, 1, locks) + " overlaps";
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private String holdShortly(int times) {
            try {
                return new Race(directory.getParent()).holdShortly(client, 1, times) + " overlaps";
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** Takes and releases as fast as it can, for somebody to kill it anywhere in between. */
        private String churn(String lock, int times) {
            for (int i = 0; i < times; i++) {
                client.release(client.want(lock, StoreClient.TTL).join());
            }
            return "churned";
        }

        /** Takes one lock, and then waits for another on the same thread until this process is killed. */
        private String holdAndWant(String held, String wanted) {
            Holdfast holdfast = Holdfast.builder()
                    .store("file:" + directory)
                    .name("the-child")
                    .connect();
            CompletableFuture<String> holds = new CompletableFuture<>();
            Thread worker = new Thread(
                    () -> {
                        try (Lease first = holdfast.lock(held).acquire()) {
                            holds.complete("holds " + first.name());
                            holdfast.lock(wanted).acquire().close();
                        } catch (InterruptedException | RuntimeException e) {
                            holds.completeExceptionally(e);
                        }
                    },
                    "the-childs-worker");
            worker.setDaemon(true);
            worker.start();
            return holds.join();
        }

        /** Adds one to the number in a file under the lock, and the token to a list beside it, that often. */
        private String count(String lock, Path file, int times) {
            try (Holdfast holdfast = Holdfast.connect("file:" + directory)) {
                for (int i = 0; i < times; i++) {
                    try (Lease lease = holdfast.lock(lock).acquire()) {
                        int number = Integer.parseInt(Files.readString(file));
                        Files.writeString(file, Integer.toString(number + 1));
                        Files.writeString(
                                file.resolveSibling("tokens"), lease.token() + "\n", StandardOpenOption.APPEND);
                    }
                }
                return "counted";
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
