package io.holdfast.bench.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.DoubleFunction;
import java.util.function.DoubleUnaryOperator;

/**
 * Lines over two axes, as SVG that fits a light and a dark page. Built with {@code with…}-style calls; not thread-safe.
 */
public final class Chart {

    private static final int WIDTH = 400;
    private static final int HEIGHT = 300;
    private static final int LEFT = 72;
    private static final int RIGHT = 20;
    private static final int TOP = 14;
    private static final int BOTTOM = 44;
    private static final int LEGEND_ROW = 17;
    private static final double LETTER = 6.8;

    private final List<Line> lines = new ArrayList<>();
    private final String xTitle;
    private final String yTitle;
    private DoubleUnaryOperator xScale = x -> x;
    private DoubleUnaryOperator yScale = y -> y;
    private List<Double> xTicks = List.of();
    private DoubleFunction<String> xText = Text::tick;
    private DoubleFunction<String> yText = Text::tick;
    private boolean logarithmicY;
    private boolean dots;

    private record Line(String name, String colour, List<double[]> points) {}

    public Chart(String xTitle, String yTitle) {
        this.xTitle = xTitle;
        this.yTitle = yTitle;
    }

    public Chart line(String name, String colour, List<double[]> points) {
        if (!points.isEmpty()) {
            lines.add(new Line(name, colour, points));
        }
        return this;
    }

    public Chart x(DoubleUnaryOperator scale, List<Double> ticks, DoubleFunction<String> text) {
        xScale = scale;
        xTicks = ticks;
        xText = text;
        return this;
    }

    public Chart logarithmicY(DoubleFunction<String> text) {
        logarithmicY = true;
        yScale = Math::log10;
        yText = text;
        return this;
    }

    public Chart dots() {
        dots = true;
        return this;
    }

    public boolean isEmpty() {
        return lines.isEmpty();
    }

    /** An {@code <svg>} element. */
    public String svg() {
        Range x = range(0, xScale, xTicks);
        Range y = yRange();
        StringBuilder svg = new StringBuilder(String.format(
                Locale.ROOT,
                "<svg viewBox=\"0 0 %d %d\" xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" font-family=\"system-ui,"
                        + "sans-serif\" font-size=\"12\" fill=\"currentColor\">%n",
                WIDTH,
                HEIGHT + LEGEND_ROW * legend().size()));
        drawYAxis(svg, y);
        drawXAxis(svg, x);
        for (Line line : lines) {
            drawLine(svg, line, x, y);
        }
        drawLegend(svg);
        return svg.append("</svg>\n").toString();
    }

    private record Range(double from, double to) {
        double share(double value) {
            return to == from ? 0.5 : (value - from) / (to - from);
        }
    }

    private Range range(int coordinate, DoubleUnaryOperator scale, List<Double> ticks) {
        double least = Double.POSITIVE_INFINITY;
        double most = Double.NEGATIVE_INFINITY;
        for (Line line : lines) {
            for (double[] point : line.points) {
                double value = scale.applyAsDouble(point[coordinate]);
                least = Math.min(least, value);
                most = Math.max(most, value);
            }
        }
        for (double tick : ticks) {
            least = Math.min(least, scale.applyAsDouble(tick));
            most = Math.max(most, scale.applyAsDouble(tick));
        }
        return new Range(least, most);
    }

    private Range yRange() {
        Range values = range(1, logarithmicY ? y -> Math.log10(Math.max(y, 1e-3)) : yScale, List.of());
        return logarithmicY
                ? new Range(Math.floor(values.from), Math.max(Math.floor(values.from) + 1, Math.ceil(values.to)))
                : new Range(0, nice(values.to));
    }

    /** The next round number. */
    static double nice(double value) {
        if (value <= 0) {
            return 1;
        }
        double unit = Math.pow(10, Math.floor(Math.log10(value)));
        for (double step : new double[] {1, 1.5, 2, 3, 4, 5, 6, 8, 10}) {
            if (value <= step * unit) {
                return step * unit;
            }
        }
        return 10 * unit;
    }

