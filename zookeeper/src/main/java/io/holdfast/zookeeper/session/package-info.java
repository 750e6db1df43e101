/**
 * One session at the servers: how it is opened, whether it is connected, from when on its timeout counts, how it ends.
 * Requests are sent asynchronously and answered in order. Nothing here knows locks or tickets.
 */
@NullMarked
package io.holdfast.zookeeper.session;

import org.jspecify.annotations.NullMarked;
