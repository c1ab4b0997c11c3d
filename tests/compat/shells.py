"""Shells."""
from program import Program

SHELL_SCRIPT = """
total=0
text=
for i in $(seq 1 400); do
  total=$((total + i))
  text="$text$i,"
done
echo "$total ${#text}"
(cd / && echo "in a subshell: $PWD")
printf '%s\\n' c a b | sort | while read -r line; do echo "line $line"; done
f() { local x=$1; [ "$x" -le 0 ] || { f $((x - 1)); echo "$x"; }; }
f 20 | tail -n 1
cat <<END
here: $total
END
echo to a file >written
trap 'echo trapped; exit 7' EXIT
ls /nonexistent || exit 3
"""

PROGRAMS = [
    Program("bash", ("bash",), ["bash", "-c", SHELL_SCRIPT], light=True, jemalloc=True, status=7),
    Program("dash", ("dash",), ["dash", "-c", SHELL_SCRIPT], light=True, status=7),
    Program("zsh", ("zsh",), ["zsh", "-f", "-c", SHELL_SCRIPT], jemalloc=True, status=7),
    Program("fish", ("fish",), ["fish", "--no-config", "-c",
                                "for i in (seq 300); set -a xs (math $i x 2); end; count $xs;"
                                "string join , $xs[1..20] | string upper; exit 4"],
            setup="mkdir home", ignored_files=("home",), status=4),
]