    private void drawYAxis(StringBuilder svg, Range y) {
        int steps = logarithmicY ? (int) Math.round(y.to - y.from) : 4;
        for (int i = 0; i <= steps; i++) {
            double scaled = y.from + (y.to - y.from) * i / steps;
            double height = yOf(y, scaled);
            append(
                    svg,
                    "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"currentColor\" opacity=\".13\"/>%n",
                    LEFT,
                    WIDTH - RIGHT,
                    height,
                    height);
            String text = yText.apply(logarithmicY ? Math.pow(10, scaled) : scaled);
            append(
                    svg,
                    "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\" opacity=\".75\">%s</text>%n",
                    LEFT - 7,
                    height + 4,
                    Text.escaped(text));
        }
        append(
                svg,
                "<text transform=\"translate(13 %d) rotate(-90)\" text-anchor=\"middle\" opacity=\".75\">%s</text>%n",
                (TOP + HEIGHT - BOTTOM) / 2,
                Text.escaped(yTitle));
    }

    private void drawXAxis(StringBuilder svg, Range x) {
        for (double tick : xTicks) {
            double at = xOf(x, xScale.applyAsDouble(tick));
            append(
                    svg,
                    "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"currentColor\" opacity=\".13\"/>%n",
                    at,
                    at,
                    TOP,
                    HEIGHT - BOTTOM);
            append(
                    svg,
                    "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\" opacity=\".75\">%s</text>%n",
                    at,
                    HEIGHT - BOTTOM + 15,
                    Text.escaped(xText.apply(tick)));
        }
        append(
                svg,
                "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" opacity=\".75\">%s</text>%n",
                (LEFT + WIDTH - RIGHT) / 2,
                HEIGHT - BOTTOM + 31,
                Text.escaped(xTitle));
    }

    private void drawLine(StringBuilder svg, Line line, Range x, Range y) {
        StringBuilder path = new StringBuilder();
        StringBuilder marks = new StringBuilder();
        for (double[] point : line.points) {
            double atX = xOf(x, xScale.applyAsDouble(point[0]));
            double atY = yOf(y, yScale.applyAsDouble(logarithmicY ? Math.max(point[1], 1e-3) : point[1]));
            path.append(String.format(Locale.ROOT, "%s%.1f %.1f", path.isEmpty() ? "M" : "L", atX, atY));
            append(
                    marks,
                    "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.2\" fill=\"%s\"><title>%s: %s</title></circle>%n",
                    atX,
                    atY,
                    line.colour,
                    Text.escaped(line.name),
                    Text.escaped(yText.apply(point[1])));
        }
        append(
                svg,
                "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2.2\" stroke-linejoin=\"round\"><title>%s"
                        + "</title></path>%n",
                path,
                line.colour,
                Text.escaped(line.name));
        if (dots || line.points.size() == 1) {
            svg.append(marks);
        }
    }

    private void drawLegend(StringBuilder svg) {
        int y = HEIGHT + 2;
        for (List<Line> row : legend()) {
            double at = 10;
            for (Line line : row) {
                append(
                        svg,
                        "<rect x=\"%.1f\" y=\"%d\" width=\"12\" height=\"4\" rx=\"2\" fill=\"%s\"/><text x=\"%.1f\" y=\"%d\">%s"
                                + "</text>%n",
                        at,
                        y,
                        line.colour,
                        at + 17,
                        y + 6,
                        Text.escaped(line.name));
                at += legendWidth(line);
            }
            y += LEGEND_ROW;
        }
    }

    /** As many names in a row as there is room for. */
    private List<List<Line>> legend() {
        List<List<Line>> rows = new ArrayList<>();
        double room = 0;
        for (Line line : lines) {
            double width = legendWidth(line);
            if (rows.isEmpty() || room < width) {
                rows.add(new ArrayList<>());
                room = WIDTH - 10;
            }
            rows.get(rows.size() - 1).add(line);
            room -= width;
        }
        return rows;
    }

    private static double legendWidth(Line line) {
        return 34 + line.name.length() * LETTER;
    }

    private static double xOf(Range x, double scaled) {
        return LEFT + x.share(scaled) * (WIDTH - LEFT - RIGHT);
    }

    private static double yOf(Range y, double scaled) {
        return HEIGHT - BOTTOM - y.share(scaled) * (HEIGHT - TOP - BOTTOM);
    }

    private static void append(StringBuilder svg, String format, Object... arguments) {
        svg.append(String.format(Locale.ROOT, format, arguments));
    }
}
