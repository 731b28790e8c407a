/* build_all.c - builds a filter from all its keys at once: kinds to which no
 * key can be added, and filters that must not find certain other keys. The
 * hashes of all keys, and their labels, are held in memory. */
#include "bloomery/build/build.h"
#include "frame/progress.h"

#include <stdlib.h>
#include <string.h>

const cli_operands *build_outside(const cli_build *s)
{
    return s->within.count > 0 ? &s->within : &s->without;
}

const char *build_outside_name(const cli_build *s)
{
    return s->within.count > 0 ? "--within" : "--without";
}

static int build_hashes(const cli_build *s, const cli_operands *operands,
                        cli_hashes *hashes, cli_fed *fed)
{
    cli_lines lines;
    int status;

    lines_open(&lines, &s->how, operands, 0, false);
    progress_expect(0.5);
    status = feed_hashes(hashes, &lines, work_jobs(s->jobs), !s->no_progress,
                         fed);
    lines_close(&lines);
    return status;
}

/* Verifies that the kind can keep out other keys, or carry labels, if that is
 * requested. CLI_GO or CLI_ERROR. */
static int build_labels(const cli_build *s, const bly_plan_t *plan,
                        cli_hashes *hashes)
{
    bool outside = build_outside(s)->count > 0;

    if (outside && !filter_kind_can(s->kind, BLY_CAN_SEPARATE))
        return report_error("kind %s cannot exclude keys: leave out %s, or use "
                            "-k cascade", plan->kind, build_outside_name(s));
    if (!outside && filter_kind_can(s->kind, BLY_CAN_SEPARATE))
        return report_error("kind %s separates its keys from all other keys, "
                            "and needs those as well: use --without FILE or "
                            "--within ALL, or use -k ribbon for a filter of "
                            "the keys alone", plan->kind);
    if (s->how.label.n > 0 && plan->label_bits == 0)
        return report_error("kind %s stores no labels: leave out -l, or choose "
                            "a kind that does (see 'bloomery kinds')",
                            plan->kind);
    if (s->how.label.n > 0)
        hashes->may = (cli_labels){ plan->label_least, plan->label_most };
    return CLI_GO;
}

/* Reads one file of other keys. */
static int build_others(const cli_build *s, char **path, cli_hashes *hashes,
                        cli_fed *sum)
{
    cli_operands file = { path, 1 };
    uint64_t lacking;
    cli_fed fed;
    int status = build_hashes(s, &file, hashes, &fed);

    if (status != CLI_OK)
        return status;
    if (fed.keyless > 0 && fed.keys == 0 && s->how.member != NULL)
        return report_error("no line of '%s' has a key: check --json-field",
                            *path);
    if (fed.keyless > 0 && fed.keys == 0)
        return report_error("no line of '%s' has a key: its keys need the same "
                            "columns and separator as those of the other files "
                            "(-f, -t)", *path);
    lacking = report_unexplained(fed.keyless);
    if (lacking > 0)
        report_note("note: %s %s of '%s' %s no such %s and %s skipped",
                    report_count(lacking).text,
                    lacking == 1 ? "line" : "lines", *path,
                    lacking == 1 ? "has" : "have", report_lack.part,
                    lacking == 1 ? "was" : "were");
    sum->keys += fed.keys;
    sum->keyless += fed.keyless;
    return CLI_OK;
}

/* Reads the other keys, or all keys; those so far are the members. Labels
 * distinguish them. */
static int build_without(const cli_build *s, const cli_operands *operands,
                         cli_hashes *hashes, cli_fed *others)
{
    const cli_operands *outside = build_outside(s);
    cli_disjoint lists = { &s->how, operands, outside };
    bool within = s->within.count > 0;
    size_t members = hashes->n;
    int status = CLI_OK;

    *others = (cli_fed){ .keys = 0 };
    for (size_t i = 0; i < outside->count && status == CLI_OK; i++)
        status = build_others(s, &outside->names[i], hashes, others);
    if (status == CLI_OK)
        status = (within ? within_run : disjoint_run)(hashes, &members,
                                                      &lists);
    if (status != CLI_OK)
        return status;
    if (within)
        others->keys = hashes->n - members;
    free(hashes->labels);
    hashes->labels = malloc((hashes->n + 1) * sizeof *hashes->labels);
    if (hashes->labels == NULL)
        return report_no_memory();
    for (size_t i = 0; i < hashes->n; i++)
        hashes->labels[i] = i < members;
    return CLI_OK;
}

static int build_from(const cli_build *s, const cli_hashes *hashes,
                      const cli_fed *fed, const cli_fed *others)
{
    bool labels = hashes->may.most > 0 || others != NULL;
    bly_spec spec = *hashes->spec;
    bly_filter *filter;
    int status;

    spec.progress = progress_library();
    progress_expect(0.9);
    progress_start("build", 0, false);
    status = bly_build(&filter, hashes->kind, &spec,
                       &(bly_keys){ .n = hashes->n, .hashes = hashes->hashes,
                                    .labels = labels ? hashes->labels : NULL });
    progress_close();
    if (status < 0)
        return filter_error();
    status = build_save(s, filter, fed, NULL, others);
    bly_free(filter);
    return status;
}

/* Reads all keys, then builds. */
static int build_all(const cli_build *s, const cli_operands *operands,
                     cli_hashes *hashes)
{
    bool without = build_outside(s)->count > 0;
    cli_fed fed, others;
    int status;

    hashes->checks = s->within.count > 0
                  && (s->hash == NULL || strcmp(s->hash, "decimal") != 0);
    status = build_hashes(s, operands, hashes, &fed);

    if (status == CLI_OK && feed_some(&fed) != CLI_GO)
        return CLI_ERROR;
    if (status == CLI_OK && without)
        status = build_without(s, operands, hashes, &others);
    if (status == CLI_OK)
        status = build_from(s, hashes, &fed, without ? &others : NULL);
    return status;
}

bool build_at_once_serves(const build_job *job)
{
    const cli_build *s = job->s;

    return build_outside(s)->count > 0 || !filter_kind_can(s->kind, BLY_CAN_ADD)
        || (s->how.label.n > 0 && !filter_kind_can(s->kind, BLY_CAN_LABEL));
}

int build_at_once(build_job *job)
{
    const cli_build *s = job->s;
    bly_spec *spec = job->spec;
    cli_hashes hashes = { .kind = s->kind, .spec = spec };
    bly_plan_t plan;
    int status;

    /* A wrong option is reported before anything is read. */
    spec->capacity = spec->capacity == 0 ? 1 : spec->capacity;
    if (bly_plan(&plan, s->kind, spec) < 0)
        return filter_error();
    status = build_labels(s, &plan, &hashes);
    if (status != CLI_GO)
        return status;
    status = build_all(s, job->operands, &hashes);
    free(hashes.hashes);
    free(hashes.labels);
    return status;
}
