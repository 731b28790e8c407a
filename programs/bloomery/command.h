/* command.h - what the files of the command `bloomery` share.
 *
 * Floor 8: this folder, the frame, programs/filters/ and <bloomery.h> are all
 * they include, and the command is linked to the shared library alone.
 *
 *      apart.c     two lists of keys that must have none in common
 *      change.c    what `add`, `remove` and `put` have in common
 *      tell.c      what `count` and `get` have in common
 *      combine.c   what `unite` and `intersect` have in common
 *      sketches.h  what `sketch` and `diff` have in common
 *      cmd_*.c     one subcommand each
 *      main.c      the table of `bloomery`
 */
#ifndef BLOOMERY_COMMAND_H
#define BLOOMERY_COMMAND_H

#include "filters/filters.h"

/* ==== apart.c =========================================================== */

/* Where the keys of hashes came from. */
typedef struct {
    const cli_how      *how;
    const cli_operands *members, *others;
    const bly_filter   *hasher; /* whose hash function and seed            */
} cli_apart;

/* Drop repeats among the first *members hashes, which come first again, and
 * among those behind them. CLI_OK; CLI_ERROR: one is among both, and stderr
 * names its key. */
int apart_run(cli_hashes *hashes, size_t *members, const cli_apart *lists);

/* ==== change.c ========================================================== */

typedef struct {
    int (*feed)(bly_filter *filter, cli_lines *lines, size_t jobs,
                bool progress, cli_fed *out);
    uint64_t    ability;        /* BLY_CAN_ADD                            */
    const char *missing;        /* what to say when FILE is               */
    uint64_t    label;          /* the labels' column by default; 0: none */
} cli_change;

int change_run(const cli_command *self, const cli_change *how, int argc,
               char **argv);
extern const cli_option change_options[], change_add_options[],
    change_label_options[];

/* ==== tell.c ============================================================ */

typedef struct {
    cli_how  how;
    uint64_t jobs, least;
    bool     json, no_progress;
} cli_tell_settings;

/* Those that both have, but --json, whose help differs. */
#define CLI_TELL_OPTIONS                                                      \
    CLI_HOW_OPTIONS(cli_tell_settings, how),                                  \
    CLI_JOBS_OPTION(cli_tell_settings, jobs),                                 \
    { 0, "no-progress", NULL, CLI_FLAG,                                       \
      offsetof(cli_tell_settings, no_progress), false,                        \
      "Show no progress on the terminal." },                                  \
    { 0, NULL, NULL, CLI_FLAG, 0, false, NULL }

typedef struct {
    /* Is each key perhaps there, and what is its number? */
    void (*ask)(const bly_filter *filter, const bly_key *keys, size_t n,
                bool *there, uint64_t *numbers);
    uint64_t    ability;        /* BLY_CAN_COUNT                            */
    const char *lacks;          /* "does not count": a kind without it    */
    const char *doing;          /* "counting"                             */
    bool        counts;         /* The numbers are counts: UINT64_MAX is
                                   no bound, keys that are not there have
                                   0, and lines with `least` are printed.
                                   Or else those of keys that are there.  */
} cli_tell;

int tell_run(const cli_command *self, const cli_tell *how, int argc,
             char **argv);

/* ==== combine.c ========================================================= */

typedef struct {
    bly_status (*combine)(bly_filter *into, const bly_filter *other);
    const char *done;           /* "united" */
} cli_combination;

int combine_run(const cli_command *self, const cli_combination *how,
                int argc, char **argv);
extern const cli_option combine_options[];
extern const cli_option combine_level_options[];        /* of unite alone */

/* ==== cmd_build.c ======================================================= */

typedef struct {
    const char *kind, *hash, *output;
    cli_operands without;       /* files of other keys; names from malloc  */
    uint64_t    items, seed, jobs, memory;
    double      rate;           /* 0: the library's, 1 %                   */
    cli_how     how;
    bool        verbose, json, no_progress;
} cli_build;

/* Make a filter of the keys of the operands and save it: `build` itself. */
int build_make(const cli_command *self, const cli_build *settings,
               const cli_operands *operands);

/* ==== cmd_*.c =========================================================== */

extern const cli_command cmd_build, cmd_add, cmd_remove, cmd_query, cmd_count,
    cmd_put, cmd_get, cmd_dedup, cmd_resize, cmd_info, cmd_check, cmd_plan,
    cmd_advise, cmd_kinds, cmd_unite, cmd_intersect, cmd_compare,
    cmd_sketch, cmd_diff;

#endif
