package io.holdfast.cli;

import io.holdfast.cli.console.FailureText;
import io.holdfast.cli.console.Names;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Says what is wrong with a command line, and what was probably meant. */
final class WrongUsage {

    private final Main.Invocation invocation;

    WrongUsage(Main.Invocation invocation) {
        this.invocation = invocation;
    }

    String explain(ParameterException failure) {
        CommandSpec command = failure.getCommandLine().getCommandSpec();
        String see = " See '" + command.qualifiedName() + " --help'.";
        if (failure instanceof UnmatchedArgumentException unmatched) {
            String first = unmatched.getUnmatched().get(0);
            Optional<String> meant =
                    command.name().equals("run") && !first.startsWith("-") ? withDashes(command) : Optional.empty();
            return meant.map(line -> "two dashes must stand before the command to run; did you mean: " + line)
                    .orElseGet(() -> unmatched(first, command) + see);
        }
        if (failure instanceof MissingParameterException missing) {
            List<String> unmatched = failure.getCommandLine().getUnmatchedArguments();
            if (!unmatched.isEmpty()) {
                return unmatched(unmatched.get(0), command) + see;
            }
            return missing.getMissing().stream().map(WrongUsage::label).collect(Collectors.joining(" and "))
                    + " is missing." + see;
        }
        return FailureText.sentence(inPlainWords(failure.getMessage())) + see;
    }

    private static String label(ArgSpec argument) {
        return argument.isOption() ? "the value of " + ((OptionSpec) argument).longestName() : argument.paramLabel();
    }

    /** Picocli speaks of Java's types and counts from 0. */
    private static String inPlainWords(String message) {
        return message.replaceFirst("^Invalid value for option '([^']*)': ", "$1: ")
                .replaceFirst("^Invalid value for positional parameter at index \\d+ \\(([^)]*)\\): ", "$1: ")
                .replaceFirst("is not an? (int|long)$", "is not a whole number")
                .replaceFirst("is not a double$", "is not a number");
    }

    private static String unmatched(String argument, CommandSpec command) {
        String word = Names.inText(argument);
        if (argument.startsWith("-")) {
            if (isOfACommand(argument, command)) {
                return word + " belongs behind the command, as in: holdfast COMMAND " + argument + ".";
            }
            return "there is no option " + word + " here"
                    + Suggestions.nearest(argument, command.optionsMap().keySet())
                            .map(option -> "; did you mean " + option + "?")
                            .orElse(".");
        }
        if (command.parent() == null) {
            var known = command.subcommands().keySet();
            return "there is no command " + word
                    + Suggestions.nearest(argument, known)
                            .map(name -> "; did you mean holdfast " + name + "?")
                            .orElse(", only " + String.join(", ", known) + ".");
        }
        return word + " is one argument too many; a name with spaces needs quotes.";
    }

    private static boolean isOfACommand(String option, CommandSpec command) {
        return command.subcommands().values().stream()
                .anyMatch(one -> one.getCommandSpec().optionsMap().containsKey(option));
    }

    /** The same command line with the dashes that were left out: before what follows the name of the lock. */
    private Optional<String> withDashes(CommandSpec run) {
        List<String> own = invocation.own();
        if (!invocation.command().isEmpty()) {
            return Optional.empty();
        }
        boolean named = false;
        for (int i = 1; i < own.size(); i++) {
            String argument = own.get(i);
            if (argument.startsWith("-")) {
                OptionSpec option = run.findOption(argument);
                i += option != null && option.arity().max() > 0 ? 1 : 0;
            } else if (!named) {
                named = true;
            } else {
                List<String> words = new ArrayList<>(own.subList(0, i));
                words.add("--");
                words.addAll(own.subList(i, own.size()));
                return Optional.of(
                        words.stream().map(Names::inShell).collect(Collectors.joining(" ", "holdfast ", "")));
            }
        }
        return Optional.empty();
    }
}
