#!/bin/sh
# lab.sh - runs the lab's programs. sh tests/lab.sh BUILD
#
# Runs each program of the lab with the least possible work and checks the form
# of its files, not its measurements. If gnuplot is installed, the report is
# made, too. Prints `ok - NAME` or `not ok - NAME # DETAILS`. Programs that need
# MPI are skipped in a build without it.
set -u
build=$(cd "$1" && pwd) || exit 2
here=$(cd "$(dirname "$0")/.." && pwd) || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
failed=0
ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}   # of MPI's own
export ASAN_OPTIONS

tell() {
    if [ -z "$2" ]; then
        echo "ok - $1"
    else
        echo "not ok - $1 # $2"
        failed=1
    fi
}

# Prints the faults in the files of one figure. Commas in quotes separate
# nothing.
figure() {
    csv=$work/lab/$1/$2.csv
    [ -f "$here/lab/$1/$2.gp" ] || echo "$2 has no plot;"
    [ -s "$csv" ] || { echo "$2 has no data;"; return; }
    awk -F , '{ gsub(/"[^"]*"/, "") } NR == 1 { n = NF } NF != n { bad = 1 }
              END { exit bad || NR < 2 }' "$csv" ||
        echo "$2.csv is not a table;"
    awk -F '\t' 'NF != 3 || $1 !~ /^(holds|differs|does not hold)$/ { bad = 1 }
                 END { exit bad || NR < 1 }' "$work/lab/$1/$2.claims" ||
        echo "$2 has no claims, or bad ones;"
}

# start PAPER: runs its program, under MPI if it needs that.
start() {
    ranks=$here/lab/$1/ranks
    if [ -f "$ranks" ]; then
        "$here/tools/make/ranks" "$(cat "$ranks")" \
            "$build/lab_$1" "$work/lab/$1" tiny </dev/null 2>&1
    else
        "$build/lab_$1" "$work/lab/$1" tiny 2>&1
    fi
}

# again PAPER: a stand-in that repeats an earlier run's output for the report;
# programs under MPI run again.
again() {
    if [ -f "$here/lab/$1/ranks" ]; then
        ln -s "$build/lab_$1" "$work/"
        return
    fi
    cp -R "$work/lab/$1" "$work/made-$1"
    printf '#!/bin/sh\ncp "%s"/* "$1"\n' "$work/made-$1" >"$work/lab_$1"
    chmod +x "$work/lab_$1"
}

while read -r paper; do
    if [ -f "$here/lab/$paper/ranks" ] && [ ! -x "$build/lab_$paper" ]; then
        echo "ok - lab $paper # skip there is no MPI"
        continue
    fi
    mkdir -p "$work/lab/$paper"
    wrong=$(start "$paper") || wrong="$wrong the program ended with $?"
    if [ -z "$wrong" ]; then
        figures=$(sed -n 's/^@figure //p' "$here/lab/$paper/essay.html")
        wrong=$(for name in $figures; do figure "$paper" "$name"; done)
        [ -n "$figures" ] || wrong="its essay has no figure"
    fi
    tell "lab $paper" "$(printf '%s' "$wrong" | tr '\n' ' ' | head -c 300)"
    again "$paper"
done <"$here/lab/papers"

# Sums hold at any amount of work.
if [ -x "$build/lab_pournaras" ]; then
    cd "$work/lab/pournaras" || exit 2
    for name in rounds sent; do
        tell "lab pournaras: what is claimed of $name" \
            "$(grep -v '^holds' $name.claims | tr '\n' ' ')"
    done
    cd "$work" || exit 2
fi

tell 'lab huesser: the indexes of signed hashes are even' \
    "$(grep -v '^holds' "$work/lab/huesser/index.claims" | tr '\n' ' ')"
# The paper inserts English words and queries German ones.
for words in 'in: american-english' 'asked: ngerman'; do
    [ -r "/usr/share/dict/${words#*: }" ] || continue
    tell "lab huesser: $words" "$(grep -qE \
        "${words%:*}: [^;]*/${words#*: }" "$work/lab/huesser/words.claims" ||
        echo 'the lists are not as in the paper')"
done

