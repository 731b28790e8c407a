/* build.c - chooses the way to build a filter. */
#include "bloomery/build/build.h"
#include "frame/progress.h"

#include <stdlib.h>

/* The first way that serves is taken. Only the first two need no count of the
 * keys. */
static const struct {
    bool (*serves)(const build_job *job);
    int  (*run)(build_job *job);
} build_ways[] = {
    { build_clubcard_serves, build_clubcard },
    { build_at_once_serves, build_at_once },
    { build_in_file_serves, build_in_file },
    { build_by_hashes_serves, build_by_hashes },
    { build_by_threads_serves, build_by_threads },
    { build_by_keys_serves, build_by_keys },
};

static int build_choose(build_job *job)
{
    size_t way = 0;
    int status = build_clubcard_serves(job) || build_at_once_serves(job)
               ? CLI_GO : build_size(job);

    if (status != CLI_GO)
        return status;
    while (!build_ways[way].serves(job))
        way++;
    return build_ways[way].run(job);
}

/* Other systems' formats cannot state the form of the keys. */
static int build_unstated(cli_build *s, const bly_spec *spec)
{
    const bly_spec one = { .capacity = spec->capacity + (spec->capacity == 0),
                           .rate = spec->rate };
    int status = forms_follow(&s->how, BLY_KEYS_UNSTATED, s->output);
    char why[TYPED_ROOM];
    bly_plan_t plan;

    if (status == CLI_GO && bly_plan(&plan, s->kind, &one) == BLY_OK
        && typed_against(plan.kind, plan.geometry, s->how.form, why,
                         sizeof why))
        return report_error("%s", why);
    if (status == CLI_GO && forms_changes(s->how.form))
        report_note("note: this file format cannot record that the keys have "
                    "the form %s: query the file with the same options",
                    forms_name(s->how.form).text);
    return status;
}

int build_filter(cli_build *s, const cli_operands *operands)
{
    bly_spec spec = { .capacity = s->items,
                      .rate = s->rate > 0 ? s->rate : CLI_RATE_DEFAULT,
                      .seed = s->seed, .hash = s->hash,
                      .threads = (uint32_t)work_jobs(s->jobs) };
    build_job job = { .s = s, .operands = operands, .spec = &spec,
                      .counted = { .kind = s->kind, .spec = &spec } };
    int status;

    if (filter_kind_of_family(s->kind, "foreign")
        && build_unstated(s, &spec) == CLI_ERROR)
        return CLI_ERROR;
    if (s->how.stated)
        spec.form = s->how.form;
    spec.secret = secret_bytes();
    progress_open("build", !s->no_progress);
    status = build_choose(&job);
    free(job.counted.hashes);
    progress_close();
    return status;
}
