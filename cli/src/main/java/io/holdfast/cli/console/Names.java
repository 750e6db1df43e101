package io.holdfast.cli.console;

import java.lang.Character.UnicodeScript;
import java.text.Normalizer;
import java.util.regex.Pattern;

/**
 * Writes names of locks, and other text that strangers chose, so that different ones look different and none plays tricks
 * on a terminal.
 */
public final class Names {

    private static final Pattern SAFE_IN_SHELL = Pattern.compile("[A-Za-z0-9_@%+=:,./-]+");

    private Names() {}

    /** As it is if it is plain, else in quotes with escapes as in JSON: {@code "job "}, {@code "a\u200bb"}. */
    public static String inTable(String name) {
        return isPlain(name) ? name : escaped(name);
    }

    /** In quotes in any case: {@code 'job'}. */
    public static String inText(String name) {
        return isPlain(name) ? "'" + name + "'" : escaped(name);
    }

    /** As one word of a command line for bash, zsh and their like. */
    public static String inShell(String name) {
        if (SAFE_IN_SHELL.matcher(name).matches()) {
            return name;
        }
        if (name.codePoints().allMatch(Names::isVisible)) {
            return "'" + name.replace("'", "'\\''") + "'";
        }
        StringBuilder word = new StringBuilder("$'");
        name.codePoints().forEach(c -> {
            if (c == '\'' || c == '\\') {
                word.append('\\').appendCodePoint(c);
            } else if (c == '\n') {
                word.append("\\n");
            } else if (isVisible(c)) {
                word.appendCodePoint(c);
            } else {
                word.append(String.format(c > 0xffff ? "\\U%08x" : "\\u%04x", c));
            }
        });
        return word.append('\'').toString();
    }

    /** A whole message: what could not be seen in it, or would break its line, is spelled out. */
    public static String visible(String text) {
        StringBuilder seen = new StringBuilder();
        text.codePoints().forEach(c -> append(seen, c, isVisible(c)));
        return seen.toString();
    }

    /** How many columns of a terminal it takes. */
    public static int width(String text) {
        return text.codePoints().map(c -> isMark(c) ? 0 : isWide(c) ? 2 : 1).sum();
    }

    private static boolean isPlain(String name) {
        return !name.isEmpty()
                && !isMark(name.codePointAt(0))
                && Normalizer.isNormalized(name, Normalizer.Form.NFC)
                && name.codePoints().allMatch(c -> isVisible(c) && " '\"\\".indexOf(c) < 0);
    }

    private static String escaped(String name) {
        // In another spelling of an accented letter the accent is spelled out, else it looks like the usual one.
        boolean showMarks = Normalizer.isNormalized(name, Normalizer.Form.NFC);
        StringBuilder text = new StringBuilder("\"");
        name.codePoints().forEach(c -> {
            if (c == '"' || c == '\\') {
                text.append('\\').appendCodePoint(c);
            } else {
                append(text, c, isVisible(c) && !(isMark(c) && (text.length() == 1 || !showMarks)));
            }
        });
        return text.append('"').toString();
    }

    private static void append(StringBuilder text, int c, boolean asItIs) {
        if (asItIs) {
            text.appendCodePoint(c);
        } else {
            for (char unit : Character.toChars(c)) {
                text.append(String.format("\\u%04x", (int) unit));
            }
        }
    }

    private static boolean isVisible(int c) {
        return switch (Character.getType(c)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.PRIVATE_USE,
                    Character.UNASSIGNED,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> false;
            case Character.SPACE_SEPARATOR -> c == ' ';
            default -> !isBlank(c);
        };
    }

    /** Letters, symbols and marks that show nothing: fillers, the empty Braille cell, variation selectors. */
    private static boolean isBlank(int c) {
        return c == 0x115f
                || c == 0x1160
                || c == 0x3164
                || c == 0xffa0
                || c == 0x2800
                || c == 0x034f
                || (c >= 0x17b4 && c <= 0x17b5)
                || (c >= 0x180b && c <= 0x180f)
                || (c >= 0xfe00 && c <= 0xfe0f)
                || (c >= 0xe0100 && c <= 0xe01ef);
    }

    private static boolean isMark(int c) {
        int type = Character.getType(c);
        return type == Character.NON_SPACING_MARK
                || type == Character.ENCLOSING_MARK
                || type == Character.COMBINING_SPACING_MARK;
    }

    private static boolean isWide(int c) {
        if (c > 0xffff) {
            return c >= 0x1f300 && c <= 0x1faff || c >= 0x20000;
        }
        UnicodeScript script = UnicodeScript.of(c);
        return script == UnicodeScript.HAN
                || script == UnicodeScript.HIRAGANA
                || script == UnicodeScript.KATAKANA
                || script == UnicodeScript.HANGUL
                || (c >= 0x3000 && c <= 0x303e)
                || (c >= 0xff01 && c <= 0xff60);
    }
}
