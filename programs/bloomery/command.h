/* command.h - what the files of the command `bloomery` share.
 *
 * Floor 8: this folder, the frame, programs/filters/ and <bloomery.h> are all
 * they include, and the command is linked to the shared library alone.
 *
 *      disjoint.c  two lists of keys that must have none in common
 *      within.c    a list of keys, some of which are members
 *      change.c    what `add`, `remove` and `put` have in common
 *      ask.c       what `query`, `count` and `get` have in common
 *      prefix.c    what stands before the lines that `query` prints
 *      combine.c   what `unite` and `intersect` have in common
 *      inside.c  what `info` and `check` tell of files with filters inside
 *      sketches.h  what `sketch` and `diff` have in common
 *      cmd_*.c     one subcommand each
 *      main.c      the table of `bloomery`
 */
#ifndef BLOOMERY_COMMAND_H
#define BLOOMERY_COMMAND_H

#include "filters/filters.h"
#include "frame/batches.h"
#include "frame/inputs.h"
#include "frame/progress.h"
#include "frame/work.h"

/* ==== disjoint.c ======================================================== */

/* Where the keys of hashes came from. */
typedef struct {
    const cli_how      *how;
    const cli_operands *members, *others;
} cli_disjoint;

/* Drop repeats among the first *members hashes, which come first again, and
 * among those behind them. CLI_OK; CLI_ERROR: one is among both, and stderr
 * names its key. */
int disjoint_run(cli_hashes *hashes, size_t *members,
                 const cli_disjoint *lists);

/* Where a key was found; path NULL: nowhere. */
typedef struct {
    const char *path;
    uint64_t    line;
    size_t      length;
    char        text[41];       /* its beginning, fit for a terminal      */
} disjoint_found;

/* Look for the key of a hash in these files; a pipe cannot be read again. */
void disjoint_find(disjoint_found *out, const cli_disjoint *lists,
                   const cli_operands *operands, const cli_hashes *of,
                   uint64_t hash);

/* Sort hashes and drop repeats; how many stay. */
size_t disjoint_distinct(uint64_t *hashes, size_t n);

/* ==== within.c ========================================================== */

/* Drop repeats among the first *members hashes; behind them are those of a list
 * in which all members must be: keep its others, each once. CLI_OK; CLI_ERROR:
 * a member is not in it, and stderr names its key. */
int within_run(cli_hashes *hashes, size_t *members, const cli_disjoint *lists);

/* ==== change.c ========================================================== */

typedef struct {
    cli_feed   *feed;
    uint64_t    ability;        /* BLY_CAN_ADD                            */
    const char *lacks;          /* what is said of a kind without it      */
    const char *missing;        /* what to say when FILE is               */
    uint64_t    label;          /* the labels' column by default; 0: none */
} cli_change;

int change_run(const cli_command *self, const cli_change *how, int argc,
               char **argv);
extern const cli_option change_options[], change_add_options[],
    change_label_options[];

/* ==== ask.c ============================================================= */

typedef struct {
    cli_how  how;
    cli_inputs inputs;
    cli_operands filters;       /* of -F; names from malloc                */
    cli_operands asked;         /* their names, or that of FILE            */
    size_t   first;             /* operand that is KEYS: 1, with -F 0      */
    uint64_t jobs, least, unpack_limit;
    const char *key_file, *format, *column;
    bool     invert, count, quiet, summary, json, no_progress, paged, all,
             mark, groups, names, numbers, buffered, assume;
    cli_verify verify;
} ask_settings;

/* Those that all have in common; the last ones of a list. */
#define ASK_OPTIONS                                                           \
    CLI_KEY_OPTION(ask_settings, inputs),                                     \
    CLI_FILES_OPTIONS(ask_settings, inputs),                                  \
    CLI_HOW_OPTIONS(ask_settings, how),                                       \
    CLI_JOBS_OPTION(ask_settings, jobs),                                      \
    CLI_SECRET_OPTION(ask_settings, key_file),                                \
    CLI_FORMAT_OPTION(ask_settings, format),                                  \
    CLI_UNPACK_OPTION(ask_settings, unpack_limit),                            \
    CLI_VERIFY_OPTIONS(ask_settings, verify),                                 \
    CLI_NO_PROGRESS_OPTION(ask_settings, no_progress),                        \
    { 0 }

