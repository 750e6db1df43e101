/**
 * What all commands share: the options that name a store, words for locks and failures, exit codes, and the way to standard output and
 * error, past which no credentials get.
 */
@NullMarked
package io.holdfast.cli.console;

import org.jspecify.annotations.NullMarked;
