package io.holdfast.ui.http;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;

/** Who may see the pages: browsers that opened a printed address, which works once, and got a cookie for it. Thread-safe. */
public final class Sessions {

    private static final int BYTES = 32;
    /** Each began with an address somebody was given; more than that are forgotten browsers. */
    private static final int MOST = 200;

    private final SecureRandom random = new SecureRandom();
    private final AtomicReference<String> token = new AtomicReference<>(secret());
    private final Set<String> sessions = ConcurrentHashMap.newKeySet();

    /** The token the next browser comes with. */
    public String token() {
        return token.get();
    }

    /** Begins a session if that is the token, which is then used up. */
    public Optional<String> begin(String presented) {
        String expected = token.get();
        boolean same = MessageDigest.isEqual(
                presented.getBytes(StandardCharsets.UTF_8), expected.getBytes(StandardCharsets.UTF_8));
        if (!same || sessions.size() >= MOST || !token.compareAndSet(expected, secret())) {
            return Optional.empty();
        }
        String session = secret();
        sessions.add(session);
        return Optional.of(session);
    }

    public boolean isOpen(String session) {
        return sessions.contains(session);
    }

    /** Tells sessions apart in an audit without giving one away. */
    public static String mark(String session) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(session.getBytes(StandardCharsets.US_ASCII));
            return Base64.getUrlEncoder()
                    .withoutPadding()
                    .encodeToString(digest)
                    .substring(0, 8);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    private String secret() {
        byte[] bytes = new byte[BYTES];
        random.nextBytes(bytes);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }
}
