package io.holdfast.bench.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.DoubleFunction;

/** Horizontal bars, each of one or more parts, as SVG that fits a light and a dark page. Not thread-safe. */
public final class Bars {

    /** Beside the labels. */
    private static final int ROOM = 270;

    private static final int ROW = 22;
    private static final double LETTER = 6.9;
    private static final int RIGHT = 70;

    private final List<Bar> bars = new ArrayList<>();
    private final List<String> partNames;
    private final DoubleFunction<String> text;

    private record Bar(String label, List<Double> parts, List<String> colours) {
        double sum() {
            return parts.stream().mapToDouble(Double::doubleValue).sum();
        }
    }

    /** @param partNames for the legend; none if bars have one part */
    public Bars(List<String> partNames, DoubleFunction<String> text) {
        this.partNames = partNames;
        this.text = text;
    }

    public Bars bar(String label, List<Double> parts, List<String> colours) {
        bars.add(new Bar(label, parts, colours));
        return this;
    }

    public boolean isEmpty() {
        return bars.isEmpty();
    }

    public String svg() {
        int labelWidth = labelWidth();
        int legend = partNames.isEmpty() ? 0 : 24;
        int height = bars.size() * ROW + legend + 6;
        double most = bars.stream().mapToDouble(Bar::sum).max().orElse(1);
        StringBuilder svg = new StringBuilder(String.format(
                Locale.ROOT,
                "<svg viewBox=\"0 0 %d %d\" xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" font-family=\"system-ui,"
                        + "sans-serif\" font-size=\"12\" fill=\"currentColor\">%n",
                labelWidth + ROOM,
                height));
        int y = 4;
        for (Bar bar : bars) {
            drawBar(svg, bar, labelWidth, y, most);
            y += ROW;
        }
        double at = labelWidth;
        for (int i = 0; i < partNames.size() && !bars.isEmpty(); i++) {
            append(
                    svg,
                    "<rect x=\"%.1f\" y=\"%d\" width=\"12\" height=\"8\" rx=\"2\" fill=\"%s\"/><text x=\"%.1f\" y=\"%d\">%s"
                            + "</text>%n",
                    at,
                    y + 8,
                    bars.get(0).colours.get(i),
                    at + 17,
                    y + 16,
                    Text.escaped(partNames.get(i)));
            at += 40 + partNames.get(i).length() * 6.2;
        }
        return svg.append("</svg>\n").toString();
    }

    private void drawBar(StringBuilder svg, Bar bar, int labelWidth, int y, double most) {
        append(
                svg,
                "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>%n",
                labelWidth - 8,
                y + 13,
                Text.escaped(bar.label));
        double x = labelWidth;
        for (int i = 0; i < bar.parts.size(); i++) {
            double width = widthOf(bar.parts.get(i), most);
            append(
                    svg,
                    "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"15\" rx=\"2.5\" fill=\"%s\"/>%n",
                    x,
                    y + 1,
                    width,
                    bar.colours.get(i));
            x += width;
        }
        append(
                svg,
                "<text x=\"%.1f\" y=\"%d\" opacity=\".8\">%s</text>%n",
                x + 6,
                y + 13,
                Text.escaped(text.apply(bar.sum())));
    }

    private int labelWidth() {
        return 14
                + (int) Math.ceil(LETTER
                        * bars.stream()
                                .mapToInt(bar -> bar.label.length())
                                .max()
                                .orElse(0));
    }

    private static double widthOf(double value, double most) {
        return most == 0 ? 0 : value / most * (ROOM - RIGHT);
    }

    private static void append(StringBuilder svg, String format, Object... arguments) {
        svg.append(String.format(Locale.ROOT, format, arguments));
    }
}
