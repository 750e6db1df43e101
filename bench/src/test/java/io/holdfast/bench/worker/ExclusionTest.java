package io.holdfast.bench.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.bench.BenchException;
import io.holdfast.bench.ContenderSpec;
import io.holdfast.bench.Load;
import io.holdfast.bench.Pace;
import io.holdfast.bench.Scenario;
import io.holdfast.bench.server.ServerProbe;
import java.io.File;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("a lock that does not exclude has no result")
class ExclusionTest {

    private static final Pace SHORT = Pace.ofSeconds(0.2);

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void inOneJvmAndInSeveral(int jvms) {
        try (Team team = new Team(spec(NoLock.Factory.class), ServerProbe.blind())) {
            assertThatThrownBy(() -> team.measure(Scenario.CROWD, Load.of(jvms, 8), SHORT))
                    .isInstanceOf(BenchException.class)
                    .hasMessageContaining("no exclusion");
        }
    }

    @Test
    void norIfManyLocksAreHeld() {
        Load held = Load.of(1, 1).withLocks(10).withSection(Duration.ofMillis(10));

        try (Team team = new Team(spec(NoLock.Factory.class), ServerProbe.blind())) {
            assertThatThrownBy(() -> team.measure(Scenario.HELD, held, SHORT))
                    .isInstanceOf(BenchException.class)
                    .hasMessageContaining("no exclusion");
        }
    }

    @Test
    void norHasOneThatFails() {
        try (Team team = new Team(spec(FailingLock.Factory.class), ServerProbe.blind())) {
            assertThatThrownBy(() -> team.measure(Scenario.FREE, Load.of(1, 1), SHORT))
                    .isInstanceOf(BenchException.class)
                    .hasMessageContaining("out of order");
        }
    }

    @Test
    void theBoardSeesWhoeverIsInsideAlready() {
        ExclusionBoard board = ExclusionBoard.create(directory.resolve("board"), 2);

        assertThat(board.enter(1, 7)).isEqualTo(ExclusionBoard.Found.FINE);
        assertThat(board.enter(1, 8)).isEqualTo(ExclusionBoard.Found.OCCUPIED);
        assertThat(board.leave(1, 7)).isFalse();
        assertThat(board.enter(0, 7)).isEqualTo(ExclusionBoard.Found.FINE);
        assertThat(board.leave(0, 7)).isTrue();
        assertThat(board.enter(0, 7)).isEqualTo(ExclusionBoard.Found.AGAIN);
        assertThat(ExclusionBoard.open(directory.resolve("board"), 2).entries()).isEqualTo(4);
    }

    private static ContenderSpec spec(Class<?> factory) {
        return new ContenderSpec(
                factory.getSimpleName(),
                "none",
                ContenderSpec.Kind.PEER,
                factory.getName(),
                Map.of(),
                Arrays.asList(System.getProperty("java.class.path").split(File.pathSeparator)),
                Set.of(Scenario.values()),
                false);
    }
}
