package io.holdfast.jdbc.dialect;

import java.util.regex.Pattern;

/**
 * The name of a table as it may stand in SQL text: letters, digits and underscores, after a schema if wanted. Immutable.
 *
 * @param text as given
 */
public record TableName(String text) {

    /** Short enough that a suffix of ours still fits what PostgreSQL (63) and MySQL (64) allow. */
    private static final int LONGEST_PART = 48;

    private static final Pattern VALID = Pattern.compile(
            "(?:[A-Za-z_][A-Za-z0-9_]{0,%1$d}\\.)?[A-Za-z_][A-Za-z0-9_]{0,%1$d}".formatted(LONGEST_PART - 1));

    public TableName {
        if (!VALID.matcher(text).matches()) {
            throw new IllegalArgumentException(
                    "'" + text + "' cannot be a table's name: use letters, digits and _, at most " + LONGEST_PART
                            + ", after a schema and a dot if wanted");
        }
    }

    /** Without its schema. */
    public String local() {
        return text.substring(text.lastIndexOf('.') + 1);
    }

    /** Empty if the name has none: then the connection's own counts. */
    public String schema() {
        int dot = text.lastIndexOf('.');
        return dot < 0 ? "" : text.substring(0, dot);
    }

    @Override
    public String toString() {
        return text;
    }
}
