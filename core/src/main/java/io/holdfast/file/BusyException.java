package io.holdfast.file;

import java.io.IOException;

/** A guard could not be had in time. Nothing was changed. */
final class BusyException extends IOException {

    private static final long serialVersionUID = 1L;

    BusyException(String message) {
        super(message);
    }
}
