package io.holdfast.spi;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The address of a store: {@code scheme://user:password@host:port,host:port/path?key=value}, or
 * {@code scheme:path?key=value}.
 *
 * <p>Immutable. Its text form and its errors never show credentials.
 */
public final class StoreUri {

    private static final Pattern SCHEME = Pattern.compile("([A-Za-z][A-Za-z0-9+.-]*):(.*)", Pattern.DOTALL);
    private static final Pattern AMOUNT = Pattern.compile("(\\d+)(ms|s|m|h|d)");
    private static final Pattern SECRET_VALUE =
            Pattern.compile("(?i)((?:password|passwd|pwd|secret|token)[a-z]*=)[^&;]*");
    /** Up to the last one: a password may have any character that somebody forgot to escape. */
    private static final Pattern USER_INFO = Pattern.compile("//.*@", Pattern.DOTALL);

    private final String raw;
    private final String scheme;
    private final Optional<String> user;
    private final Optional<String> password;
    private final List<HostPort> hosts;
    private final String path;
    private final Map<String, String> parameters;

    private StoreUri(String raw, String scheme, String rest) {
        this.raw = raw;
        this.scheme = scheme;
        int question = rest.indexOf('?');
        String address = question < 0 ? rest : rest.substring(0, question);
        this.parameters = question < 0 ? Map.of() : parseParameters(rest.substring(question + 1));
        if (!address.startsWith("//")) {
            this.user = Optional.empty();
            this.password = Optional.empty();
            this.hosts = List.of();
            this.path = decode(address);
            return;
        }
        int slash = address.indexOf('/', 2);
        String authority = slash < 0 ? address.substring(2) : address.substring(2, slash);
        this.path = slash < 0 ? "" : decode(address.substring(slash));
        if (!authority.isEmpty() && address.indexOf('@', 2 + authority.length()) >= 0) {
            throw unescaped();
        }
        int at = authority.lastIndexOf('@');
        String userInfo = at < 0 ? "" : authority.substring(0, at);
        int colon = userInfo.indexOf(':');
        this.user = nonEmpty(colon < 0 ? userInfo : userInfo.substring(0, colon));
        this.password = colon < 0 ? Optional.empty() : nonEmpty(userInfo.substring(colon + 1));
        this.hosts = parseHosts(authority.substring(at + 1), rest.substring(2 + authority.length()));
    }

    /** @throws IllegalArgumentException naming what is wrong, without credentials */
    public static StoreUri parse(String text) {
        Matcher matcher = SCHEME.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("'" + redact(text)
                    + "' is not a store URI: it must begin with a scheme, as in memory: or redis://localhost:6379");
        }
        return new StoreUri(text, matcher.group(1).toLowerCase(Locale.ROOT), matcher.group(2));
    }

    public String scheme() {
        return scheme;
    }

    public Optional<String> user() {
        return user;
    }

    public Optional<String> password() {
        return password;
    }

    /** Empty if the URI has no {@code //}. */
    public List<HostPort> hosts() {
        return hosts;
    }

    /** What follows the hosts, with its slash, or everything after the scheme if there are no hosts; decoded. */
    public String path() {
        return path;
    }

    /** The text it was parsed from, credentials included: for a driver, never for a message. */
    public String raw() {
        return raw;
    }

    public Optional<String> text(String parameter) {
        return Optional.ofNullable(parameters.get(parameter));
    }

    /** As {@code 500ms}, {@code 2s}, {@code 1m}, {@code 1h}, {@code 3d} or ISO-8601 ({@code PT2S}). */
    public Optional<Duration> duration(String parameter) {
        return text(parameter).map(value -> parseDuration(parameter, value));
    }

    public Optional<Integer> integer(String parameter) {
        return text(parameter).map(value -> {
            try {
                return Integer.valueOf(value);
            } catch (NumberFormatException e) {
                throw wrong(parameter, value, "a whole number");
            }
        });
    }

    public Optional<Boolean> flag(String parameter) {
        return text(parameter).map(value -> switch (value) {
            case "true", "" -> true;
            case "false" -> false;
            default -> throw wrong(parameter, value, "true or false");
        });
    }

    /** Rejects parameters that are not in {@code known}, so that a typing error does not go unnoticed. */
    public void requireParametersIn(Set<String> known) {
        for (String parameter : parameters.keySet()) {
            if (parameter.contains("@")) {
                throw unescaped();
            }
            if (!known.contains(parameter)) {
                throw new IllegalArgumentException("unknown parameter '" + parameter + "' in " + this
                        + (known.isEmpty() ? ": it takes none" : "; known are " + new TreeSet<>(known)));
            }
        }
    }

    /** The URI without credentials. */
    @Override
    public String toString() {
        return redact(raw);
    }

    private static String redact(String text) {
        String withoutUser = USER_INFO.matcher(text).replaceAll("//***@");
        return SECRET_VALUE.matcher(withoutUser).replaceAll("$1***");
    }

    private List<HostPort> parseHosts(String authority, String behind) {
        List<HostPort> parsed = new ArrayList<>();
        if (!authority.isEmpty()) {
            for (String host : authority.split(",", -1)) {
                try {
                    parsed.add(parseHost(host));
                } catch (IllegalArgumentException e) {
                    // What looks like a host may be the first half of a password, and must not be named.
                    throw behind.contains("@") ? unescaped() : e;
                }
            }
        }
        return List.copyOf(parsed);
    }

    private HostPort parseHost(String text) {
        int bracket = text.indexOf(']');
        int colon = text.indexOf(':', Math.max(0, bracket));
        String host = colon < 0 ? text : text.substring(0, colon);
        if (host.startsWith("[") && host.endsWith("]")) {
            host = host.substring(1, host.length() - 1);
        }
        if (host.isEmpty()) {
            throw new IllegalArgumentException("a host is missing in " + this);
        }
        if (colon < 0) {
            return new HostPort(host, Optional.empty());
        }
        String port = text.substring(colon + 1);
        try {
            int number = Integer.parseInt(port);
            if (number > 0 && number < 65536) {
                return new HostPort(host, Optional.of(number));
            }
        } catch (NumberFormatException e) {
            // Said below, in one place.
        }
        throw new IllegalArgumentException("the port of host '" + host + "' in " + this + " is not a port number");
    }

    private static Map<String, String> parseParameters(String query) {
        Map<String, String> parsed = new LinkedHashMap<>();
        for (String pair : query.split("&")) {
            if (!pair.isEmpty()) {
                int equals = pair.indexOf('=');
                String key = equals < 0 ? pair : pair.substring(0, equals);
                parsed.put(decode(key), equals < 0 ? "" : decode(pair.substring(equals + 1)));
            }
        }
        return parsed;
    }

    private Duration parseDuration(String parameter, String value) {
        Matcher matcher = AMOUNT.matcher(value);
        try {
            if (!matcher.matches()) {
                return Duration.parse(value);
            }
            long amount = Long.parseLong(matcher.group(1));
            return switch (matcher.group(2)) {
                case "ms" -> Duration.ofMillis(amount);
                case "s" -> Duration.ofSeconds(amount);
                case "m" -> Duration.ofMinutes(amount);
                case "h" -> Duration.ofHours(amount);
                default -> Duration.ofDays(amount);
            };
        } catch (DateTimeParseException | NumberFormatException | ArithmeticException e) {
            throw wrong(parameter, value, "a duration such as 500ms, 2s or 1m");
        }
    }

    private IllegalArgumentException unescaped() {
        return new IllegalArgumentException("the hosts of " + this
                + " cannot be told from its user and password: write / as %2F, ? as %3F, # as %23 and @ as %40 in those,"
                + " and @ as %40 behind the hosts");
    }

    private IllegalArgumentException wrong(String parameter, String value, String expected) {
        return new IllegalArgumentException("parameter '" + parameter + "' in " + this + " must be " + expected
                + ", not '" + value.substring(value.lastIndexOf('@') + 1) + "'");
    }

    private static Optional<String> nonEmpty(String text) {
        return text.isEmpty() ? Optional.empty() : Optional.of(decode(text));
    }

    /** Percent-decoding; a plus is a plus. */
    private static String decode(String text) {
        return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
    }

    /** A host, and its port if one was given. */
    public record HostPort(String host, Optional<Integer> port) {
        public int portOr(int standard) {
            return port.orElse(standard);
        }
    }
}
