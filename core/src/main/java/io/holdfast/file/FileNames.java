package io.holdfast.file;

import java.io.ByteArrayOutputStream;
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
    private static final String PLAIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";

    private FileNames() {}

    static String of(String lock) {
        byte[] bytes = lock.getBytes(StandardCharsets.UTF_8);
        StringBuilder encoded = new StringBuilder(bytes.length + SUFFIX.length());
        int wholeEscapes = 0;
        for (byte b : bytes) {
            char c = (char) (b & 0xff);
            if (PLAIN.indexOf(c) >= 0 && !(c == '.' && encoded.isEmpty())) {
                encoded.append(c);
            } else {
                encoded.append('%').append(HexFormat.of().withUpperCase().toHexDigits(b));
            }
            if (encoded.length() <= MAX_BYTES - SUFFIX.length() - 1 - DIGEST_CHARS) {
                wholeEscapes = encoded.length();
            }
        }
        if (encoded.length() + SUFFIX.length() > MAX_BYTES) {
            encoded.setLength(wholeEscapes);
            encoded.append(DIGEST_MARK).append(HexFormat.of().formatHex(sha256(bytes)));
        }
        return encoded.append(SUFFIX).toString();
    }

    static boolean isLockFile(String fileName) {
        return fileName.endsWith(SUFFIX) && !fileName.startsWith(".");
    }

    /** The lock's name, unless it is not a lock file or was too long to be read off. */
    static Optional<String> lockOf(String fileName) {
        if (!isLockFile(fileName) || fileName.indexOf(DIGEST_MARK) >= 0) {
            return Optional.empty();
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        int end = fileName.length() - SUFFIX.length();
        for (int i = 0; i < end; i++) {
            char c = fileName.charAt(i);
            if (c != '%') {
                bytes.write(c);
            } else if (i + 2 < end
                    && HexFormat.isHexDigit(fileName.charAt(i + 1))
                    && HexFormat.isHexDigit(fileName.charAt(i + 2))) {
                bytes.write(HexFormat.fromHexDigits(fileName, i + 1, i + 3));
                i += 2;
            } else {
                return Optional.empty();
            }
        }
        String lock = bytes.toString(StandardCharsets.UTF_8);
        return of(lock).equals(fileName) ? Optional.of(lock) : Optional.empty();
    }

    private static byte[] sha256(byte[] bytes) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(bytes);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
