package io.holdfast.redis.script;

import java.util.List;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;

/**
 * One call of a script on keys of one slot. Immutable.
 *
 * @param slot of the keys
 * @param lockName for messages; of several locks the first
 */
public record ScriptCall(Script script, int slot, String lockName, List<String> keys, List<String> arguments) {

    public static ScriptCall of(Script script, LockKeys keys, String... arguments) {
        return new ScriptCall(script, keys.slot(), keys.name(), keys.all(), List.of(arguments));
    }

    /** For a server that knows the script. */
    CommandArguments byHash() {
        return command(Command.EVALSHA, script.sha());
    }

    CommandArguments byText() {
        return command(Command.EVAL, script.text());
    }

    private CommandArguments command(Command command, byte[] which) {
        return new CommandArguments(command)
                .add(which)
                .add(keys.size())
                .addObjects(keys)
                .addObjects(arguments);
    }

    /** How much there is to send. */
    int size() {
        return keys.size() + arguments.size();
    }
}
