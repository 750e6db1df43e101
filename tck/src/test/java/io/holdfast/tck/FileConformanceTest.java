package io.holdfast.tck;

import io.holdfast.file.FileStore;
import io.holdfast.spi.StoreFactory;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

class FileConformanceTest extends LockStoreContract {

    @TempDir
    static Path directory;

    @Override
    public StoreFactory store() {
        return FileStore.in(directory);
    }
}
