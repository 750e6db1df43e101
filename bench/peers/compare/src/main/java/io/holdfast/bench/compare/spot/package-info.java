/** What is measured once, by other means than a load: crowds, history, cold starts, distance. */
@NullMarked
package io.holdfast.bench.compare.spot;

import org.jspecify.annotations.NullMarked;
