/** Who may ask, what may be asked for, and how it is answered: everything about HTTP that has nothing to do with locks. */
@NullMarked
package io.holdfast.ui.http;

import org.jspecify.annotations.NullMarked;