typedef struct {
    /* Is each key perhaps there, and what is its number? */
    bly_status (*ask)(const bly_filter *filter, const bly_keys *keys,
                      bool *there, uint64_t *numbers);
    enum {
        ASK_LINES,              /* no numbers: lines are printed as they are */
        ASK_LABELS,             /* lines whose key is there, with its number */
        ASK_COUNTS              /* lines with at least `least`; 0 is that of
                                   a key that is not there, UINT64_MAX that
                                   there is no bound                         */
    } answer;
    const char *doing;          /* "counting"                                */
    const char *words;          /* before a header: "count\t"                */
} ask_how;

typedef struct {
    cli_asked keys;
    uint64_t  sum, unbounded;   /* of numbers                                */
    uint64_t  often;            /* lines whose count is the least or more    */
    unsigned  letters;          /* DIGESTS_… of the first keys of batches    */
} ask_tally;

/* The file whose lines are printed or counted. */
typedef struct {
    size_t   at;                /* in the list of files                      */
    uint64_t lines, selected;   /* so far                                    */
    bool     failed;            /* it cannot be read                         */
} ask_file;

/* Where a filter is. */
typedef struct {
    const char *path;
    size_t      file;           /* in the order of -F                        */
    const char *group;          /* "row group"; NULL: it is the file         */
    uint64_t    number;
    size_t      row;            /* of the answers to a batch                 */
} ask_place;

/* What is asked; the rest is made while asking. */
typedef struct {
    const ask_how    *how;
    ask_settings      want;
    cli_operands      operands;
    size_t            n;        /* filters: one of each file that is asked,
                                   or more of one that has them inside       */
    size_t            room;
    size_t            rows;     /* of answers to a batch, of several filters */
    bly_filter      **filters;  /* NULL where any key may be there           */
    ask_place        *places;   /* where each is                             */
    uint64_t         *there;    /* keys that are perhaps in each             */
    size_t            files;    /* that were opened                          */
    bool              inside;   /* a file has them inside                    */
    uint64_t            form;     /* of the keys of all files */
    const char         *form_of;  /* the first of them        */
    cli_lines         lines;
    ask_tally         tally;
    ask_file          file;
    double            seconds;
    bool              unended;  /* the last line printed lacks its end       */
    bool              failed;   /* a file could not be read                  */
    bool              streams;  /* lines come from a pipe, or so             */
} ask_job;

/* Read options and operands, and open the filters. CLI_GO, or the status to
 * end with. */
int ask_open(const cli_command *self, int argc, char **argv, ask_job *job);

/* Ask for all keys, and print what is wanted. CLI_OK, CLI_NONE if no key is
 * there (`invert`: if all are), or CLI_ERROR; what is summed up is void then if
 * damage_seen. */
int ask_run(ask_job *job);

/* Which letters the keys of a batch have, if they are hashes. */
enum { DIGESTS_LOWER = 1, DIGESTS_UPPER = 2, DIGESTS_OTHER = 4 };
unsigned digests_letters(const cli_batch *batch);

/* Prints a note if the keys were probably asked for in the wrong case. */
void digests_note(const ask_job *job);

/* In the end, after an error of ask_open too; returns the status. */
int ask_close(ask_job *job, int status);

/* `count` and `get` themselves. `ability` is BLY_CAN_COUNT; `lacks`, "does not
 * count", what to say of a kind without it. */
int ask_numbers(const cli_command *self, const ask_how *how,
                uint64_t ability, const char *lacks, int argc, char **argv);

