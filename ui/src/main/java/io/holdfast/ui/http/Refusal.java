package io.holdfast.ui.http;

/** Why a request is not answered: the status, a word for programs and a sentence for people. */
public final class Refusal extends Exception {

    private static final long serialVersionUID = 1;

    private final int status;
    private final String word;

    public Refusal(int status, String word, String message) {
        super(message, null, false, false);
        this.status = status;
        this.word = word;
    }

    public int status() {
        return status;
    }

    public String word() {
        return word;
    }

    public static Refusal notFound() {
        return new Refusal(404, "not-found", "there is nothing under this address");
    }

    public static Refusal usage(String message) {
        return new Refusal(400, "usage", message);
    }
}
