/* command.h - declarations shared by the files of the command `bloomery`.
 *
 * The command is linked to the shared library alone.
 *
 *      disjoint.c  two lists of keys that must have none in common
 *      within.c    a list of keys, some of which are members
 *      change.c    shared by `add`, `remove` and `put`
 *      exact/      exact comparison of keys: `dedup`, `join`, and
 *                  `remove --witness`
 *      ask.c       shared by `query`, `count` and `get`
 *      prefix.c    prefixes of the lines that `query` prints
 *      combine.c   shared by `unite` and `intersect`
 *      inside.c    `info` and `check` for files with filters inside
 *      indexed.c   `info` for indexes
 *      sketches.h  shared by `sketch` and `diff`
 *      cmd_*.c     one subcommand each
 *      topics.c    texts for `bloomery help TOPIC`
 *      main.c      the table of `bloomery`
 */
#ifndef BLOOMERY_COMMAND_H
#define BLOOMERY_COMMAND_H

#include "filters/filters.h"
#include "frame/batches.h"
#include "frame/inputs.h"
#include "frame/progress.h"
#include "frame/work.h"

#include <stdatomic.h>
#include <sys/types.h>
#include <time.h>

/* ==== disjoint.c ======================================================== */

/* The sources of the keys behind two lists of hashes. */
typedef struct {
    const cli_how      *how;
    const cli_operands *members, *others;
} cli_disjoint;

/* Drops repeats among the first *members hashes, which stay in front, and among
 * the rest. CLI_OK; CLI_ERROR: a hash is in both lists; stderr names its
 * key. */
int disjoint_run(cli_hashes *hashes, size_t *members,
                 const cli_disjoint *lists);

/* The place where a key was found; path NULL: not found. */
typedef struct {
    const char *path;
    uint64_t    line;
    size_t      length;
    char        text[41];       /* its beginning, safe to print */
} disjoint_found;

/* Searches these files for the key of a hash; a pipe cannot be read again. */
void disjoint_find(disjoint_found *out, const cli_disjoint *lists,
                   const cli_operands *operands, const cli_hashes *of,
                   uint64_t hash);

/* Sorts hashes, drops repeats, and returns how many are left. */
size_t disjoint_distinct(uint64_t *hashes, size_t n);

/* ==== within.c ========================================================== */

/* Drops repeats among the first *members hashes. The hashes after them are a
 * list that must contain all members: only its other hashes are kept, each
 * once. CLI_OK; CLI_ERROR: a member is missing from the list; stderr names its
 * key. */
int within_run(cli_hashes *hashes, size_t *members, const cli_disjoint *lists);

/* ==== change.c ========================================================== */

typedef struct {
    cli_feed   *feed;
    uint64_t    ability;        /* BLY_CAN_ADD                            */
    const char *lacks;          /* message for a kind without it */
    const char *missing;        /* message for a missing FILE */
    uint64_t    label;          /* default column of labels; 0: none */
} cli_change;

int change_run(const cli_command *self, const cli_change *how, int argc,
               char **argv);
extern const cli_option change_remove_options[], change_add_options[],
    change_label_options[];

/* ==== exact/witness.c =================================================== */

/* Keys to remove, and the exact list that says which of them are present. */
typedef struct {
    const cli_how      *how;
    const cli_operands *keys;           /* from number `first` on            */
    size_t              first;
    const cli_how      *list_how;
    const cli_operands *list;
    size_t              jobs;
    bool                progress;
} cli_witness;

/* Removes each key at most as often as the list has it. CLI_OK or CLI_ERROR. */
int witness_out(bly_filter *filter, const cli_witness *want, cli_fed *out);

/* ==== listed.c ========================================================== */

/* A sorted list of keys, in a file. A piece begins at a line, whose first eight
 * bytes are a number that compares like them. */
typedef struct { uint64_t at, first; } cli_listed_piece;
typedef struct {
    const char *path;
    char        end;            /* of its lines                              */
    int         fd;
    off_t       size;           /* of the file when it was opened            */
    struct timespec changed;
    cli_listed_piece *pieces;   /* and one at the end of the list            */
    size_t      n;
    atomic_bool failed;
} cli_listed;

/* Opens a list of keys in a form, and verifies its order, and that its lines
 * are written as keys are compared. CLI_GO or CLI_ERROR; call listed_close in
 * both cases. */
int  listed_open(cli_listed *list, const char *path, const cli_how *how);
void listed_close(cli_listed *list);

