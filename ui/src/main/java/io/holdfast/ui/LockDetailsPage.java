package io.holdfast.ui;

import io.holdfast.ui.json.JsonText;
import io.holdfast.ui.watch.LockLook;
import io.holdfast.ui.watch.StoreWatch.Watched;

/** One lock with its holders and waiters. */
final class LockDetailsPage implements PageView {

    private static final int MOST_SHOWN = 200;

    private final ShownStore shown;
    private final String name;
    private final DashboardOptions.Release release;
    private final Watched<LockLook> watched;

    LockDetailsPage(ShownStore shown, String name, DashboardOptions.Release release, News news) {
        this.shown = shown;
        this.name = name;
        this.release = release;
        this.watched = shown.watch().lock(name, news::tell);
    }

    @Override
    public String event() {
        return JsonText.object(json -> {
            PageJson.now(json);
            json.object("store", store -> PageJson.store(store, shown))
                    .text("command", shown.store().showCommand().apply(name))
                    .flag("mayRelease", release == DashboardOptions.Release.ALLOWED);
            watched.look().latest().ifPresent(seen -> PageJson.lock(json, seen, MOST_SHOWN));
        });
    }

    @Override
    public void close() {
        watched.close();
    }
}
