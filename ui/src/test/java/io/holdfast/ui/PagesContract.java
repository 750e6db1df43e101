package io.holdfast.ui;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Holdfast;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.io.TempDir;

/** What a person does with the pages in a real browser, while other processes use a real store. */
abstract class PagesContract {

    @TempDir
    Path directory;

    final List<String> audit = new CopyOnWriteArrayList<>();

    Dashboard start(String store, DashboardOptions.Release release) throws IOException {
        return Dashboard.start(DashboardOptions.local(
                        List.of(new WatchedStore(
                                "the store",
                                () -> Holdfast.connect(store),
                                name -> "holdfast show " + name,
                                WatchedStore.Waiters.LISTED)),
                        0)
                .withRelease(release)
                .withNotices(audit::add));
    }

    private OtherProcess process(String store, String client) {
        return OtherProcess.start(store, client, directory);
    }

    private static String page(Dashboard dashboard, String hash) {
        return "http://127.0.0.1:" + dashboard.port() + "/" + hash;
    }

    /** A lock of another process is seen; a waiter arrives and is served. */
    void seesALockAndAWaiterThatIsServed(String store) throws IOException {
        try (Dashboard dashboard = start(store, DashboardOptions.Release.FORBIDDEN);
                Browser browser = Browser.start(directory);
                OtherProcess holder = process(store, "the-holder");
                OtherProcess waiter = process(store, "the-waiter")) {
            browser.open(dashboard.address());
            browser.awaitText("main", "No lock is held or waited for");

            holder.tell("take stock/sku 42").done("take stock/sku 42");
            browser.awaitText("table", "\"stock/sku 42\"", "the-holder", "pid " + holder.pid(), "exclusive");

            browser.click("td.lock a");
            browser.awaitText("main", "Held by", "the-holder", "Nobody.");
            waiter.tell("take stock/sku 42");
            browser.awaitText("ol.waiters", "the-waiter", "pid " + waiter.pid());

            holder.tell("release stock/sku 42").done("release stock/sku 42");
            waiter.done("take stock/sku 42");
            browser.awaitText("dl.holder", "the-waiter");
            browser.awaitText("ol.timeline", "the-waiter", "waits for it", "the-holder", "no longer holds it");
            assertThat(browser.text("#command")).isEqualTo("holdfast show stock/sku 42");
            assertThat(browser.text("section.release:not([hidden])"))
                    .as("a page that only looks")
                    .isEmpty();
            assertThat(browser.complaints()).isEmpty();
        }
    }

    /** Two processes that wait for each other. */
    void findsADeadlock(String store) throws IOException {
        try (Dashboard dashboard = start(store, DashboardOptions.Release.FORBIDDEN);
                Browser browser = Browser.start(directory);
                OtherProcess billing = process(store, "billing");
                OtherProcess refunds = process(store, "refunds")) {
            billing.tell("take account/17").done("take account/17");
            refunds.tell("take account/23").done("take account/23");
            billing.tell("take account/23");
            browser.open(dashboard.address());
            browser.awaitText("main", "account/23");
            browser.open(page(dashboard, "#/blocked"));
            browser.awaitText("table.blocked", "billing", "account/23", "refunds");
            assertThat(browser.text(".deadlock"))
                    .as("one merely waits for the other")
                    .isEmpty();

            refunds.tell("take account/17");

            browser.awaitText(
                    ".deadlock",
                    "Suspected deadlock",
                    "billing",
                    "pid " + billing.pid(),
                    "holds account/17 and waits for account/23",
                    "refunds",
                    "pid " + refunds.pid(),
                    "holds account/23 and waits for account/17");
            assertThat(browser.complaints()).isEmpty();
        }
    }

    /** With the right name typed, and not without. */
    void releasesByForceOnceTheNameIsTyped(String store) throws IOException {
        try (Dashboard dashboard = start(store, DashboardOptions.Release.ALLOWED);
                Browser browser = Browser.start(directory);
                OtherProcess holder = process(store, "the-holder");
                Holdfast here = Holdfast.connect(store)) {
            holder.tell("take nightly").done("take nightly");
            browser.open(dashboard.address());
            browser.awaitText("table", "nightly");
            browser.open(page(dashboard, "#/lock/1/nightly"));
            browser.awaitText("section.release:not([hidden])", "Type the name");

            browser.type("#typed", "nightl");
            assertThat(browser.script("return document.querySelector('button.danger').disabled")
                            .asBoolean())
                    .as("the button, while the name is not the lock's")
                    .isTrue();
            int refused = browser.asyncScript(
                            "const done = arguments[0]; fetch('api/release', {method: 'POST', headers: {'Content-Type':"
                                    + " 'application/json'}, body: JSON.stringify({store: 1, name: 'nightly', typed:"
                                    + " 'nightl'})}).then(answer => done(answer.status))")
                    .asInt();
            assertThat(refused).isEqualTo(409);
            assertThat(here.lock("nightly").inspect().isHeld()).isTrue();
            assertThat(audit).isEmpty();

            browser.type("#typed", "y");
            browser.click("button.danger");

            browser.awaitText("main h1", "Free");
            browser.awaitText("ol.timeline", "taken away by force");
            assertThat(here.lock("nightly").inspect().isHeld()).isFalse();
            await().untilAsserted(() -> assertThat(audit).hasSize(2));
            assertThat(audit.get(0)).contains("'nightly'", "the-holder", "127.0.0.1");
        }
    }
}