/* ==== prefix.c ========================================================== */

/* Lines with what stands before them. */
typedef struct ask_hole ask_hole;
typedef struct {
    char     *bytes;
    size_t    length, room;
    ask_hole *holes;            /* where numbers of lines belong             */
    size_t    n, holes_room;
} ask_text;

typedef struct {
    const bool *marks;          /* rows of them, BATCHES_MOST apart         */
    size_t      filters;        /* 0: no marks                               */
    const ask_place *places;    /* of each                                   */
    bool        groups;         /* their numbers stand there, not marks      */
    const char *name;           /* of the file; NULL: none                   */
    uint64_t    number;         /* of the line, in the chunk; 0: none        */
} ask_prefix;

/* Is anything to stand before lines? */
bool prefix_wanted(const ask_settings *s);

/* Append a line. False: no memory. */
bool prefix_line(ask_text *t, const ask_prefix *p, const bly_key *line);
bool prefix_room(ask_text *t, size_t more);
void prefix_clear(ask_text *t);
void prefix_free(ask_text *t);

/* Print it, in the turn of its chunk, which so many lines of the file come
 * before. */
bool prefix_print(const ask_text *t, uint64_t before, char terminator,
                  bool *unended);

/* A file as lines name it. */
const char *prefix_name(const char *path);

/* All files before this one, or all, are at their end: print their counts, if
 * that is wanted. */
void prefix_file(ask_job *job, const char *path);

/* ==== combine.c ========================================================= */

typedef struct {
    bly_status (*combine)(bly_filter *into, const bly_filter *other);
    const char *done;           /* "united" */
} cli_combination;

int combine_run(const cli_command *self, const cli_combination *how,
                int argc, char **argv);
extern const cli_option combine_options[];
extern const cli_option combine_level_options[];        /* of unite alone */

/* ==== inside.c ======================================================== */

/* Print what is inside a file of which container_is() says yes. CLI_OK or
 * CLI_ERROR. */
int inside_info(const char *path, bool json);

/* Look at all filters inside; how many there are. */
bly_status inside_check(const char *path, size_t *n);

/* ==== cmd_build.c ======================================================= */

typedef struct {
    const char *kind, *hash, *output, *key_file;
    cli_operands without;       /* files of other keys; names from malloc  */
    cli_operands within;        /* or of all keys, with the members        */
    cli_inputs  inputs;
    uint64_t    items, seed, jobs, memory;
    double      rate;           /* 0: the library's, 1 %                   */
    cli_how     how;
    bool        verbose, json, no_progress, force, overfill;
    bool        whole;          /* never save a filter that lacks keys     */
} cli_build;

/* Make a filter of the keys of the operands and save it: `build` itself. */
int build_make(const cli_command *self, cli_build *settings,
               const cli_operands *operands);

/* ==== cmd_kinds.c ======================================================= */

/* Returns true if the kind is one of the core. */
bool kinds_core(const bly_kind_info *kind);

/* Prints how many kinds are outside the core, and that --all lists them. */
void kinds_others(void);

/* Prints the abilities of a kind in words, except those of `without`; and the
 * facts about a kind as members of the JSON object that is open. */
void kinds_abilities(const bly_kind_info *kind, uint64_t without);
void kinds_json_members(const bly_kind_info *kind);

/* ==== cmd_*.c =========================================================== */

extern const cli_command cmd_build, cmd_add, cmd_remove, cmd_query, cmd_count,
    cmd_put, cmd_get, cmd_dedup, cmd_resize, cmd_info, cmd_check, cmd_plan,
    cmd_advise, cmd_kinds, cmd_formats, cmd_convert, cmd_list, cmd_unite,
    cmd_intersect, cmd_compare, cmd_sketch, cmd_diff, cmd_join, cmd_similar,
    cmd_serve,                  /* of programs/bloomery/serve/  */
    cmd_index, cmd_which, cmd_search;   /* of search/commands/ */

#endif
