/** Locks between the processes of one machine, kept in files. Start at {@link io.holdfast.file.FileStore}. */
@NullMarked
package io.holdfast.file;

import org.jspecify.annotations.NullMarked;
