# Finds Java and starts the holdfast command: the part that the launcher of a source tree and the installed one share.
# To be sourced by a POSIX shell. Everything said here goes to standard error: standard output belongs to the command
# that is run.

fail() {
    echo "holdfast: $1" >&2
    exit "${2:-70}"
}

# Sets java, its real path, version and major.
find_java() {
    if [ -n "${JAVA_HOME:-}" ]; then
        java=$JAVA_HOME/bin/java
        [ -x "$java" ] || fail "JAVA_HOME is $JAVA_HOME, but there is no bin/java in it. Correct or unset it."
    else
        java=$(command -v java) ||
            fail "Java is missing. Install version 17 or later, as in: apt-get install openjdk-17-jre-headless"
    fi
    # Java says its version in a file, which is much faster to read than to start it.
    real=$(readlink -f "$java")
    version=
    if [ -r "${real%/bin/java}/release" ]; then
        while IFS= read -r line; do
            case $line in
                JAVA_VERSION=*) version=${line#JAVA_VERSION=\"} version=${version%\"} ;;
            esac
        done <"${real%/bin/java}/release"
    fi
    [ -n "$version" ] || version=$("$java" -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java\.version = //p')
    major=${version%%[!0-9]*}
    [ "${major:-0}" -ge 17 ] ||
        fail "$java has version ${version:-unknown}, but 17 or later is needed. Install it or set JAVA_HOME."
    # Not a word of the virtual machine's own beside the output of the command.
    flags="-Xlog:disable -XX:+DisplayVMOutputToStderr"
    if [ "$major" -ge 24 ]; then
        # Client libraries do what these versions warn of.
        flags="$flags --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow"
    fi
}

# make_archive JAR ARCHIVE: a dump of the classes a start needs makes the next one much faster. Losing it costs only time.
# Not made at the exit of a running command (ArchiveClassesAtExit): that leaves out classes compiled for old versions of
# Java, all of picocli.
make_archive() {
    classes=$2.classes.$$
    temporary=$2.$$
    (cd / && "$java" $flags $small -XX:DumpLoadedClassList="$classes" -cp "$1" io.holdfast.cli.Rehearsal &&
        "$java" -Xlog:disable -Xshare:dump -XX:+UseG1GC -XX:SharedClassListFile="$classes" \
            -XX:SharedArchiveFile="$temporary" -cp "$1") </dev/null >/dev/null 2>&1
    # An empty one says that it cannot be had, and spares the next start the try.
    if [ -f "$temporary" ]; then mv -f "$temporary" "$2"; else : >"$2"; fi
    rm -f "$classes" "$temporary"
}

# Quick to start rather than quick in the end.
small="-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xss512k -Xmx128m"

# start ARCHIVE CLASS-PATH ARGUMENT...: becomes the command.
start() {
    archive=$1
    class_path=$2
    shift 2
    case ${1:-} in
        # Measurements get a full-grown virtual machine.
        bench | torture) ;;
        # Ten thousand locks on several pages take their room.
        ui) flags="$flags -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xss512k -Xmx512m" ;;
        *) flags="$flags $small" ;;
    esac
    # In the C locale, that of many a cron, Java cannot read arguments that are not ASCII: all such names would be one
    # lock. The command itself gets the former value back.
    case ${LC_ALL:-${LC_CTYPE:-${LANG:-C}}} in
        C | POSIX)
            export HOLDFAST_FORMER_LC_ALL="${LC_ALL:-}"
            export LC_ALL=C.UTF-8
            ;;
    esac
    # An archive that does not fit, say because the jar was copied, is ignored; one that is missing is an error in Java 25.
    if [ -s "$archive" ]; then
        exec "$java" $flags -Xshare:auto -XX:SharedArchiveFile="$archive" -cp "$class_path" io.holdfast.cli.Main "$@"
    fi
    exec "$java" $flags -cp "$class_path" io.holdfast.cli.Main "$@"
}