if command -v gnuplot >/dev/null; then
    wrong=$("$here/tools/make/lab" "$work" tiny 2>&1 >/dev/null |
            grep -v '^lab: [a-z]*$')
    report=$work/lab/report.html
    [ "$(grep -c '^<svg' "$report")" = \
      "$(cd "$work/lab" && for paper in */; do
             cat "$here/lab/$paper/essay.html"
         done | grep -c '^@figure')" ] ||
        wrong="$wrong some plots are not in the report"
    [ "$(grep -c '^<svg' "$report")" = "$(grep -c ' download=' "$report")" ] ||
        wrong="$wrong some figures are without their data"
    for scheme in light dark; do
        grep -q "content=.*$scheme" "$report" ||
            wrong="$wrong it is not for a $scheme screen"
    done
    grep -lE "font '[^']*,([0-9]|1[01])'" "$here"/lab/*/*.gp >&2 &&
        wrong="$wrong letters below 12 are too small on a telephone"
    grep -qE 'src="?http|<link' "$report" && wrong="$wrong it needs the net"
    grep -oE 'href="?http[^">]*' "$report" |
        grep -vE '"https://(doi\.org/10\.|arxiv\.org/abs/)[^ ]+$' >&2 &&
        wrong="$wrong some links are none of papers"
    # Each page has its paper's figures, and the section of the paper.
    for paper in $(cat "$here/lab/papers"); do
        [ -d "$work/lab/$paper" ] || continue
        essay=$here/lab/$paper/essay.html
        sed -n 2p "$essay" | grep -q '^@paper [^ ]* [^ ]' ||
            wrong="$wrong $paper does not say which paper it is"
        figures=$(grep -c '^@figure' "$essay")
        for address in $(sed -n 's/^@paper \([^- ][^ ]*\) .*/\1/p' "$essay"); do
            [ "$(awk -v from="<h2 id=\"$paper\">" '/^<h2 id=/ { on = index($0, from) }
                     on' "$report" |
                 grep -cF "href=\"https://$address\"")" -eq $((figures + 1)) ] ||
                wrong="$wrong $paper is without its link"
        done
    done
    tell "the report of the lab" "$(printf '%s' "$wrong" | head -c 300)"

    # Usage errors: one line, status 2, and the report is unchanged.
    cp "$report" "$work/before"
    mistake() {
        line=$("$here/tools/make/lab" "$@" 2>&1)
        code=$?
        [ $code -eq 2 ] || echo "$*: ended with $code;"
        [ "$(printf '%s\n' "$line" | wc -l)" -eq 1 ] || echo "$*: $line;"
    }
    wrong=$(mistake; mistake "$work/nowhere"; mistake "$work" slowly
            mistake "$work" tiny nobody; mistake "$work" tiny 'lec.*')
    rm "$work/lab_kiss"
    wrong=$wrong$(mistake "$work" tiny kiss)
    cmp -s "$report" "$work/before" || wrong="$wrong the report is changed"
    tell "mistakes with the lab" "$(printf '%s' "$wrong" | head -c 300)"

    # A program that fails leaves the old report.
    # shellcheck disable=SC2016  # for the program to expand
    printf '#!/bin/sh\necho x >"$1/sizes.csv"; exit 2\n' >"$work/lab_kiss"
    chmod +x "$work/lab_kiss"
    cp "$work/lab/kiss/sizes.csv" "$work/sizes"
    "$here/tools/make/lab" "$work" tiny kiss >/dev/null 2>&1
    [ $? -eq 2 ] && wrong='' || wrong='it did not end with 2'
    cmp -s "$work/lab/kiss/sizes.csv" "$work/sizes" || wrong='data are lost'
    tell "a program of the lab that fails" "$wrong"

    # Without MPI the report says so, and asking for such a paper fails.
    rm -rf "$work/lab_pournaras" "$work/lab/pournaras"
    wrong=$(mistake "$work" tiny pournaras)
    "$here/tools/make/lab" "$work" tiny broder >/dev/null 2>&1
    [ "$(grep -c 'href="#pournaras"\|^<h2 id="pournaras"' "$report")" -eq 2 ] ||
        wrong="$wrong the report does not name it"
    grep -q 'Not measured.*MPI' "$report" || wrong="$wrong nor say why"
    tell "the lab without MPI" "$(printf '%s' "$wrong" | head -c 300)"
else
    echo "ok - the report of the lab # skip there is no gnuplot"
fi
exit $failed
