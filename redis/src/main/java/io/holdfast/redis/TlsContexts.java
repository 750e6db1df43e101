package io.holdfast.redis;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/** Makes TLS sockets from the PEM files a URI names; what it does not name is the JVM's own. */
final class TlsContexts {

    private static final char[] NO_PASSWORD = new char[0];

    private TlsContexts() {}

    /** @throws IllegalArgumentException naming the file that cannot be used */
    static SSLSocketFactory of(RedisConfig.Tls tls) {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(
                    tls.certificate().isPresent()
                            ? keyManagers(tls.certificate().get(), tls.key().orElseThrow())
                            : null,
                    tls.authorities().isPresent()
                            ? trustManagers(tls.authorities().get())
                            : null,
                    null);
            return context.getSocketFactory();
        } catch (GeneralSecurityException e) {
            throw new IllegalArgumentException("the TLS files cannot be used: " + e.getMessage(), e);
        }
    }

    private static TrustManager @Nullable [] trustManagers(Path file) throws GeneralSecurityException {
        KeyStore trusted = emptyStore();
        int number = 0;
        for (Certificate certificate : certificates(file)) {
            trusted.setCertificateEntry("authority-" + number++, certificate);
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(trusted);
        return factory.getTrustManagers();
    }

    private static KeyManager @Nullable [] keyManagers(Path certificate, Path key) throws GeneralSecurityException {
        KeyStore own = emptyStore();
        own.setKeyEntry(
                "own", privateKey(key), NO_PASSWORD, certificates(certificate).toArray(new Certificate[0]));
        KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        factory.init(own, NO_PASSWORD);
        return factory.getKeyManagers();
    }

    private static KeyStore emptyStore() throws GeneralSecurityException {
        try {
            KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(null, null);
            return store;
        } catch (IOException e) {
            throw new GeneralSecurityException(e);
        }
    }

    private static List<Certificate> certificates(Path file) throws GeneralSecurityException {
        try (InputStream in = new ByteArrayInputStream(read(file).getBytes(StandardCharsets.US_ASCII))) {
            Collection<? extends Certificate> found =
                    CertificateFactory.getInstance("X.509").generateCertificates(in);
            return new ArrayList<>(found);
        } catch (IOException e) {
            throw new GeneralSecurityException(e);
        }
    }

    private static PrivateKey privateKey(Path file) throws GeneralSecurityException {
        String text = read(file);
        if (!text.contains("BEGIN PRIVATE KEY")) {
            throw new IllegalArgumentException(
                    file + " is not an unencrypted PKCS #8 key; convert it with: openssl pkcs8 -topk8 -nocrypt");
        }
        byte[] encoded = Base64.getMimeDecoder()
                .decode(text.replaceAll("(?s).*-----BEGIN PRIVATE KEY-----", "")
                        .replaceAll("(?s)-----END PRIVATE KEY-----.*", ""));
        GeneralSecurityException last = null;
        for (String algorithm : List.of("RSA", "EC", "Ed25519")) {
            try {
                return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(encoded));
            } catch (GeneralSecurityException e) {
                last = e;
            }
        }
        throw new IllegalArgumentException("the key in " + file + " is of no known kind", last);
    }

    private static String read(Path file) {
        try {
            return Files.readString(file, StandardCharsets.US_ASCII);
        } catch (IOException e) {
            throw new IllegalArgumentException(
                    "the TLS file " + file + " cannot be read: "
                            + (e instanceof NoSuchFileException ? "no such file" : e.getMessage()),
                    e);
        }
    }
}
