@NullMarked
package io.holdfast.tck;

import org.jspecify.annotations.NullMarked;
