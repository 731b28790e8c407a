# shellcheck shell=sh
# objects.sh - sourced by tools that check symbols.
#
# objects BUILD prints "D FILE NAME" for each external name that an object in BUILD
# defines, and "U FILE NAME" for each that it uses: one line, however many targets
# compile the file. FILE is a path from the top folder, which is the working
# folder. Objects whose file is gone, or is newer than they are, are skipped: they
# show an older tree.
#
# CMake puts the object of a file FOLDER/PATH into FOLDER/CMakeFiles/TARGET.dir/
# PATH.o, where FOLDER has a CMakeLists.txt, with "__" for "..". Those of
# PostgreSQL's extension are made from a copy of its folder.
objects() {
    root=$(pwd) objects_work=$(mktemp -d)
    (cd "$1" && find . \( -path '*.dir/*' -o -path '*/postgresql/source/*' \) \
        -name '*.o' | sort | awk '
        {
            file = $0
            sub(/^\.\//, "", file)
            sub(/\.o$/, "", file)
            if (sub(/^.*postgresql\/source\//, "bindings/postgresql/", file))
                file = file ".c"
            sub(/CMakeFiles\/[^\/]*\.dir\//, "", file)
            while (sub(/[^\/]+\/__\//, "", file))
                ;
            print $0, file
        }' | while read -r object file; do
            # shellcheck disable=SC3013  # dash and busybox have -nt
            [ ! -e "$root/$file" ] || [ "$root/$file" -nt "$object" ] ||
                echo "$object: $file"
        done | tee "$objects_work/files" | sed 's/: .*//' | xargs -r nm -A -P -g \
            >"$objects_work/names")
    awk '
    NR == FNR { file[$1] = $2; next }
    { print ($3 ~ /[Uwv]/ ? "U" : "D"), file[$1], $2 }' \
        "$objects_work/files" "$objects_work/names" | sort -u
    rm -r "$objects_work"
}
