# start.sh - starting and ending: ranks report an error once and end together.
# shellcheck source=lib.sh
. "$1/lib.sh"

try --version
out_has 'the version is told once' 0 '^bloomery-mpi [0-9.]+$'
check 'and in one line' [ "$(wc -l <out)" -eq 1 ]
try help
out_has 'help lists the subcommands' 0 '^  help +describe'
check 'once' [ "$(grep -c '^Usage: ' out)" -eq 1 ]
try nosuch
refused 'a wrong subcommand is refused once' "'nosuch'"
RANKS=1
try nosuch
refused 'by one rank too' "'nosuch'"

# Without mpirun it is a job of one rank.
echo key >keys
timeout 100 "$BLOOMERY" build -o f.bly keys >out 2>err </dev/null
echo $? >status
silent 'a single process needs no mpirun'
for command in build query dedup; do
    timeout 100 "$BLOOMERY" help $command >out 2>err </dev/null
    echo $? >status
    out_has "help $command" 0 '^Exit status: '
    try $command -h
    out_has "$command -h" 0 "^bloomery-mpi $command --help: everything$"
    check "$command -h: at most 30 lines" [ "$(wc -l <out)" -le 30 ]
    check "$command -h: at most 78 columns" awk 'length > 78 { exit 1 }' out
done
timeout 100 "$BLOOMERY" help --roff build >out 2>err </dev/null
echo $? >status
out_has 'a man page' 0 '^\.TH '

finish
