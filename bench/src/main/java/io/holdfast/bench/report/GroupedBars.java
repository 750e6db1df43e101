package io.holdfast.bench.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Horizontal bars in groups over a logarithmic axis, with a title and a legend, as SVG that fits a light and a dark page. Not
 * thread-safe.
 */
public final class GroupedBars {

    private static final int WIDTH = 720;
    private static final int LEFT = 108;
    private static final int RIGHT = 190;
    private static final int TOP = 84;
    private static final int BAR = 17;
    private static final int GAP = 14;

    private final String title;
    private final String axis;
    private final double from;
    private final double to;
    private final Map<String, String> legend = new LinkedHashMap<>();
    private final Map<String, List<Bar>> groups = new LinkedHashMap<>();

    private record Bar(double value, String colour, Optional<String> note) {}

    /**
     * @param axis what the lengths of bars mean
     * @param from where the axis begins, a power of ten, and to where it goes
     */
    public GroupedBars(String title, String axis, double from, double to) {
        this.title = title;
        this.axis = axis;
        this.from = Math.log10(from);
        this.to = Math.log10(to);
    }

    public GroupedBars legend(String name, String colour) {
        legend.put(colour, name);
        return this;
    }

    /** @param note said beside the value */
    public GroupedBars bar(String group, double value, String colour, Optional<String> note) {
        groups.computeIfAbsent(group, unused -> new ArrayList<>()).add(new Bar(value, colour, note));
        return this;
    }

    public String svg() {
        int bottom = TOP
                + groups.values().stream()
                        .mapToInt(bars -> bars.size() * BAR + GAP)
                        .sum();
        StringBuilder svg = new StringBuilder();
        append(
                svg,
                "<svg viewBox=\"0 0 %d %d\" xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" font-family=\"system-ui,"
                        + "sans-serif\" font-size=\"12.5\" fill=\"currentColor\">%n",
                WIDTH,
                bottom + 40);
        append(svg, "<text x=\"10\" y=\"24\" font-size=\"16\" font-weight=\"600\">%s</text>%n", Text.escaped(title));
        drawLegend(svg);
        drawAxis(svg, bottom);
        int y = TOP;
        for (Map.Entry<String, List<Bar>> group : groups.entrySet()) {
            y = drawGroup(svg, group.getKey(), group.getValue(), y) + GAP;
        }
        return svg.append("</svg>\n").toString();
    }

    private void drawLegend(StringBuilder svg) {
        double at = 10;
        for (Map.Entry<String, String> entry : legend.entrySet()) {
            append(
                    svg,
                    "<rect x=\"%.1f\" y=\"42\" width=\"12\" height=\"12\" rx=\"2.5\" fill=\"%s\"/><text x=\"%.1f\""
                            + " y=\"52.5\">%s</text>%n",
                    at,
                    entry.getKey(),
                    at + 18,
                    Text.escaped(entry.getValue()));
            at += 38 + entry.getValue().length() * 6.4;
        }
    }

    private void drawAxis(StringBuilder svg, int bottom) {
        for (int power = (int) Math.round(from); power <= to; power++) {
            double x = xOf(Math.pow(10, power));
            append(
                    svg,
                    "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"currentColor\" opacity=\".15\"/>%n",
                    x,
                    x,
                    TOP - 8,
                    bottom);
            append(
                    svg,
                    "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\" opacity=\".75\">%s</text>%n",
                    x,
                    bottom + 14,
                    Text.number(Math.pow(10, power)).replace(".00", "").replace(".0", ""));
        }
        append(svg, "<text x=\"%d\" y=\"%d\" opacity=\".75\">%s</text>%n", LEFT, bottom + 32, Text.escaped(axis));
    }

    private int drawGroup(StringBuilder svg, String name, List<Bar> bars, int top) {
        append(
                svg,
                "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\" font-weight=\"600\">%s</text>%n",
                LEFT - 10,
                top + bars.size() * BAR / 2.0 + 4,
                Text.escaped(name));
        int y = top;
        for (Bar bar : bars) {
            append(
                    svg,
                    "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" rx=\"2.5\" fill=\"%s\"/>%n",
                    LEFT,
                    y + 1,
                    xOf(bar.value) - LEFT,
                    BAR - 3,
                    bar.colour);
            append(
                    svg,
                    "<text x=\"%.1f\" y=\"%d\">%s%s</text>%n",
                    xOf(bar.value) + 6,
                    y + 12,
                    Text.number(bar.value),
                    bar.note
                            .map(note -> " <tspan opacity=\".7\">" + Text.escaped(note) + "</tspan>")
                            .orElse(""));
            y += BAR;
        }
        return y;
    }

    private double xOf(double value) {
        return LEFT + Math.max(0, (Math.log10(value) - from) / (to - from)) * (WIDTH - LEFT - RIGHT);
    }

    private static void append(StringBuilder svg, String format, Object... arguments) {
        svg.append(String.format(Locale.ROOT, format, arguments));
    }
}
