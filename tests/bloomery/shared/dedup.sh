# dedup.sh - lines, and awk's answers for them, for the tests of `dedup`.
# Sourced.

# A rate at which no line is dropped by accident.
sure='-p 1e-9'

first() {
    awk '!seen[$0]++' "$@"
}

# Prints N lines of several lengths, about half of them repeated.
lines() {
    awk -v n="$1" 'BEGIN {
        srand(7)
        for (i = 0; i < n; i++) {
            key = rand() < 0.5 ? i : int(rand() * i)
            printf "%s/%d%s\n", key % 3 ? "page" : "a longer path", key,
                   key % 7 ? "" : "?and=something&more=of&the=same&kind=yes"
        }
    }'
}

printf 'ant\nbee\nant\ncat\nbee\nant\n' >few
: >empty
printf 'b\na\nb' >unended
printf 'a\n\nb\n\n' >gaps
printf 'a\0b\0a\0c' >nulls
printf '1,x,p\n2,y,p\n3,x,q\n4\n4\n' >table
many=$(work 300000 100000)
lines "$many" >many
first many >many-once
