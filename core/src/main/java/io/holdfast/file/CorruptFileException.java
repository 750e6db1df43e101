package io.holdfast.file;

import java.io.IOException;
import java.nio.file.Path;

/** A lock file that does not read as one. It counts as neither free nor held. */
final class CorruptFileException extends IOException {

    private static final long serialVersionUID = 1L;

    CorruptFileException(Path file, String what) {
        super(file + " " + what);
    }
}
