# topics.sh - runs the test scripts of a folder; sourced by run.sh here and in
# tests/mpi.

# run_topics [SCRIPT...]: runs each script, or all of "$here", in its own folder
# in "$work", and prefixes its lines with the topic. Fails if a script failed or
# tested nothing.
run_topics() {
    failed=0
    if [ $# -eq 0 ]; then
        for script in "$here"/*.sh; do
            set -- "$@" "$script"
        done
    fi
    for script; do
        topic=$(basename "$script" .sh)
        case $topic in lib | run | topics) continue ;; esac
        mkdir "$work/$topic"
        (cd "$work/$topic" && sh "$script" "$here") >"$work/log"
        code=$?
        sed -e "s|^ok - |ok - $topic: |" -e "s|^not ok - |not ok - $topic: |" \
            "$work/log"
        if grep -q '^not ok' "$work/log"; then
            failed=1
        elif [ $code -ne 0 ] || ! grep -q '^ok' "$work/log"; then
            echo "not ok - $topic # the script ended with $code"
            failed=1
        fi
    done
    return $failed
}
