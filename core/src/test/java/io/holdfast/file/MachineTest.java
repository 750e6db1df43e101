package io.holdfast.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class MachineTest {

    private static final Path DIRECTORY = Path.of("/mnt/locks");

    @Test
    void networkFileSystemsAreRefusedByName() {
        for (String type : new String[] {"nfs4", "cifs", "NFS", "9p", "fuse.sshfs"}) {
            assertThatThrownBy(() -> Machine.requireLocal(DIRECTORY, type))
                    .isInstanceOf(IOException.class)
                    .hasMessageContainingAll("/mnt/locks", type, "local directory");
        }
    }

    @Test
    void localAndUnknownFileSystemsAreNot() throws IOException {
        for (String type : new String[] {"ext4", "xfs", "btrfs", "zfs", "tmpfs", "overlay", "apfs", "unknown"}) {
            Machine.requireLocal(DIRECTORY, type);
        }
    }

    @Test
    void theBootIsTheSameWheneverAsked() {
        assertThat(Machine.boot()).isNotBlank().isEqualTo(Machine.boot());
    }
}