/* Returns whether a key is in the list. True as well for keys that no line can
 * be, and if the list cannot be read, which listed_verdict reports:
 * CLI_ERROR. */
bool listed_has(cli_listed *list, bly_key key);
int  listed_verdict(const cli_listed *list);

/* ==== ask.c ============================================================= */

typedef struct {
    cli_how  how;
    cli_inputs inputs;
    cli_operands filters;       /* given by -F; names from malloc */
    cli_operands asked;         /* their names, or FILE */
    size_t   first;             /* index of the operand KEYS: 1, with -F 0 */
    uint64_t jobs, least, unpack_limit;
    const char *key_file, *format, *column, *list;
    bool     invert, count, quiet, summary, json, no_progress, paged, all,
             mark, groups, names, numbers, buffered, assume;
    cli_verify verify;
} ask_settings;

/* Options that all of them share; they end an option table. */
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
    /* Looks up keys and their numbers. */
    bly_status (*ask)(const bly_filter *filter, const bly_keys *keys,
                      bool *there, uint64_t *numbers);
    enum {
        ASK_LINES,              /* no numbers: print lines unchanged         */
        ASK_LABELS,             /* print present keys with their number      */
        ASK_COUNTS              /* print lines that count at least `least`:
                                   0 if the key is absent, UINT64_MAX if
                                   there is no bound                         */
    } answer;
    const char *doing;          /* "counting"                                */
    const char *words;          /* in front of a header: "count\t"           */
} ask_how;

typedef struct {
    cli_asked keys;
    uint64_t  sum, unbounded;   /* sum of the numbers                        */
    uint64_t  often;            /* lines whose count is `least` or more      */
    uint64_t  groupless;        /* keys without the group they need          */
    unsigned  letters;          /* DIGESTS_… of the first keys in batches    */
} ask_tally;

/* The file whose lines are printed or counted. */
typedef struct {
    size_t   at;                /* index in the list of files                */
    uint64_t lines, selected;   /* so far                                    */
    bool     failed;            /* it cannot be read                         */
} ask_file;

/* The place of a filter. */
typedef struct {
    const char *path;
    size_t      file;           /* index in the order of -F                  */
    const char *group;          /* "row group"; NULL: the whole file         */
    uint64_t    number;
    size_t      row;            /* row of a batch's answers                  */
} ask_place;

/* A query; the fields after `operands` are filled while it runs. */
typedef struct {
    const ask_how    *how;
    ask_settings      want;
    cli_operands      operands;
    size_t            n;        /* filters: one per file, or more for a file
                                   that contains several                     */
    size_t            room;
    size_t            rows;     /* rows of a batch's answers, if n > 1       */
    bly_filter      **filters;  /* NULL: any key may be there                */
    ask_place        *places;   /* the place of each                         */
    const ask_place  *grouped;  /* of the first whose keys have groups       */
    uint64_t          grouping; /* how they are written, as in its geometry  */
    uint64_t         *there;    /* keys that are perhaps in each             */
    size_t            files;    /* opened files                              */
    bool              inside;   /* a file contains filters                   */
    uint64_t            form;     /* form of all files' keys */
    const char         *form_of;  /* the first file with it */
    cli_listed        list;     /* of --verify-with                          */
    cli_lines         lines;
    ask_tally         tally;
    ask_file          file;
    double            seconds;
    bool              unended;  /* the last line printed has no newline      */
    bool              failed;   /* a file could not be read                  */
    bool              stopped;  /* by an error: there are no totals          */
    bool              streams;  /* lines come from a pipe or the like        */
} ask_job;

/* Reads options and operands, and opens the filters. CLI_GO, or the exit
 * status. */
int ask_open(const cli_command *self, int argc, char **argv, ask_job *job);

/* Looks up all keys and prints the results. CLI_OK, CLI_NONE if no key is there
 * (`invert`: if all are), or CLI_ERROR. After damage_seen the sums are void. */
int ask_run(ask_job *job);

/* Letters of a batch's keys, if the keys are hashes in hexadecimal. */
enum { DIGESTS_LOWER = 1, DIGESTS_UPPER = 2, DIGESTS_OTHER = 4 };
unsigned digests_letters(const cli_batch *batch);

/* Finds the filters whose keys need a group in front of them, and returns how
 * many keys of a batch lack it. */
void     digests_find_groups(ask_job *job);
uint64_t digests_groupless(const ask_job *job, const cli_batch *batch);

/* Prints a note about such keys; and one if no more keys were found than false
 * positives explain, and they were probably made in another way than those of
 * the filter. */
