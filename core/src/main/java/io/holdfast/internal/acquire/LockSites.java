package io.holdfast.internal.acquire;

import io.holdfast.spi.TimeSource;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The sites of one client, one per lock name.
 *
 * <p>A site lives as long as a lock handle, a waiter or a lease refers to it. So a name never has two gates, and
 * a million names used once leave nothing behind. Thread-safe.
 */
public final class LockSites {

    private final ConcurrentHashMap<String, SiteReference> sites = new ConcurrentHashMap<>();
    private final ReferenceQueue<LockSite> dead = new ReferenceQueue<>();

    private final TimeSource time;

    public LockSites(TimeSource time) {
        this.time = time;
    }

    LockSite of(String name) {
        purge();
        while (true) {
            SiteReference known = sites.get(name);
            LockSite site = known == null ? null : known.get();
            if (site != null) {
                return site;
            }
            LockSite fresh = new LockSite(time);
            SiteReference reference = new SiteReference(name, fresh, dead);
            boolean added =
                    known == null ? sites.putIfAbsent(name, reference) == null : sites.replace(name, known, reference);
            if (added) {
                return fresh;
            }
        }
    }

    private void purge() {
        Object reference;
        while ((reference = dead.poll()) != null) {
            SiteReference gone = (SiteReference) reference;
            sites.remove(gone.name, gone);
        }
    }

    private static final class SiteReference extends WeakReference<LockSite> {

        private final String name;

        SiteReference(String name, LockSite site, ReferenceQueue<LockSite> queue) {
            super(site, queue);
            this.name = name;
        }
    }
}
