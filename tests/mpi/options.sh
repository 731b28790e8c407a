# options.sh - options of bloomery-mpi that exclude or need each other.
# shellcheck source=lib.sh
. "$1/lib.sh"
# shellcheck source=../bloomery/shared/options.sh
. "$1/../bloomery/shared/options.sh"

for command in $(options_commands); do
    options_kept "$command" "$(work 1 7)"
done
finish
