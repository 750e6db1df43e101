# Ends what a killed holdfast left behind. $1 is the marker in the environment of its processes; see Guard.java.
trap '' HUP INT QUIT TERM TSTP
if setpriv --pdeathsig KILL true </dev/null; then echo kernel; else echo guard; fi
command=
while read -r word; do
    [ "$word" = done ] && exit 0
    command=$word
done
[ -n "$command" ] && kill -KILL "$command"
rounds=0
while [ $rounds -lt 100 ]; do
    found=
    for environment in $(grep -lF "$1" /proc/[0-9]*/environ); do
        process=${environment#/proc/}
        kill -KILL "${process%/environ}" && found=yes
    done
    [ -z "$found" ] && exit 0
    rounds=$((rounds + 1))
done
