/** Tests of the file store. */
@NullMarked
package io.holdfast.file;

import org.jspecify.annotations.NullMarked;
