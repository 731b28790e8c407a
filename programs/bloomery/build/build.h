/* build.h - the ways to build a filter from the keys of lines.
 *
 * build.c has the table of ways and chooses one. Kinds to which keys can be
 * added are sized first (build_size.c).
 */
#ifndef BLOOMERY_BUILD_BUILD_H
#define BLOOMERY_BUILD_BUILD_H

#include "bloomery/command.h"

/* A filter that is being built. */
typedef struct {
    const cli_build    *s;
    const cli_operands *operands;
    bly_spec           *spec;
    cli_counted         counted;    /* the result of counting, if it was done */
    cli_fed             fed;        /* and the keys that were counted         */
} build_job;

/* Builds a filter of the keys of the operands and saves it. Returns the exit
 * status. */
int build_filter(cli_build *s, const cli_operands *operands);

/* Plans the number of keys, and counts them if needed. CLI_GO or CLI_ERROR. */
int build_size(build_job *job);

/* Saves a filter and reports on it. `counted` is the result of counting, and
 * `others` the keys of --without or --within; both may be NULL. Returns the
 * exit status. */
int build_save(const cli_build *s, bly_filter *filter, const cli_fed *fed,
               const cli_counted *counted, const cli_fed *others);

/* Returns whether nothing is saved: a filter that lacks keys of the input must
 * not replace one that may have all of them, nor go to a reader that cannot
 * notice. */
bool build_keeps(const cli_build *s, const cli_fed *fed);

/* Reports on a filter. `kept`: it was not saved. Returns the exit status. */
int build_report(const cli_build *s, const bly_filter *filter,
                 const cli_fed *fed, const cli_counted *counted,
                 const cli_fed *others, bool kept);

/* Returns the files of --without or --within; their number may be 0. */
const cli_operands *build_outside(const cli_build *s);
const char *build_outside_name(const cli_build *s);

/* Returns whether the kind is clubcard, which has groups of keys. */
bool build_is_clubcard(const cli_build *s);

/* The ways to build, in the order in which they are tried: build_…_serves
 * returns whether a way is possible, and the other function builds, saves and
 * reports. Returns the exit status. */
bool build_clubcard_serves(const build_job *job);
int  build_clubcard(build_job *job);
bool build_at_once_serves(const build_job *job);
int  build_at_once(build_job *job);
bool build_in_file_serves(const build_job *job);
int  build_in_file(build_job *job);
bool build_by_hashes_serves(const build_job *job);
int  build_by_hashes(build_job *job);
bool build_by_threads_serves(const build_job *job);
int  build_by_threads(build_job *job);
bool build_by_keys_serves(const build_job *job);
int  build_by_keys(build_job *job);

#endif
