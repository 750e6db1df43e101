package io.holdfast.quorum;

import io.holdfast.LockView;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Makes one view of what the nodes show. */
final class QuorumViews {

    private QuorumViews() {}

    /**
     * Who holds on a majority; a minority is a try under way, or what one left.
     *
     * <p>The token shown is the largest a node gave, which is the agreed one unless a node joined late.
     */
    static LockView combine(String name, int majority, List<LockView> views) {
        Map<Object, List<LockView.Holder>> same = views.stream()
                .flatMap(view -> view.holders().stream())
                .collect(Collectors.groupingBy(holder -> List.of(holder.origin(), holder.demand(), holder.standing())));
        List<LockView.Holder> holders = same.values().stream()
                .filter(group -> group.size() >= majority)
                .map(QuorumViews::combine)
                .sorted(Comparator.comparing(holder -> holder.token().orElse(0L)))
                .toList();
        return new LockView(name, holders, List.of());
    }

    private static LockView.Holder combine(List<LockView.Holder> group) {
        LockView.Holder one = group.get(0);
        return new LockView.Holder(
                one.origin(),
                one.demand(),
                group.stream().flatMap(holder -> holder.token().stream()).max(Long::compare),
                group.stream().flatMap(holder -> holder.since().stream()).max(Instant::compareTo),
                group.stream().flatMap(holder -> holder.timeLeft().stream()).min(Duration::compareTo),
                one.standing());
    }
}
