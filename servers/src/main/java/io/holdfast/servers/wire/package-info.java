/** Short conversations with a server, to see whether it serves: plain or by TLS, with the certificates made for that. */
@NullMarked
package io.holdfast.servers.wire;

import org.jspecify.annotations.NullMarked;
