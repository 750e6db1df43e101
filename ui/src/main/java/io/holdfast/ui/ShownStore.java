package io.holdfast.ui;

import io.holdfast.ui.watch.StoreWatch;

/**
 * A store on the pages.
 *
 * @param id its number in addresses and JSON, from 1
 * @param store what it is
 * @param watch what looks at it
 */
record ShownStore(int id, WatchedStore store, StoreWatch watch) {}
