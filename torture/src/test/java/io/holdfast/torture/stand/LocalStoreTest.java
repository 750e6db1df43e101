package io.holdfast.torture.stand;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.torture.nemesis.Fault;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("the stores with servers of our own")
class LocalStoreTest {

    @Test
    void leaveNoFaultOut() {
        Set<Fault> possible = EnumSet.noneOf(Fault.class);
        Arrays.stream(LocalStore.values()).map(LocalStore::faults).forEach(possible::addAll);

        assertThat(possible).containsExactlyInAnyOrder(Fault.values());
    }

    @Test
    void allHaveExecutorsThatFailAndOnlyEtcdListingsThatAreLate() {
        assertThat(LocalStore.values()).allMatch(store -> store.faults().contains(Fault.EXECUTOR));
        assertThat(LocalStore.values())
                .filteredOn(store -> store.faults().contains(Fault.LATE_SWEEP))
                .containsExactly(LocalStore.ETCD);
    }

    @Test
    void doNotMixWhatNeedsServersReachedInAWayOfTheirOwn() {
        assertThat(LocalStore.ETCD.mixedFaults())
                .contains(Fault.EXECUTOR, Fault.FULL)
                .doesNotContain(Fault.PARTITION, Fault.LATE_SWEEP);
    }
}
