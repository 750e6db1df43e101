package io.holdfast.spring;

/** An annotation asks for something that cannot be: found when the application starts. */
public final class LockMisuseException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String method;
    private final String problem;
    private final String nextStep;

    /** Sentences without their full stops; the first begins with the method. */
    public LockMisuseException(String method, String problem, String nextStep) {
        super(method + " " + problem + ". " + nextStep + ".");
        this.method = method;
        this.problem = problem;
        this.nextStep = nextStep;
    }

    /** The annotated method. */
    public String method() {
        return method;
    }

    /** What is wrong with it. */
    public String problem() {
        return problem;
    }

    /** What to do. */
    public String nextStep() {
        return nextStep;
    }
}
