# readme.sh - the recipes that README.md begins with do what it shows.
# shellcheck source=lib.sh
. "$1/lib.sh"
readme=$1/../../README.md

# From their heading to the next one.
sed -n '/^## Three recipes$/,/^## [^T]/p' "$readme" >section

# The line that puts the command on the PATH, but for building it: this stands
# where that would be built.
mkdir build
ln -s "$BLOOMERY" build/bloomery
line=$(sed -n 's/^make && //p' section)
PATH=/usr/bin:/bin
eval "$line"
check 'the command is on the PATH' [ "$(command -v bloomery)" = "$PWD/build/bloomery" ]

# What stands between the fences of a console: after each command what it prints.
awk '/^```console$/ { n++; inside = 1; next } /^```$/ { inside = 0 }
     inside { print > ("recipe" n) }' section
check 'there are three' [ -f recipe3 -a ! -f recipe4 ]
for recipe in recipe[0-9]; do
    mkdir "in-$recipe"
    awk '/^\$ / { n++; print substr($0, 3) > ("command" n); printf "" > ("shown" n)
                  next }
         { print > ("shown" n) }' "$recipe"
    i=1
    while [ -f command$i ]; do
        (cd "in-$recipe" && sh ../command$i) >out 2>err
        status=$?
        echo $status >status
        command=$(cut -c 1-40 <command$i)
        if [ $status -eq 0 ] && [ ! -s err ] && cmp -s out shown$i; then
            pass "$recipe: $command"
        else
            fail "$recipe: $command" "$(details); out: $(head -c 200 out)"
        fi
        rm command$i shown$i
        i=$((i + 1))
    done
    check "$recipe: it has commands" [ $i -gt 2 ]
done
finish
