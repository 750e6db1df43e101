package io.holdfast.ui;

import io.holdfast.ui.instance.ClientCounts;
import io.holdfast.ui.instance.Instance;
import io.holdfast.ui.json.JsonText;

/** What instances count themselves, as JSON. */
final class InstanceJson {

    private InstanceJson() {}

    static void fields(JsonText json, Instance instance) {
        Instance.Seen latest = instance.latest();
        json.text("instance", instance.label()).instant("seen", latest.seen());
        if (!latest.trouble().isEmpty()) {
            json.text("message", latest.trouble());
        }
        json.list("clients", latest.counts(), (client, counts) -> {
            fields(client, counts);
            if (latest.perSecond().containsKey(counts.bean())) {
                client.decimal("acquiredPerSecond", latest.perSecond().get(counts.bean()));
            }
        });
    }

    private static void fields(JsonText json, ClientCounts counts) {
        json.text("client", counts.client())
                .text("bean", counts.bean())
                .text("store", counts.store())
                .number("held", counts.held())
                .number("waiting", counts.waiting())
                .number("acquired", counts.acquired())
                .number("unsuccessful", counts.unsuccessful())
                .number("lost", counts.lost());
        counts.waitP99Millis().ifPresent(millis -> json.decimal("waitP99Millis", millis));
        counts.holdP99Millis().ifPresent(millis -> json.decimal("holdP99Millis", millis));
    }
}
