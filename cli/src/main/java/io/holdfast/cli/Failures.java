package io.holdfast.cli;

import io.holdfast.LeaseLostException;
import io.holdfast.LockException;
import io.holdfast.UnsupportedLockException;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/** Turns whatever goes wrong into one line for people and an exit code for scripts. */
final class Failures implements IExecutionExceptionHandler, IParameterExceptionHandler {

    private final Output output;

    Failures(Output output) {
        this.output = output;
    }

    @Override
    public int handleParseException(ParameterException failure, String[] arguments) {
        String command = failure.getCommandLine().getCommandSpec().qualifiedName();
        return end(Failure.USAGE, sentence(failure.getMessage()) + " See '" + command + " --help'.");
    }

    @Override
    public int handleExecutionException(Exception failure, CommandLine commandLine, ParseResult parsed) {
        if (failure instanceof FailedException known) {
            return end(known.failure(), known.getMessage());
        }
        if (failure instanceof UnsupportedLockException || failure instanceof IllegalArgumentException) {
            return end(Failure.USAGE, sentence(failure.getMessage()));
        }
        if (failure instanceof LeaseLostException) {
            return end(Failure.LEASE_LOST, failure.getMessage());
        }
        if (failure instanceof LockException trouble) {
            return end(Failure.STORE_UNREACHABLE, withoutPlaceholder(trouble) + because(failure));
        }
        if (System.getenv("HOLDFAST_DEBUG") != null) {
            failure.printStackTrace(output.messages());
        }
        return end(
                Failure.INTERNAL,
                "internal error: " + failure + because(failure)
                        + ". Set HOLDFAST_DEBUG=1 to see where, and please report it.");
    }

    private int end(Failure failure, String message) {
        output.fail(failure, message, failure.exitCode);
        return failure.exitCode;
    }

    /** What the innermost cause says, unless the message says it already. */
    private static String because(Throwable failure) {
        String told = String.valueOf(failure.getMessage());
        String reason = "";
        for (Throwable cause = failure.getCause(); cause != null; cause = cause.getCause()) {
            if (cause.getMessage() != null) {
                reason = cause.getMessage().lines().findFirst().orElse("");
            }
        }
        return reason.isEmpty() || told.contains(reason) ? "" : " (" + reason + ")";
    }

    /** A request about many locks has no lock to name. */
    private static String withoutPlaceholder(LockException failure) {
        String name = failure.lockName();
        return name.isEmpty() || name.equals("*")
                ? failure.getMessage().replace(" of lock '" + name + "'", "").replace(" for lock '" + name + "'", "")
                : failure.getMessage();
    }

    private static String sentence(String text) {
        return text.endsWith(".") ? text : text + ".";
    }
}
