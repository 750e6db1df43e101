package io.holdfast.ui;

import java.awt.image.BufferedImage;
import java.awt.image.DataBuffer;
import java.awt.image.IndexColorModel;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import javax.imageio.ImageIO;

/** Makes pictures of pages small: they have few colours, of which the most frequent are kept. */
final class SmallPng {

    private static final int COLOURS = 64;

    private SmallPng() {}

    static byte[] of(byte[] png) throws IOException {
        BufferedImage image = ImageIO.read(new ByteArrayInputStream(png));
        int width = image.getWidth();
        int height = image.getHeight();
        Map<Integer, Integer> counts = new HashMap<>();
        int[] pixels = image.getRGB(0, 0, width, height, null, 0, width);
        for (int pixel : pixels) {
            counts.merge(pixel, 1, Integer::sum);
        }
        int[] palette = counts.entrySet().stream()
                .sorted(Map.Entry.<Integer, Integer>comparingByValue(Comparator.reverseOrder()))
                .limit(COLOURS)
                .mapToInt(Map.Entry::getKey)
                .toArray();
        BufferedImage small = new BufferedImage(
                width,
                height,
                BufferedImage.TYPE_BYTE_INDEXED,
                new IndexColorModel(8, palette.length, palette, 0, false, -1, DataBuffer.TYPE_BYTE));
        Map<Integer, Integer> nearest = new HashMap<>();
        for (int i = 0; i < pixels.length; i++) {
            int index = nearest.computeIfAbsent(pixels[i], pixel -> nearest(pixel, palette));
            small.getRaster().setSample(i % width, i / width, 0, index);
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ImageIO.write(small, "png", out);
        return out.toByteArray();
    }

    private static int nearest(int pixel, int[] palette) {
        int best = 0;
        long least = Long.MAX_VALUE;
        for (int i = 0; i < palette.length; i++) {
            long distance = 0;
            for (int shift = 0; shift < 24; shift += 8) {
                long difference = (pixel >> shift & 255) - (palette[i] >> shift & 255);
                distance += difference * difference;
            }
            if (distance < least) {
                least = distance;
                best = i;
            }
        }
        return best;
    }
}
