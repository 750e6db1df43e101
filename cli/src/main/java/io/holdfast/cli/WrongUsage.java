package io.holdfast.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
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
            Optional<String> meant = command.name().equals("run") ? withDashes(command) : Optional.empty();
            return meant.map(line -> "two dashes must stand before the command to run; did you mean: " + line)
                    .orElseGet(() -> unmatched(unmatched.getUnmatched().get(0), command) + see);
        }
        return Failures.sentence(failure.getMessage()) + see;
    }

    private static String unmatched(String argument, CommandSpec command) {
        String word = Names.inText(argument);
        if (argument.startsWith("-")) {
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
