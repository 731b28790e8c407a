# examples.sh - all examples of the help run. They are taken from `bloomery CMD
# --help`, in the order of the commands, and run in this folder, where `files`
# makes the files that they name. An example may expect another exit status than
# 0: its description then says "(status 1)".
# shellcheck source=lib.sh
. "$1/lib.sh"

PATH=$(dirname "$BLOOMERY"):$PATH
export PATH

# rows FIRST LAST FORMAT: prints the numbers by printf.
rows() {
    seq "$1" "$2" | while read -r n; do
        # shellcheck disable=SC2059  # the format is in this file
        printf "$3\n" "$n"
    done
}

lines_and_logs() {
    { printf 'apple\npear\nplum\n'; rows 1 300 'word%s'; } >words.txt
    rows 301 320 'word%s' >new-words.txt
    printf 'apple\nno such word\n10.0.0.1\n' >text.txt
    rows 1 1000 'stranger%s' >others.txt
    mkdir logs src tables
    for n in 1 2 3; do
        printf '10.0.0.%s GET /index.html\n10.0.0.7 connection refused\n' $n
        printf '10.0.0.%s timed out timeout\n' $n
    done >access.log
    cp access.log logs/one.log
    rows 1 50 '10.1.0.%s fine' >logs/two.log
    printf '{"trace_id":"4bf92f3577b34da6"}\n' >logs/app.jsonl
    printf '10.0.0.2\tGET\n10.0.0.3\tGET\n' | gzip -c >log.tsv.gz
    printf '10.0.0.1\n10.9.9.9\n' >addresses.txt
    printf 'int main;\npear\n    p = realloc(NULL, 8);\n' >src/main.c
    printf 'a.example\nb.example\na.example\n' >urls.txt
    printf 'b.example\nc.example\n' >wanted.txt
    printf '1\tbob\t10.0.0.2\n' >sessions.tsv
}

tables() {
    printf '%s,%s\n' 1 alice 2 bob 3 carol 4 bob >users.csv
    printf 'email,name\na@b.example,"Doe, J."\n' >people.csv
    printf 'id,email\n1,a@b.example\n' >tables/users.csv
    rows 1 100 'ca\t%s' >certificates.tsv
    rows 3 5 'ca\t%s' >revoked.tsv
    printf '{"user":{"id":7}}\n' >events.jsonl
    printf '{"text":"Home\\n\\n%s"}\n' Owls Bats >pages.jsonl
    printf 'carol\n' >blocked.txt
    rows 1 100 'member%s' >members.txt
    printf 'member1\nmember2\n' >left.txt
    printf 'member5\nmember6\n' >banned.txt
    printf '2026,member3\n2026,member4\n' >gone.csv
    printf 'alice\nbob\nbob\nbob\ncarol\n' >visits.txt
    printf 'alice\nbob\ncarol\n' >names.txt
    printf '%s\t%s\n' alice 7 bob 3 carol 9 >shards.tsv
    printf '%s\t%s\n' 8 alice >moved.tsv
    printf '%s\t%s\n' 1 48.85,2.35 2 40.7,-74 >cells.tsv
    printf '%s\t%s\n' 2 51.5,-0.12 >more.tsv
    rows 1 50 'serial%s' >valid.txt
    rows 51 60 'serial%s' >revoked.txt
    cat valid.txt revoked.txt >issued.txt
    rows 0 99 'k%s' >keys.txt
    rows 5 104 'k%s' >theirs.txt
    rows 1 20 '%s' >sparse.txt
    printf 'from the example\n' >notes.txt
}

# The filters of other examples' owners.
filters() {
    bloomery build -k dcso -o plain.bloom words.txt
    bloomery convert --to dcso --data notes.txt plain.bloom known.bloom
    bloomery build -k split -H xxh64 -o column.bly words.txt
    bloomery build -k egh:universe=1000 -n 20 -o sparse.bly sparse.txt
    bloomery build -k standard:m=4096 -o prints.bly words.txt
    for name in month-01 month-02 today; do
        bloomery build -n 1000 -o $name.bly words.txt
    done
    bloomery build -n 1000 -o monday.bly names.txt
    bloomery build -n 1000 -o tuesday.bly visits.txt
    : >nothing
    bloomery build -n 1000 -p 1e-9 -o neighbour.bly names.txt
    bloomery build -k attenuated:depth=3 -n 1000 -p 1e-9 -o link.bly nothing
    mkdir backup
    cp monday.bly tuesday.bly backup
    grep -v '^#' "$(dirname "$BLOOMERY")/corpus/container-measured.hex" |
        tr -d '\n ' | fold -w 2 | awk '{
            digits = "0123456789abcdef"
            printf "\\0%03o", 16 * (index(digits, substr($0, 1, 1)) - 1) \
                                 + index(digits, substr($0, 2, 1)) - 1
        }' >octal
    printf '%b' "$(cat octal)" >part.parquet
}

