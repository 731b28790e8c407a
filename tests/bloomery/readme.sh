# readme.sh - the recipes at the beginning of README.md do what it shows.
# shellcheck source=lib.sh
. "$1/lib.sh"
readme=$1/../../README.md

# The section up to the next heading.
sed -n '/^## Three recipes$/,/^## [^T]/p' "$readme" >section

# Runs the line that puts the command on the PATH, except the build: this script
# stands in for the built command.
mkdir build
ln -s "$BLOOMERY" build/bloomery
line=$(sed -n 's/^make && //p' section)
PATH=/usr/bin:/bin
eval "$line"
check 'the command is on the PATH' [ "$(command -v bloomery)" = "$PWD/build/bloomery" ]

# blocks FILE NAME: writes the contents of each console block to NAME1, NAME2, …
blocks() {
    awk -v name="$2" '/^```console$/ { n++; inside = 1; next } /^```$/ { inside = 0 }
         inside { print > (name n) }' "$1"
}

# run_block BLOCK: runs each command and compares its output.
run_block() {
    mkdir "in-$1"
    awk '/^\$ / { n++; print substr($0, 3) > ("command" n); printf "" > ("shown" n)
                  next }
         { print > ("shown" n) }' "$1"
    i=1
    while [ -f command$i ]; do
        (cd "in-$1" && sh ../command$i) >out 2>err
        status=$?
        echo $status >status
        command=$(cut -c 1-40 <command$i)
        if [ $status -eq 0 ] && [ ! -s err ] && cmp -s out shown$i; then
            pass "$1: $command"
        else
            fail "$1: $command" "$(details); out: $(head -c 200 out)"
        fi
        rm command$i shown$i
        i=$((i + 1))
    done
    check "$1: it has commands" [ $i -gt "$2" ]
}

blocks section recipe
check 'there are three' [ -f recipe3 -a ! -f recipe4 ]
for recipe in recipe[0-9]; do
    run_block "$recipe" 2
done

# The examples of the tour that need no files.
sed -n '/^## A tour$/,/^## [^A]/p' "$readme" >tour
blocks tour tour
for first in 'bloomery plan -n 1e9' "printf '%s.n' alice bob carol alice" \
    "printf '%s.n' 22 25 53" "printf '%s.n' 22 80 80" "printf 'alice.t7" \
    "printf '1.touter"; do
    block=$(grep -l "^\$ $first" tour[0-9]*)
    check "the tour has: $first" [ -n "$block" ]
    run_block "$block" 1
done
n=$(sed -n 's/.*of the \([0-9]*\) that can$/\1/p' tour)
try advise -n 1M -p 0.1% --remove
out_has 'advise: as many kinds as the tour says' 0 "of the $n that can\$"
finish
