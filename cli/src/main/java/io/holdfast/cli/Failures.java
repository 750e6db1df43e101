package io.holdfast.cli;

import io.holdfast.LeaseLostException;
import io.holdfast.LockException;
import io.holdfast.UnsupportedLockException;
import io.holdfast.cli.console.FailedException;
import io.holdfast.cli.console.Failure;
import io.holdfast.cli.console.FailureText;
import io.holdfast.cli.console.Names;
import io.holdfast.cli.console.Output;
import io.holdfast.cli.console.StoreCommand;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/** Turns whatever goes wrong into one line for people and an exit code for scripts. */
final class Failures implements IExecutionExceptionHandler, IParameterExceptionHandler {

    private final WrongUsage wrongUsage;
    private final Output output;

    Failures(Main.Invocation invocation, Output output) {
        this.wrongUsage = new WrongUsage(invocation);
        this.output = output;
    }

    @Override
    public int handleParseException(ParameterException failure, String[] arguments) {
        return end(Failure.USAGE, wrongUsage.explain(failure));
    }

    @Override
    public int handleExecutionException(Exception failure, CommandLine commandLine, ParseResult parsed) {
        if (failure instanceof FailedException known) {
            return end(known.failure(), known.getMessage());
        }
        if (failure instanceof UnsupportedLockException unsupported) {
            return end(
                    Failure.USAGE,
                    FailureText.sentence(withNameInQuotes(unsupported)).replace("minHold", "--hold-at-least"));
        }
        if (failure instanceof IllegalArgumentException) {
            return end(Failure.USAGE, FailureText.sentence(failure.getMessage()));
        }
        if (failure instanceof LeaseLostException lost) {
            return end(Failure.LEASE_LOST, withNameInQuotes(lost));
        }
        if (failure instanceof LockException trouble) {
            StoreCommand command =
                    commandLine.getCommand() instanceof StoreCommand asked ? asked : () -> "use the store";
            String what = "cannot " + command.attempt() + ": " + FailureText.sentence(FailureText.reason(trouble));
            // A store that misses its tables shows how to create them.
            List<String> lines =
                    (what + " " + command.consequence()).strip().lines().toList();
            output.fail(Failure.STORE_UNREACHABLE, lines, Failure.STORE_UNREACHABLE.exitCode);
            return Failure.STORE_UNREACHABLE.exitCode;
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

    /** What the innermost cause says, unless it is told already. */
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

    private static String withNameInQuotes(LockException failure) {
        String name = failure.lockName();
        return failure.getMessage().replace("'" + name + "'", Names.inText(name));
    }
}
