package io.holdfast.cli;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/** Finds the word that was meant by a mistyped one. */
final class Suggestions {

    private Suggestions() {}

    /** The most similar one, unless more than half of the word would be wrong. */
    static Optional<String> nearest(String typed, Collection<String> known) {
        return known.stream()
                .filter(word -> distance(typed, word) <= Math.max(1, typed.length() / 2))
                .min(Comparator.<String>comparingInt(word -> distance(typed, word))
                        .thenComparing(word -> word));
    }

    /** How many letters to add, drop, change or swap with their neighbour. */
    private static int distance(String a, String b) {
        int[][] cost = new int[a.length() + 1][b.length() + 1];
        for (int i = 0; i <= a.length(); i++) {
            for (int j = 0; j <= b.length(); j++) {
                if (i == 0 || j == 0) {
                    cost[i][j] = i + j;
                    continue;
                }
                int change = a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1;
                cost[i][j] = Math.min(Math.min(cost[i - 1][j], cost[i][j - 1]) + 1, cost[i - 1][j - 1] + change);
                if (i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1)) {
                    cost[i][j] = Math.min(cost[i][j], cost[i - 2][j - 2] + 1);
                }
            }
        }
        return cost[a.length()][b.length()];
    }
}
