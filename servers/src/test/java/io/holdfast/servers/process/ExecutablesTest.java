package io.holdfast.servers.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExecutablesTest {

    @Test
    void missingProgramIsAnErrorThatSaysHowToInstallIt(@TempDir Path empty) {
        assertThatThrownBy(() -> Executables.find("redis-server", "redis-server", List.of(empty)))
                .isInstanceOf(ServerStartException.class)
                .hasMessageContaining("'redis-server' is not installed")
                .hasMessageContaining("apt-get install redis-server");
    }

    @Test
    void findsPostgresInTheDirectoryOfItsVersion() {
        assertThat(Path.of(Executables.findPostgres("initdb"))).matches(Files::isExecutable);
    }
}
