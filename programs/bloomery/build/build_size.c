/* build_size.c - plans a filter for the number of its keys.
 *
 * A filter must know in advance how many keys it will hold. Without -n the keys
 * are counted first, and the number of different ones is estimated. If their
 * hashes fit into memory, they are kept for building; otherwise, or if the kind
 * needs more than hashes, the files are read again, which a pipe does not
 * allow.
 */
#include "bloomery/build/build.h"
#include "frame/measure.h"
#include "frame/progress.h"

#include <unistd.h>

/* The number of keys to plan for if they cannot be counted, or there are none
 * yet: for a filter that grows, and for one that does not. Some kinds need
 * none. */
enum { BUILD_FIRST = 1 << 16, BUILD_LEAST = 1 };

static uint64_t build_first(const cli_build *s)
{
    bly_plan_t plan;

    if (bly_plan(&plan, s->kind, NULL) >= 0)
        return 0;
    return filter_kind_can(s->kind, BLY_CAN_GROW) ? BUILD_FIRST : BUILD_LEAST;
}

/* Sets spec->capacity by reading everything, and rewinds stdin. If a repeated
 * key leaves the filter unchanged, only different keys are planned for. If the
 * filter may turn out full, the hashes are kept for further attempts. */
static int build_count(const cli_build *s, cli_lines *lines, bly_spec *spec,
                       cli_fed *fed, cli_counted *counted)
{
    off_t start = lseek(STDIN_FILENO, 0, SEEK_CUR);
    bool once = estimate_serves(s->kind);
    bool fills = filter_kind_can(s->kind, BLY_CAN_RESIZE);
    int status;

    progress_expect(0.4);
    status = counting_run(lines, work_jobs(s->jobs), !s->no_progress, fed,
                          once || fills ? counted : NULL);

    if (start >= 0)
        lseek(STDIN_FILENO, start, SEEK_SET);
    if (status != CLI_GO)
        return status;
    spec->capacity = fed->keys == 0 ? build_first(s) : !once ? fed->keys
                   : estimate_capacity(&counted->different, fed->keys);
    spec->capacity += fed->markers;
    if (s->verbose && once && fed->keys > 0)
        feed_planned(fed, &counted->different);
    return CLI_GO;
}

/* Plans for keys from a pipe whose number is unknown. A kind that grows can
 * replace plain sets, but has no labels and is not exact. */
static int build_uncounted(const cli_build *s, bly_spec *spec)
{
    if (!filter_kind_can(s->kind, BLY_CAN_GROW))
        return report_error("the keys from a pipe cannot be counted in "
                            "advance: give their maximum number with -n "
                            "ITEMS%s", filter_kind_of_family(s->kind, "sets")
                            || filter_kind_of_family(s->kind, "removable")
                            ? ", or use a kind that grows (-k expandable)"
                            : "");
    spec->capacity = build_first(s);
    return CLI_GO;
}

int build_size(build_job *job)
{
    const cli_build *s = job->s;
    bly_spec *spec = job->spec;
    uint64_t total = 0;
    bly_plan_t plan;
    bly_status planned = bly_plan(&plan, s->kind, spec);
    cli_lines lines;
    int status;

    /* A wrong kind or hash is reported before anything is read. A kind whose
     * options fix its size needs no count. */
    if (planned < 0 && (spec->capacity > 0 || planned != BLY_EPARAM))
        return filter_error();
    lines_open(&lines, &s->how, job->operands, 0, false);
    status = measure_input(&lines, &total);
    if (status == CLI_OK && spec->capacity == 0)
        status = build_count(s, &lines, spec, &job->fed, &job->counted);
    else if (status == CLI_NONE && spec->capacity == 0 && planned < 0)
        status = build_uncounted(s, spec);
    lines_close(&lines);
    return status == CLI_ERROR ? status : CLI_GO;
}
