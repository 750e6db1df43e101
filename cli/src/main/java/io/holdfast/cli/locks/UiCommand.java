package io.holdfast.cli.locks;

import io.holdfast.Holdfast;
import io.holdfast.HoldfastBuilder;
import io.holdfast.StoreUnavailableException;
import io.holdfast.cli.console.CommonOptions;
import io.holdfast.cli.console.FailedException;
import io.holdfast.cli.console.Failure;
import io.holdfast.cli.console.Output;
import io.holdfast.cli.console.OutputOptions;
import io.holdfast.spi.StoreUri;
import io.holdfast.ui.Dashboard;
import io.holdfast.ui.DashboardOptions;
import io.holdfast.ui.WatchedStore;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code holdfast ui}. */
@Command(
        name = "ui",
        header = "Shows the locks in a browser: who holds them, who waits, who blocks whom.",
        description = {
            "Prints the address to open, which works once; when it was used, another is printed for the next browser."
                    + " Looks at the stores only while a page is open, and changes nothing. Ends when interrupted.",
        },
        footer = {
            "  holdfast ui",
            "  holdfast ui --store redis://redis.internal --store etcd://etcd.internal",
            "  holdfast ui --bind locks.internal --tls locks.p12 --allow-release"
        })
public final class UiCommand implements Callable<Integer> {

    /** HOLD on the keys of a telephone. */
    private static final int USUAL_PORT = 4653;

    /** Schemes of stores that do not list who waits. */
    private static final Set<String> UNLISTED_WAITERS = Set.of("redlock");

    private final Output output;

    @Option(
            names = "--store",
            paramLabel = "URI",
            description = {
                "Where the locks live; may be given several times. Default: HOLDFAST_STORE, which also keeps a password out"
                        + " of the process list; without it, files shared by the processes of this machine."
            })
    private List<String> stores = new ArrayList<>();

    @Option(
            names = "--actuator",
            paramLabel = "URL",
            description =
                    "The Actuator of an instance with the Spring Boot starter, as http://shop.internal:8080/actuator: what"
                            + " it counts itself, rates and percentiles, is shown too. May be given several times.")
    private List<URI> actuators = new ArrayList<>();

    @Option(
            names = "--port",
            paramLabel = "N",
            description = "The port to listen at, 0 for any. Default: 4653, or any if that is taken.")
    private @Nullable Integer port;

    @Option(
            names = "--bind",
            paramLabel = "HOST",
            description = "The name or address of this machine to be reached by from others; needs --tls or"
                    + " --behind-proxy. Default: 127.0.0.1, this machine only.")
    private @Nullable String host;

    @Option(
            names = "--tls",
            paramLabel = "FILE",
            description = "Serve HTTPS with the key and certificate in this PKCS#12 file; its password is in the"
                    + " environment variable HOLDFAST_UI_TLS_PASSWORD.")
    private @Nullable Path tls;

    @Option(
            names = "--behind-proxy",
            paramLabel = "URL",
            description =
                    "A proxy serves it under this address, as https://locks.example.com, and lets in whom it should.")
    private @Nullable URI proxied;

    @Option(
            names = "--allow-release",
            description = "Let the page take a lock from its holder, after its name was typed. Each time is written to"
                    + " standard error.")
    private boolean mayRelease;

    @Mixin
    private OutputOptions outputOptions = new OutputOptions();

    public UiCommand(Output output) {
        this.output = output;
    }

    @Override
    public Integer call() throws InterruptedException {
        try (Dashboard dashboard = start()) {
            tell("Open ", dashboard.address());
            if (!output.isJson()) {
                output.print("The address works once. Interrupt this command to end it.");
            }
            new CountDownLatch(1).await();
            return 0;
        }
    }

    /** To standard output, where nothing is taken for a password and left out. */
    private void tell(String what, String address) {
        if (output.isJson()) {
            output.printJson(line -> line.text("address", address));
        } else {
            output.print(what + address);
        }
        output.results().flush();
    }

    private Dashboard start() {
        int chosen = port == null ? USUAL_PORT : port;
        if (chosen < 0 || chosen > 65_535) {
            throw new FailedException(Failure.USAGE, "--port must be from 0 to 65535.");
        }
        try {
            return Dashboard.start(options(chosen));
        } catch (BindException e) {
            return startElsewhere(chosen, e);
        } catch (IOException e) {
            throw new FailedException(Failure.INTERNAL, "cannot serve the dashboard: " + e.getMessage() + ".");
        }
    }

    private Dashboard startElsewhere(int taken, BindException failure) {
        if (port != null) {
            throw new FailedException(
                    Failure.USAGE,
                    "port " + taken + " cannot be listened at (" + failure.getMessage()
                            + "). Choose another with --port, or --port 0 for any.");
        }
        try {
            return Dashboard.start(options(0));
        } catch (IOException e) {
            throw new FailedException(Failure.INTERNAL, "cannot serve the dashboard: " + e.getMessage() + ".");
        }
    }

    private DashboardOptions options(int chosenPort) {
        List<WatchedStore> watched = stores.isEmpty()
                ? List.of(store(CommonOptions.storeOfEnvironment(), Optional.empty()))
                : stores.stream().map(uri -> store(uri, Optional.of(uri))).toList();
        InetSocketAddress address = host == null
                ? new InetSocketAddress(InetAddress.getLoopbackAddress(), chosenPort)
                : new InetSocketAddress(host, chosenPort);
        if (proxied != null
                && (proxied.getHost() == null || !List.of("http", "https").contains(proxied.getScheme()))) {
            throw new FailedException(
                    Failure.USAGE, "--behind-proxy takes the address browsers use, as https://locks.example.com.");
        }
        return new DashboardOptions(
                watched,
                actuators,
                address,
                Optional.ofNullable(tls).map(UiCertificate::read),
                Optional.ofNullable(proxied),
                mayRelease ? DashboardOptions.Release.ALLOWED : DashboardOptions.Release.FORBIDDEN,
                next -> tell("Opened. For another browser: ", next),
                output::warn,
                output::withoutCredentials);
    }

    /** @param typed what stands for the store on a command line, if it was given on one */
    private WatchedStore store(@Nullable String uri, Optional<String> typed) {
        if (uri == null) {
            return new WatchedStore(
                    "file: (the default)",
                    Holdfast::connect,
                    name -> CommonOptions.line(Optional.empty(), "show", name),
                    WatchedStore.Waiters.LISTED);
        }
        StoreUri parsed = StoreUri.parse(uri);
        HoldfastBuilder builder = Holdfast.builder().store(uri);
        String label = output.withoutCredentials(parsed.toString());
        // What has a password in it is not shown, and is of no use without.
        Optional<String> shown = typed.filter(label::equals);
        // Here, so that a wrong address ends the command. No server is asked for anything yet.
        AtomicReference<@Nullable Holdfast> first = new AtomicReference<>(connectIfPossible(builder));
        return new WatchedStore(
                label,
                () -> Optional.ofNullable(first.getAndSet(null)).orElseGet(builder::connect),
                name -> CommonOptions.line(shown, "show", name)
                        + (typed.isPresent() && shown.isEmpty() ? "   # HOLDFAST_STORE: this store" : ""),
                UNLISTED_WAITERS.contains(parsed.scheme())
                        ? WatchedStore.Waiters.NOT_LISTED
                        : WatchedStore.Waiters.LISTED);
    }

    private static @Nullable Holdfast connectIfPossible(HoldfastBuilder builder) {
        try {
            return builder.connect();
        } catch (StoreUnavailableException e) {
            // The page will say so, and the store may come back.
            return null;
        }
    }
}
