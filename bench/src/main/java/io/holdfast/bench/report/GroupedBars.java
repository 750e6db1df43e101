package io.holdfast.bench.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.DoubleFunction;
import java.util.stream.DoubleStream;

/**
 * Horizontal bars in groups over a logarithmic axis, with a title and a legend, as SVG that fits a light and a dark page and
 * is narrow enough to be read on a telephone. Not thread-safe.
 */
public final class GroupedBars {

    private static final int WIDTH = 430;
    /** On a page that has room. */
    private static final int SHOWN_WIDTH = 600;

    private static final int LEFT = 12;
    private static final int RIGHT = 150;
    private static final int LINE = 17;
    private static final int BAR = 16;
    private static final int GAP = 8;

    private final String title;
    private final String axis;
    private final DoubleFunction<String> text;
    private final Map<String, String> legend = new LinkedHashMap<>();
    private final Map<String, List<Bar>> groups = new LinkedHashMap<>();

    private record Bar(double value, String colour, Optional<String> note) {}

    /**
     * @param axis what the lengths of bars mean
     * @param text how a value is written
     */
    public GroupedBars(String title, String axis, DoubleFunction<String> text) {
        this.title = title;
        this.axis = axis;
        this.text = text;
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

    public boolean isEmpty() {
        return groups.isEmpty();
    }

    public String svg() {
        double from = Math.floor(powers().min().orElse(0));
        double to = Math.max(from + 1, Math.ceil(powers().max().orElse(1)));
        int top = 34 + LINE * legend.size() + GAP;
        int bottom = top
                + groups.values().stream()
                        .mapToInt(bars -> LINE + bars.size() * BAR + GAP)
                        .sum();
        int height = bottom + 40;
        StringBuilder svg = new StringBuilder();
        append(
                svg,
                "<svg viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" xmlns=\"http://www.w3.org/2000/svg\" role=\"img\""
                        + " font-family=\"system-ui,sans-serif\" font-size=\"12\" fill=\"currentColor\">%n",
                WIDTH,
                height,
                SHOWN_WIDTH,
                height * SHOWN_WIDTH / WIDTH);
        append(
                svg,
                "<text x=\"%d\" y=\"20\" font-size=\"14\" font-weight=\"600\">%s</text>%n",
                LEFT,
                Text.escaped(title));
        drawLegend(svg);
        drawAxis(svg, top, bottom, from, to);
        int y = top;
        for (Map.Entry<String, List<Bar>> group : groups.entrySet()) {
            y = drawGroup(svg, group.getKey(), group.getValue(), y, from, to) + GAP;
        }
        return svg.append("</svg>\n").toString();
    }

    private DoubleStream powers() {
        return groups.values().stream().flatMap(List::stream).mapToDouble(bar -> Math.log10(bar.value * 0.999));
    }

    private void drawLegend(StringBuilder svg) {
        int y = 34;
        for (Map.Entry<String, String> entry : legend.entrySet()) {
            append(
                    svg,
                    "<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"12\" rx=\"2.5\" fill=\"%s\"/><text x=\"%d\""
                            + " y=\"%d\">%s</text>%n",
                    LEFT,
                    y,
                    entry.getKey(),
                    LEFT + 18,
                    y + 10,
                    Text.escaped(entry.getValue()));
            y += LINE;
        }
    }

    private void drawAxis(StringBuilder svg, int top, int bottom, double from, double to) {
        for (int power = (int) from; power <= to; power++) {
            double x = xOf(Math.pow(10, power), from, to);
            append(
                    svg,
                    "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"currentColor\" opacity=\".15\"/>%n",
                    x,
                    x,
                    top,
                    bottom);
            append(
                    svg,
                    "<text x=\"%.1f\" y=\"%d\" text-anchor=\"%s\" opacity=\".75\">%s</text>%n",
                    x,
                    bottom + 14,
                    power == (int) from ? "start" : "middle",
                    Text.escaped(
                            text.apply(Math.pow(10, power)).replace(".00", "").replace(".0", "")));
        }
        append(svg, "<text x=\"%d\" y=\"%d\" opacity=\".75\">%s</text>%n", LEFT, bottom + 32, Text.escaped(axis));
    }

    private int drawGroup(StringBuilder svg, String name, List<Bar> bars, int top, double from, double to) {
        append(svg, "<text x=\"%d\" y=\"%d\" font-weight=\"600\">%s</text>%n", LEFT, top + 12, Text.escaped(name));
        int y = top + LINE;
        for (Bar bar : bars) {
            double end = xOf(bar.value, from, to);
            append(
                    svg,
                    "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" rx=\"2.5\" fill=\"%s\"/>%n",
                    LEFT,
                    y + 1,
                    Math.max(2, end - LEFT),
                    BAR - 3,
                    bar.colour);
            append(
                    svg,
                    "<text x=\"%.1f\" y=\"%d\">%s%s</text>%n",
                    end + 6,
                    y + 12,
                    Text.escaped(text.apply(bar.value)),
                    bar.note
                            .map(note -> " <tspan opacity=\".7\">" + Text.escaped(note) + "</tspan>")
                            .orElse(""));
            y += BAR;
        }
        return y;
    }

    private static double xOf(double value, double from, double to) {
        return LEFT + Math.max(0, (Math.log10(value) - from) / (to - from)) * (WIDTH - LEFT - RIGHT);
    }

    private static void append(StringBuilder svg, String format, Object... arguments) {
        svg.append(String.format(Locale.ROOT, format, arguments));
    }
}
