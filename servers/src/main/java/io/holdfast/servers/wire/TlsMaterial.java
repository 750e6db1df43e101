package io.holdfast.servers.wire;

import io.holdfast.servers.process.Executables;
import io.holdfast.servers.process.Launcher;
import io.holdfast.servers.process.Workspace;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
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
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * A throw-away certificate authority with one certificate for servers on loopback and one for clients, as PEM files and as
 * PKCS#12 stores.
 *
 * <p>The server certificate is for {@code localhost} and {@code 127.0.0.1}. Immutable; the files live as long as the JVM.
 * Needs the {@code openssl} program.
 */
public final class TlsMaterial {

    /** The password of every PKCS#12 store. */
    public static final String STORE_PASSWORD = "holdfast";

    private static final String DAYS = "30";

    private final Path directory;
    private final SSLContext clientContext;

    private TlsMaterial(Path directory, SSLContext clientContext) {
        this.directory = directory;
        this.clientContext = clientContext;
    }

    /** Makes new keys and certificates. */
    public static TlsMaterial generate() {
        Path directory = Workspace.ofThisJvm().newDirectory("tls");
        try {
            return generateIn(directory);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot write TLS material to " + directory, e);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("Cannot make TLS material", e);
        }
    }

    private static TlsMaterial generateIn(Path directory) throws IOException, GeneralSecurityException {
        authority(directory);
        certificate(
                directory,
                "server",
                "subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n");
        certificate(directory, "client", "extendedKeyUsage=clientAuth\n");
        keyStore(directory, "server");
        KeyStore client = keyStore(directory, "client");
        KeyStore trust = emptyStore();
        trust.setCertificateEntry("ca", readCertificate(directory.resolve("ca.pem")));
        write(trust, directory.resolve("trust.p12"));
        return new TlsMaterial(directory, context(client, trust));
    }

    /** The certificate of the authority, PEM. */
    public Path authorityCertificate() {
        return directory.resolve("ca.pem");
    }

    /** The certificate of servers, PEM. */
    public Path serverCertificate() {
        return directory.resolve("server.pem");
    }

    /** The unencrypted PKCS#8 key of servers, PEM. */
    public Path serverKey() {
        return directory.resolve("server.key");
    }

    /** The certificate of clients, PEM. */
    public Path clientCertificate() {
        return directory.resolve("client.pem");
    }

    /** The unencrypted PKCS#8 key of clients, PEM. */
    public Path clientKey() {
        return directory.resolve("client.key");
    }

    /** Key and certificate of servers, PKCS#12. */
    public Path serverKeyStore() {
        return directory.resolve("server.p12");
    }

    /** Key and certificate of clients, PKCS#12. */
    public Path clientKeyStore() {
        return directory.resolve("client.p12");
    }

    /** The certificate of the authority, PKCS#12. */
    public Path trustStore() {
        return directory.resolve("trust.p12");
    }

    /** Trusts the authority alone and presents the client certificate. */
    public SSLContext clientContext() {
        return clientContext;
    }

    private static void authority(Path directory) {
        openssl(
                directory,
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:prime256v1",
                "-nodes",
                "-days",
                DAYS,
                "-subj",
                "/CN=Holdfast test authority",
                "-keyout",
                "ca.key",
                "-out",
                "ca.pem");
    }

    private static void certificate(Path directory, String name, String extensions) throws IOException {
        Files.writeString(directory.resolve(name + ".ext"), extensions);
        openssl(
                directory,
                "req",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:prime256v1",
                "-nodes",
                "-subj",
                "/CN=" + name,
                "-keyout",
                name + ".key",
                "-out",
                name + ".csr");
        openssl(
                directory,
                "x509",
                "-req",
                "-in",
                name + ".csr",
                "-CA",
                "ca.pem",
                "-CAkey",
                "ca.key",
                "-CAcreateserial",
                "-days",
                DAYS,
                "-extfile",
                name + ".ext",
                "-out",
                name + ".pem");
    }

    private static void openssl(Path directory, String... arguments) {
        List<String> command = new ArrayList<>(List.of(Executables.find("openssl", "openssl")));
        command.addAll(List.of(arguments));
        Launcher.run(command, null, directory);
    }

    private static KeyStore keyStore(Path directory, String name) throws IOException, GeneralSecurityException {
        KeyStore store = emptyStore();
        Certificate[] chain = {
            readCertificate(directory.resolve(name + ".pem")), readCertificate(directory.resolve("ca.pem"))
        };
        store.setKeyEntry(name, readKey(directory.resolve(name + ".key")), STORE_PASSWORD.toCharArray(), chain);
        write(store, directory.resolve(name + ".p12"));
        return store;
    }

    private static KeyStore emptyStore() throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        return store;
    }

    private static void write(KeyStore store, Path file) throws IOException, GeneralSecurityException {
        try (OutputStream out = Files.newOutputStream(file)) {
            store.store(out, STORE_PASSWORD.toCharArray());
        }
    }

    private static Certificate readCertificate(Path pem) throws IOException, GeneralSecurityException {
        try (InputStream in = Files.newInputStream(pem)) {
            return CertificateFactory.getInstance("X.509").generateCertificate(in);
        }
    }

    private static PrivateKey readKey(Path pem) throws IOException, GeneralSecurityException {
        String base64 = Files.readString(pem).replaceAll("-----[A-Z ]+-----", "");
        byte[] der = Base64.getMimeDecoder().decode(base64);
        return KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(der));
    }

    private static SSLContext context(KeyStore keys, KeyStore trust) throws GeneralSecurityException {
        KeyManagerFactory keyManagers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keyManagers.init(keys, STORE_PASSWORD.toCharArray());
        TrustManagerFactory trustManagers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trustManagers.init(trust);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keyManagers.getKeyManagers(), trustManagers.getTrustManagers(), null);
        return context;
    }
}
