package io.holdfast.servers;

import io.holdfast.proxy.ReservedPort;
import io.holdfast.proxy.Uninterruptibly;
import io.holdfast.servers.process.Launcher;
import io.holdfast.servers.process.Patience;
import io.holdfast.servers.process.PausedProcesses;
import io.holdfast.servers.process.ProcessTree;
import io.holdfast.servers.process.ServerLog;
import io.holdfast.servers.process.ServerStartException;
import io.holdfast.servers.process.Workspace;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Runs one server: its process, port, directory and log. Subclasses say what to run and how to tell that it answers. */
abstract class ServerProcess implements Server {

    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(30);
    private static final long POLL_MILLIS = 10;

    private final String name;
    private final ReservedPort port;
    private final Path directory;
    private final List<String> arguments;
    private final Map<String, String> environment;
    private final ServerLog log;
    private final PausedProcesses paused;

    private final ReentrantLock lifecycle = new ReentrantLock();
    private volatile @Nullable Process process;
    private volatile boolean closed;
    private boolean hasData;

    ServerProcess(String name, ServerBuilder<?, ?> builder) {
        this(name, builder.arguments, builder.environment);
    }

    ServerProcess(String name, List<String> arguments, Map<String, String> environment) {
        this.name = name;
        this.arguments = List.copyOf(arguments);
        this.environment = Map.copyOf(environment);
        this.directory = Workspace.ofThisJvm().newDirectory(name);
        this.port = ReservedPort.pick();
        this.log = new ServerLog(directory.resolve("server.log"));
        this.paused = new PausedProcesses(directory);
    }

    /** The command line, {@link #arguments} included. */
    abstract List<String> command();

    /** Asks the server, in its own protocol, whether it serves; false or an IOException mean "not yet". */
    abstract boolean answers() throws IOException;

    /** Fills the empty {@link #data} directory before the first start. */
    void initialise() throws IOException {}

    /** Called when the data is gone and before the server starts without: members of a cluster may have to tell the others. */
    void dataLost() {}

    /** Whom the server runs as, or null for the user of this JVM. */
    @Nullable
    String user() {
        return null;
    }

    /** The given user if this JVM runs as root, whom database servers refuse; else null. */
    static @Nullable String serviceUser(String user) {
        return System.getProperty("user.name").equals("root") ? user : null;
    }

    /** Asks a running server to end. */
    void requestStop(Process running) {
        running.destroy();
    }

    /** Where the server keeps what {@link #restart} must find again. */
    final Path data() {
        return directory.resolve("data");
    }

    final List<String> arguments() {
        return arguments;
    }

    final void bringUp() {
        launch();
        awaitReady();
    }

    /** Starts the process and returns at once: members of a group answer only when the others run too. */
    final void launch() {
        lifecycle.lock();
        try {
            if (closed) {
                throw new IllegalStateException(name + " is closed");
            }
            // First of all: it fails if the server is not installed, and then its user does not exist either.
            List<String> command = command();
            if (!hasData) {
                createDirectory(data());
                initialise();
                hasData = true;
            }
            Process launched = Launcher.start(command, user(), environment, data(), log.file());
            Workspace.ofThisJvm().add(launched);
            process = launched;
        } catch (IOException e) {
            throw new ServerStartException("Cannot prepare " + directory + " for " + name, e);
        } finally {
            lifecycle.unlock();
        }
    }

    final void awaitReady() {
        Process launched = current();
        long deadlineNanos = System.nanoTime() + Patience.LONG.toNanos();
        try {
            while (!launched.waitFor(POLL_MILLIS, TimeUnit.MILLISECONDS)) {
                if (isAnswering()) {
                    return;
                }
                if (System.nanoTime() - deadlineNanos > 0) {
                    kill();
                    throw new ServerStartException(
                            failure("does not answer within " + Patience.LONG.toSeconds() + " s"));
                }
            }
        } catch (InterruptedException e) {
            kill();
            Thread.currentThread().interrupt();
            throw new ServerStartException("Interrupted while starting " + name, e);
        }
        String message = failure("ended with exit code " + launched.exitValue());
        if (message.toLowerCase(Locale.ROOT).contains("address already in use")) {
            throw new ServerStartException.PortTaken(message);
        }
        throw new ServerStartException(message);
    }

    private boolean isAnswering() {
        try {
            return answers();
        } catch (IOException notYet) {
            return false;
        }
    }

    private String failure(String what) {
        return name + " on port " + port() + " " + what + ". Its command was:\n  " + String.join(" ", command())
                + "\nThe end of its log:\n" + log.tail();
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public InetSocketAddress address() {
        return port.address();
    }

    @Override
    public long pid() {
        return current().pid();
    }

    @Override
    public boolean isRunning() {
        Process running = process;
        return running != null && running.isAlive();
    }

    /** Whether it runs and is not paused: worth asking. */
    final boolean isActive() {
        return isRunning() && !paused.any();
    }

    @Override
    public Path directory() {
        return directory;
    }

    @Override
    public String logTail() {
        return log.tail();
    }

    @Override
    public void kill() {
        lifecycle.lock();
        try {
            Process running = process;
            if (running == null) {
                return;
            }
            ProcessTree.awaitGone(ProcessTree.kill(running));
            ended(running);
        } finally {
            lifecycle.unlock();
        }
    }

    @Override
    public void pause() {
        lifecycle.lock();
        try {
            paused.stop(requireRunning().toHandle());
        } finally {
            lifecycle.unlock();
        }
    }

    @Override
    public void resume() {
        lifecycle.lock();
        try {
            requireRunning();
            paused.resume();
        } finally {
            lifecycle.unlock();
        }
    }

    @Override
    public void stop() {
        lifecycle.lock();
        try {
            Process running = process;
            if (running == null || !running.isAlive()) {
                return;
            }
            paused.resume();
            requestStop(running);
            if (running.waitFor(STOP_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
                ended(running);
            } else {
                kill();
            }
        } catch (InterruptedException e) {
            kill();
            Thread.currentThread().interrupt();
        } finally {
            lifecycle.unlock();
        }
    }

    @Override
    public void restart() {
        lifecycle.lock();
        try {
            stop();
            bringUp();
        } finally {
            lifecycle.unlock();
        }
    }

    @Override
    public void restartEmpty() {
        lifecycle.lock();
        try {
            kill();
            Workspace.delete(data());
            hasData = false;
            dataLost();
            bringUp();
        } finally {
            lifecycle.unlock();
        }
    }

    @Override
    public void close() {
        lifecycle.lock();
        try {
            if (closed) {
                return;
            }
            closed = true;
            kill();
            Workspace.delete(directory);
            port.close();
        } finally {
            lifecycle.unlock();
        }
    }

    /** Creates a directory that belongs to the user the server runs as. */
    final void createDirectory(Path path) throws IOException {
        Files.createDirectories(path);
        String user = user();
        if (user != null) {
            Files.setOwner(
                    path,
                    FileSystems.getDefault().getUserPrincipalLookupService().lookupPrincipalByName(user));
        }
    }

    private void ended(Process running) {
        Uninterruptibly.awaitEnd(running);
        Workspace.ofThisJvm().remove(running);
        paused.forget();
    }

    private Process requireRunning() {
        Process running = current();
        if (!running.isAlive()) {
            throw new IllegalStateException(name + " is not running");
        }
        return running;
    }

    private Process current() {
        Process current = process;
        if (current == null) {
            throw new IllegalStateException(name + " has never been started");
        }
        return current;
    }
}
