package io.holdfast.ui;

/** What one open page shows: it has the stores looked at until it is closed. */
interface PageView extends AutoCloseable {

    /** The present state as one JSON object. */
    String event();

    @Override
    void close();
}
