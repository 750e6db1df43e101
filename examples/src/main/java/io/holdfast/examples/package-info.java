/** Small programs to read first. Each runs on any store: {@code ./example NAME --store redis://…}. */
package io.holdfast.examples;
