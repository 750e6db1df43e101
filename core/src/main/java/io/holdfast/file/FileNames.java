package io.holdfast.file;

import io.holdfast.spi.support.PercentEncoding;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Optional;

/**
 * The file name of a lock: letters, digits, {@code . _ -} stand for themselves, all else and a leading dot is
 * {@code %XX} of its UTF-8 bytes, and {@code .lock} follows.
 *
 * <p>What gets too long for a file name keeps its beginning and ends in {@code ~} and a SHA-256; a tilde in a name is
 * escaped, so the two never meet. Names with a leading dot are left to the store's own files.
 */
final class FileNames {

    private static final String SUFFIX = ".lock";
    private static final int MAX_BYTES = 255;
    private static final int DIGEST_CHARS = 64;
    private static final char DIGEST_MARK = '~';
    private static final String LEADING_DOT = "%2E";
    private static final String PLAIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    private static final PercentEncoding ENCODING = new PercentEncoding(c -> PLAIN.indexOf(c) >= 0);

    private FileNames() {}

    static String of(String lock) {
        String encoded =
                lock.startsWith(".") ? LEADING_DOT + ENCODING.encode(lock.substring(1)) : ENCODING.encode(lock);
        if (encoded.length() + SUFFIX.length() > MAX_BYTES) {
            int readable = MAX_BYTES - SUFFIX.length() - 1 - DIGEST_CHARS;
            int lastEscape = encoded.lastIndexOf('%', readable - 1);
            // Not within an escape.
            int cut = lastEscape > readable - LEADING_DOT.length() ? lastEscape : readable;
            encoded = encoded.substring(0, cut) + DIGEST_MARK + HexFormat.of().formatHex(sha256(lock));
        }
        return encoded + SUFFIX;
    }

    static boolean isLockFile(String fileName) {
        return fileName.endsWith(SUFFIX) && !fileName.startsWith(".");
    }

    /** The lock's name, unless it is not a lock file or was too long to be read off. */
    static Optional<String> lockOf(String fileName) {
        if (!isLockFile(fileName) || fileName.indexOf(DIGEST_MARK) >= 0) {
            return Optional.empty();
        }
        String encoded = fileName.substring(0, fileName.length() - SUFFIX.length());
        return (encoded.startsWith(LEADING_DOT)
                        ? ENCODING.decode(encoded.substring(LEADING_DOT.length()))
                                .map(rest -> "." + rest)
                        : ENCODING.decode(encoded))
                .filter(lock -> of(lock).equals(fileName));
    }

    private static byte[] sha256(String lock) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(lock.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
