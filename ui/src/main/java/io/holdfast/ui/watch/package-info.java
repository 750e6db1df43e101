/** Looks at stores again and again, as often as open pages need and no more than the stores bear. */
@NullMarked
package io.holdfast.ui.watch;

import org.jspecify.annotations.NullMarked;
