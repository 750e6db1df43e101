package io.holdfast.torture.report;

/** How a promise stands after a run. */
public enum Standing {
    KEPT("kept"),
    /** Broken, as the store's page says it can be. */
    DOCUMENTED_LIMIT("documented limit"),
    BROKEN("BROKEN"),
    /** It looks broken, and the machine was too busy to tell. */
    NOT_JUDGED("not judged"),
    NOT_TESTED("not tested");

    private final String words;

    Standing(String words) {
        this.words = words;
    }

    public String words() {
        return words;
    }
}