molecules_and_genomes() {
    printf '#FPS1\n#num_bits=16\n8103\tquery\n' >query.fps
    printf '#FPS1\n#num_bits=16\n0100\tpart\n' >part.fps
    printf '#FPS1\n#num_bits=16\n8103\tsame\n0102\ttwo\nffff\tall\n' >library.fps
    gzip -k library.fps
    mkdir genomes
    awk 'BEGIN {
        srand(1)
        for (i = 0; i < 400; i++)
            printf "%s", substr("ACGT", 1 + int(4 * rand()), 1)
    }' >bases
    { echo '>one'; cat bases; echo; } >genomes/one.fa
    mkdir runs
    { echo '@read'; cat bases; echo; echo +; tr ACGT I <bases; echo; } |
        gzip -c >reads.fq.gz
    cp reads.fq.gz runs
    head -c 100 bases >gene.txt
}

# serves COMMAND: starts a server until it listens, and ends it. A port may be
# in use: others are tried.
serves() {
    tries=0
    while [ $tries -lt 9 ]; do
        tries=$((tries + 1))
        port=$((20000 + ($$ + 1000 * tries) % 20000))
        command=$(printf '%s' "$1" | sed "s/ 8080 / $port /")
        # shellcheck disable=SC2086  # the words of an example
        $command </dev/null >out 2>err &
        server=$!
        while kill -0 $server 2>/dev/null; do
            if [ -S seen.sock ] || [ -S maps.sock ] ||
                curl -s "http://127.0.0.1:$port/info" >info 2>&1; then
                break
            fi
            sleep 0.1
        done
        kill $server 2>/dev/null && wait $server && return 0
    done
    return 1
}

# runs COMMAND STATUS: runs an example, or says why not.
runs() {
    tried=$((tried + 1))
    case $1 in
    'bloomery advise --measure')
        skip "$1" 'it measures for half a minute, with 350 MB'
        return ;;
    *--http*)
        command -v curl >found || { skip "$1" 'curl is not there'; return; }
        serves "$1" ;;
    *--socket*) serves "$1" ;;
    *--json-field*)
        bloomery --version | grep -q '+json' || {
            skip "$1" 'built without BLY_JSON'
            return
        }
        sh -c "$1" </dev/null >out 2>err ;;
    *)  sh -c "$1" </dev/null >out 2>err ;;
    esac
    echo $? >status
    if [ "$(cat status)" != "$2" ]; then
        fail "$1" "expected status $2; $(details)"
    elif grep -i 'no such file\|not found\|cannot read' err >unknown; then
        fail "$1" "$(cat unknown)"
    else
        pass "$1"
    fi
}

(lines_and_logs; tables; filters; molecules_and_genomes) 2>err || {
    fail 'the files of the examples' "$(cat err)"
    finish
}

tried=0
commands=0
for command in $(bloomery --help |
    sed -n '/^Topics/q;s/^  \([a-z][a-z]*\)  .*/\1/p'); do
    bloomery "$command" --help | awk '
        function example() {
            if (command != "") {
                n = match(text, /\(status [0-9]\)/)
                print (n ? substr(text, n + 8, 1) : 0) " " command
            }
            command = text = ""
        }
        /^Examples:$/ { on = 1; next }
        /^$/ { example(); on = 0 }
        on && /^  [^ ]/ { example(); command = substr($0, 3); next }
        on { text = text substr($0, 6) }' >"examples-$command"
    commands=$((commands + 1))
    check "$command has examples" [ -s "examples-$command" ]
    while read -r status example <&3; do
        runs "$example" "$status"
    done 3<"examples-$command"
done
bloomery help keys | sed -n 's/^  bloomery /0 bloomery /p' >examples-of-keys
check 'help keys has three examples' [ "$(wc -l <examples-of-keys)" -eq 3 ]
while read -r status example <&3; do
    runs "$example" "$status"
done 3<examples-of-keys
cat examples-* >examples 2>err
check "at least 20 commands, not $commands" [ $commands -ge 20 ]
check "at least 60 examples, not $tried" [ $tried -ge 60 ]
check "all $tried examples were tried" [ "$tried" -eq "$(wc -l <examples)" ]
finish
