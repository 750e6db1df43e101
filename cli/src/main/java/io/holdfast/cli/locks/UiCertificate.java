package io.holdfast.cli.locks;

import io.holdfast.cli.console.FailedException;
import io.holdfast.cli.console.Failure;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** Reads the key and certificate the dashboard serves HTTPS with. */
final class UiCertificate {

    static final String PASSWORD_VARIABLE = "HOLDFAST_UI_TLS_PASSWORD";

    private UiCertificate() {}

    static SSLContext read(Path file) {
        char[] password = System.getenv().getOrDefault(PASSWORD_VARIABLE, "").toCharArray();
        try (InputStream in = Files.newInputStream(file)) {
            KeyStore keys = KeyStore.getInstance("PKCS12");
            keys.load(in, password);
            KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            managers.init(keys, password);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(managers.getKeyManagers(), null, null);
            return context;
        } catch (IOException | GeneralSecurityException e) {
            throw new FailedException(
                    Failure.USAGE,
                    "cannot read a key from " + file + " (" + e + "). It must be a PKCS#12 file whose password is in "
                            + PASSWORD_VARIABLE + ".");
        }
    }
}
