# topics.sh - run the test scripts of a folder; sourced by its run.sh, and by
# that of tests/mpi.

# run_topics [TOPIC...]: run each "$here/TOPIC.sh", or all there are, in a folder
# of its own in "$work", and print its lines with the topic before each name.
# False: one failed, or ended without having tested anything.
run_topics() {
    failed=0
    if [ $# -eq 0 ]; then
        for topic in "$here"/*.sh; do
            set -- "$@" "$(basename "$topic" .sh)"
        done
    fi
    for topic; do
        case $topic in lib | run | topics) continue ;; esac
        mkdir "$work/$topic"
        (cd "$work/$topic" && sh "$here/$topic.sh" "$here") >"$work/log"
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
