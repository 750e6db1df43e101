@NullMarked
package io.holdfast.torture.spec;

import org.jspecify.annotations.NullMarked;
