package io.holdfast.redis.script;

import java.util.List;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.args.Rawable;

/**
 * One call of a script on keys of one slot. Immutable.
 *
 * @param slot of the keys
 * @param lockName for messages; of several locks the first
 * @param optionalKeys how many of the keys, the last ones, the script can do without
 */
public record ScriptCall(
        Script script, int slot, String lockName, List<Rawable> keys, int optionalKeys, List<String> arguments) {

    /** The same without the keys that are not needed: a slot that is on its way to another server may have some here and some there. */
    ScriptCall withNeededKeysOnly() {
        return new ScriptCall(script, slot, lockName, keys.subList(0, keys.size() - optionalKeys), 0, arguments);
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
}
