package io.holdfast.etcd.client;

import io.grpc.Status;
import java.net.UnknownHostException;
import java.security.cert.CertificateException;
import org.jspecify.annotations.Nullable;

/** Says for people what became of a call: which member, what happened, the likely reason, what to do; never credentials. */
final class RpcFailureText {

    private RpcFailureText() {}

    /** @param sent whether anything was sent: else there was no connection yet */
    static String of(Status status, boolean sent, String member) {
        String description = firstLine(status.getDescription());
        Throwable cause = innermost(status.getCause());
        String inner = cause == null || cause.getMessage() == null ? description : firstLine(cause.getMessage());
        String said = status.getCode() + (inner.isEmpty() ? "" : ": " + inner);
        if (cause instanceof UnknownHostException || description.startsWith("Unable to resolve host")) {
            return "host '" + host(member) + "' is unknown; check its name";
        }
        if (inner.contains("Connection refused")) {
            return "cannot connect to " + member + ": Connection refused. Is etcd running there? Check host and port";
        }
        if (inner.contains("connection timed out")) {
            return "cannot connect to " + member + ": it does not answer."
                    + " Check host and port, and whether a firewall is in between";
        }
        if (isOfCertificate(cause, inner)) {
            return inner.contains("name")
                    ? "the certificate of " + member + " is for another name (" + inner
                            + "); connect by a name in the certificate, or see serverName="
                    : "the certificate of " + member + " is not trusted (" + inner
                            + "); name the file of its authority with ca=FILE";
        }
        if (inner.contains("certificate")) {
            return member + " does not accept our certificate (" + inner + "); see cert=FILE and key=FILE";
        }
        if (description.contains("TLS negotiation")
                || inner.contains("SSL/TLS record")
                || inner.contains("handshake")) {
            return member + " did not complete the TLS handshake (" + inner
                    + "). If it works without TLS, use etcd://; check the port, too";
        }
        if (!sent && inner.contains("Connection reset")) {
            return member + " broke off the connection, perhaps in a TLS handshake (" + inner
                    + "). If it works without TLS, use etcd://; if it expects TLS, etcds://; check the port, too";
        }
        if (inner.contains("First received frame") || description.contains("http2 exception")) {
            return member + " does not speak the protocol of etcd (" + inner
                    + "): another service listens there; check the port";
        }
        if (description.contains("Network closed for unknown reason")) {
            return member + " closed the connection without an answer."
                    + " If it expects TLS, use etcds://; check the port, too";
        }
        return switch (status.getCode()) {
            case DEADLINE_EXCEEDED -> member + " did not answer in time";
            case PERMISSION_DENIED -> member + " says that the user lacks a permission (" + said + ")";
            default -> answer(member, description, said);
        };
    }

    private static String answer(String member, String description, String said) {
        if (description.contains("user name is empty")) {
            return member
                    + " asks for a user and password, and none are given; write them before the host in the address";
        }
        if (description.contains("authentication is not enabled")) {
            return member + " says: authentication is not enabled; leave user and password out of the address";
        }
        if (description.contains("invalid user ID or password")) {
            return member + " refuses the user or password; check both";
        }
        return member + " says " + said;
    }

    private static boolean isOfCertificate(@Nullable Throwable cause, String inner) {
        return cause instanceof CertificateException || inner.contains("certification path");
    }

    private static @Nullable Throwable innermost(@Nullable Throwable cause) {
        @Nullable Throwable innermost = cause;
        while (innermost != null && innermost.getCause() != null) {
            innermost = innermost.getCause();
        }
        return innermost;
    }

    /** gRPC adds lines about its own inside. */
    private static String firstLine(@Nullable String text) {
        return text == null ? "" : text.lines().findFirst().orElse("").strip().replaceFirst("\\.+$", "");
    }

    private static String host(String member) {
        int colon = member.lastIndexOf(':');
        return colon < 0 ? member : member.substring(0, colon);
    }
}
