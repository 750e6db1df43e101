/**
 * This client's sessions, each a lease of etcd that is kept alive, and the keys of tickets that live by them. Tickets are renewed
 * here, and hear from here that their session has ended. What nobody wants any more is swept from here too.
 */
@NullMarked
package io.holdfast.etcd.session;

import org.jspecify.annotations.NullMarked;