void digests_note(const ask_job *job);

/* Frees everything, also after an error of ask_open; returns the status. */
int ask_close(ask_job *job, int status);

/* Runs `count` or `get`. `ability` is BLY_CAN_COUNT or the like; `lacks`, "does
 * not count", is the message for a kind without it. */
int ask_numbers(const cli_command *self, const ask_how *how,
                uint64_t ability, const char *lacks, int argc, char **argv);

/* ==== prefix.c ========================================================== */

/* Lines with their prefixes. */
typedef struct ask_hole ask_hole;
typedef struct {
    char     *bytes;
    size_t    length, room;
    ask_hole *holes;            /* places for line numbers                   */
    size_t    n, holes_room;
} ask_text;

typedef struct {
    const bool *marks;          /* rows, BATCHES_MOST apart                  */
    size_t      filters;        /* 0: no marks                               */
    const ask_place *places;    /* of each filter                            */
    bool        groups;         /* print group numbers instead of marks      */
    const uint16_t *levels;     /* instead of marks, print what the key lies
                                   within: rows, BATCHES_MOST apart, or NULL */
    uint64_t    form;           /* of the key                                */
    bly_key     key;
    bool        unread;         /* it cannot be read: print ? for a mark     */
    const char *name;           /* of the file; NULL: no name                */
    uint64_t    number;         /* of the line in its chunk; 0: no number    */
} ask_prefix;

/* Returns whether lines have a prefix. */
bool prefix_wanted(const ask_settings *s);

/* Appends a line. Returns false if memory is short. */
bool prefix_line(ask_text *t, const ask_prefix *p, const bly_key *line);
bool prefix_room(ask_text *t, size_t more);
void prefix_clear(ask_text *t);
void prefix_free(ask_text *t);

/* Prints the lines of a chunk when it is its turn; `before` is the number of
 * lines of the file before the chunk. */
bool prefix_print(const ask_text *t, uint64_t before, char terminator,
                  bool *unended);

/* Returns the name of a file as printed in front of lines. */
const char *prefix_name(const char *path);

/* Prints the counts, if wanted, of all files before this one, or of all. */
void prefix_file(ask_job *job, const char *path);

/* ==== combine.c ========================================================= */

typedef struct {
    bly_status (*combine)(bly_filter *into, const bly_filter *other);
    const char *done;           /* "united" */
} cli_combination;

int combine_run(const cli_command *self, const cli_combination *how,
                int argc, char **argv);
extern const cli_option combine_options[];
extern const cli_option combine_level_options[];        /* only for unite */

/* ==== inside.c ======================================================== */

/* Prints the contents of a file that container_is() accepts. CLI_OK or
 * CLI_ERROR. */
int inside_info(const char *path, bool json);

/* Checks all filters inside a file; *n is their number. */
bly_status inside_check(const char *path, size_t *n);

/* ==== indexed.c ========================================================= */

/* Prints what an index of many sets is, and verifies its rows before that if
 * `verify` is set. CLI_OK or CLI_ERROR. */
int indexed_info(const char *path, bool json, bool verify);

/* ==== cmd_build.c ======================================================= */

typedef struct {
    const char *kind, *hash, *output, *key_file;
    cli_operands without;       /* files of other keys; names from malloc */
    cli_operands within;        /* files of all keys, members included */
    const char *coverage;       /* file of the logs of a clubcard, or NULL */
    cli_inputs  inputs;
    uint64_t    items, seed, jobs, memory;
    double      rate;           /* 0: the library's default, 1 % */
    cli_how     how;
    bool        verbose, json, no_progress, force, overfill;
    bool        whole;          /* never save a filter that lacks keys */
} cli_build;

/* Runs `build`: makes a filter of the keys of the operands and saves it. */
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

/* ==== topics.c ========================================================== */

extern const cli_topic topics[];

/* ==== cmd_*.c =========================================================== */

extern const cli_command cmd_build, cmd_add, cmd_remove, cmd_query, cmd_count,
    cmd_put, cmd_get, cmd_dedup, cmd_resize, cmd_info, cmd_check, cmd_plan,
    cmd_advise, cmd_kinds, cmd_formats, cmd_convert, cmd_list, cmd_unite,
    cmd_intersect, cmd_overlap, cmd_sketch, cmd_diff, cmd_join, cmd_similar,
    cmd_serve,                  /* programs/bloomery/serve/ */
    cmd_index, cmd_which, cmd_search;   /* search/commands/ */

#endif
