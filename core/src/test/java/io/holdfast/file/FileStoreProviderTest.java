package io.holdfast.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockView;
import io.holdfast.spi.StoreUri;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileStoreProviderTest {

    private static final Path HOME = Path.of("/home/me");

    @TempDir
    Path directory;

    @Test
    void theUriNamesTheDirectory() throws InterruptedException {
        for (String uri : new String[] {"file:" + directory, "file://" + directory}) {
            try (Holdfast holdfast = Holdfast.connect(uri);
                    Lease lease = holdfast.lock("job").acquire()) {
                assertThat(directory.resolve("job.lock")).exists();
                assertThat(holdfast.locks("")).singleElement().satisfies(view -> {
                    assertThat(view.name()).isEqualTo("job");
                    assertThat(view.holders())
                            .extracting(LockView.Holder::token)
                            .containsExactly(lease.token());
                });
            }
        }
    }

    @Test
    void withoutAPathItIsTheUsersStateDirectory() {
        assertThat(directory("", Map.of())).isEqualTo(Path.of("/home/me/.local/state/holdfast"));
        assertThat(directory("", Map.of("XDG_STATE_HOME", "/state"))).isEqualTo(Path.of("/state/holdfast"));
        assertThat(directory("", Map.of("XDG_STATE_HOME", ""))).isEqualTo(Path.of("/home/me/.local/state/holdfast"));
        assertThat(directory("", Map.of("XDG_STATE_HOME", "relative")))
                .isEqualTo(Path.of("/home/me/.local/state/holdfast"));
    }

    @Test
    void homeIsWhatTheEnvironmentSaysItIs() {
        assertThat(directory("", Map.of("HOME", "/other"))).isEqualTo(Path.of("/other/.local/state/holdfast"));
        assertThat(directory("~/locks", Map.of("HOME", "/other"))).isEqualTo(Path.of("/other/locks"));
        assertThat(directory("~/locks", Map.of("HOME", ""))).isEqualTo(Path.of("/home/me/locks"));
        assertThat(directory("~/locks", Map.of("HOME", "relative"))).isEqualTo(Path.of("/home/me/locks"));
    }

    @Test
    void aPathMayBeRelativeOrAtHome() {
        assertThat(directory("locks", Map.of())).isEqualTo(Path.of("locks"));
        assertThat(directory("~/locks", Map.of())).isEqualTo(Path.of("/home/me/locks"));
        assertThat(directory("/~/locks", Map.of())).isEqualTo(Path.of("/~/locks"));
    }

    @Test
    void aHostIsRefusedWithTheRightSpelling() {
        assertThatThrownBy(() -> new FileStoreProvider().store(StoreUri.parse("file://locks/dir")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("file:relative/dir");
    }

    @Test
    void anUnknownParameterIsRefused() {
        assertThatThrownBy(() -> new FileStoreProvider().store(StoreUri.parse("file:/dir?sync=true")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("sync");
    }

    private static Path directory(String path, Map<String, String> environment) {
        return FileStoreProvider.directory(path, environment::get, HOME);
    }
}
