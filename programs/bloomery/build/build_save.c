/* build_save.c - saves a filter that was built, and reports on it. */
#include "bloomery/build/build.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

bool build_keeps(const cli_build *s, const cli_fed *fed)
{
    struct stat about;

    return fed->cut && (s->whole || strcmp(s->output, "-") == 0
                        || stat(s->output, &about) == 0);
}

int build_report(const cli_build *s, const bly_filter *filter,
                 const cli_fed *fed, const cli_counted *counted,
                 const cli_fed *others, bool kept)
{
    char advice[80];
    bly_info_t stat;
    int status;
    cli_feed_report how = { .output = s->output, .advice = advice,
                            .overfill = "use --overfill", .kept = kept,
                            .rate = s->rate, .kind = s->kind,
                            .verbose = s->verbose, .json = s->json,
                            .others = others };

    if (counted != NULL && counted->estimated)
        how.different = &counted->different;
    if (fed->over)
        snprintf(advice, sizeof advice, "build it again with a larger -n");
    else
        snprintf(advice, sizeof advice, "build it again with -n %llu",
                 (unsigned long long)fed->keys);
    status = feed_report(filter, fed, &how);
    if (s->verbose && bly_info(&stat, filter) >= 0)
        cheaper_note(&stat, s->output);
    if (fed->keys == 0 && s->items == 0 && others == NULL)
        feed_none(filter);
    return status;
}

int build_save(const cli_build *s, bly_filter *filter,
               const cli_fed *fed, const cli_counted *counted,
               const cli_fed *others)
{
    bool kept = build_keeps(s, fed);
    int status = kept ? CLI_OK : filter_save(filter, s->output);

    return status == CLI_OK
         ? build_report(s, filter, fed, counted, others, kept) : status;
}
