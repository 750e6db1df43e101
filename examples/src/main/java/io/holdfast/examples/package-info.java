/** Small programs to read first. Each runs on any store: {@code HOLDFAST_STORE=redis://… java …}. */
package io.holdfast.examples;
