package io.holdfast.cli.console;

/** A command that asks a store for something; says what has failed if the store cannot be asked. */
public interface StoreCommand {

    /** What it cannot do then, to follow "cannot". */
    String attempt();

    /** What that means to its user: a sentence, or nothing. */
    default String consequence() {
        return "";
    }
}
