/* filters.h - what programs that work on filter files share.
 *
 *      format.c    how filters are opened, and the format of --format
 *      secret.c    the secret of --key-file
 *      filter.c    locking and saving of filter files, facts about filters
 *      container.c  files that have filters inside
 *      textual.c   filters that are written as text
 *      wrapped.c   filters that are compressed, or text
 *      paged.c     filters that are used in their file
 *      load.c      a filter file -> a filter
 *      damage.c    whether a filter that is asked is whole
 *      estimate.c  how many different keys there are, about
 *      feed.c      keys of lines -> into a filter or out, and the report
 *      about.c     what there is to tell of a filter
 *      asked.c     the report on keys that were asked for
 *      made.c      the report on a filter that was made of filters
 *      costs.h     what `bloomery advise` and its benchmark have in common
 */
#ifndef FILTERS_FILTERS_H
#define FILTERS_FILTERS_H

#include "frame/lines.h"
#include "frame/tables.h"

/* ==== secret.c ========================================================== */

/* Of all that make or open filters. */
#define CLI_SECRET_OPTION(settings, key_file)                                 \
    { 0, "key-file", "FILE", CLI_TEXT, offsetof(settings, key_file), false,   \
      "The secret of filters whose hash is siphash: FILE holds 16 bytes, "    \
      "or 32 hexadecimal digits. Make one by '(umask 077; head -c 16 "        \
      "/dev/urandom > FILE)', and keep it: the filter does not hold it, and " \
      "nobody can use the filter without it." }

/* Read the secret; `path` NULL: there is none. CLI_GO or CLI_ERROR. */
int secret_read(const char *path);

/* Draws a secret for this run. CLI_GO or CLI_ERROR. */
int secret_draw(void);

/* Is this the file that the secret was read from? Then it is not to be
 * written. */
bool secret_is_in(const char *path);

/* What a bly_spec is to have, NULL or the secret. */
const void        *secret_bytes(void);

/* The hash function where the secret alone decides: siphash, or NULL, the
 * default. */
const char        *secret_hash(void);

/* ==== format.c ========================================================== */

/* Of all that open filters. */
#define CLI_FORMAT_OPTION(settings, format)                                   \
    { 0, "format", "NAME", CLI_TEXT, offsetof(settings, format), false,       \
      "The filters are another system's files, in this format, whatever "     \
      "their bytes look like: 'bloomery formats' lists them, and which of "   \
      "them need not be named. One that is only read may then be in "         \
      "hexadecimal digits, too." }

/* Of all that read filters. */
#define CLI_UNPACK_OPTION(settings, unpack_limit)                             \
    { 0, "unpack-limit", "SIZE", CLI_SIZE, offsetof(settings, unpack_limit),  \
      false, "The memory that a filter may take once it is decompressed or "  \
      "unpacked: 500M, 4G. Default: 1G, or 8 times the file where that is "   \
      "more, but at most half of the memory. A file that needs more is "      \
      "refused before it takes it." }

/* How filters are opened: with the secret, in the format and up to the limit
 * that were given. */
bly_options *format_how(void);

/* Is there such a format? CLI_GO or CLI_ERROR. */
int format_check(const char *name);

/* ==== container.c ======================================================= */

/* Has this file filters inside it? Not where a format is named. */
bool container_is(const char *path);

/* Open it (bloomery/container.h). NULL: stderr says why not. */
struct bly_container *container_open(const char *path);

/* The filters of a column of a Parquet file, or those of a table. */
typedef struct {
    bly_filter **filters;       /* NULL where any key may be there         */
    uint64_t    *numbers;       /* of their groups                         */
    size_t       n, room;
    const char  *group;         /* "row group"                             */
    uint64_t       as;            /* what their keys are                     */
} cli_inside;

/* Open them; `column` NULL: none was named. Unless it was said what keys are,
 * they have to be of one type. CLI_GO, or CLI_ERROR, if none of them can be
 * asked too; to be closed in both cases. */
int  container_read(cli_inside *out, const char *path, const char *column,
                    uint64_t as);
void container_close(cli_inside *inside);

/* ==== wrapped.c ========================================================= */

/* May this file, or standard input, "-", be a filter that comes in something:
 * compressed, as hexadecimal digits, or as a member of JSON? A pipe always may:
 * it can be read only once. */
bool wrapped_is(const char *path);

/* Read it; whether or not it does. NULL: stderr says why not. */
bly_filter *wrapped_open(const char *path);

/* Reads it to show what it is. A packed filter that takes more than
 * WRAPPED_SMALL bytes is not unpacked: *large is its header, and the filter
 * NULL. */
enum { WRAPPED_SMALL = 64 << 20 };
bly_filter *wrapped_show(const char *path, bly_header *large);

/* Reads it to see whether it is right. *status is the library's, or the
 * function returns false: the library was not asked, because what the filter
 * comes in is damaged. *filter is NULL after an error, and where a packed
 * filter did not have to be unpacked. A secret that nobody gave is no fault and
 * not reported: BLY_ESECRET. */
bool wrapped_check(const char *path, bly_status *status, bly_filter **filter);

/* ==== textual.c ========================================================= */

/* By its first n bytes, may it be text in which a filter is, or with --format
 * text in which there is none? */
bool textual_begins(const unsigned char *bytes, size_t n);

/* All of a file: make of the digits, or of the JSON, that it may be the bytes
 * that are meant, in their place; *format is "ethereum" then, if it is. What is
 * no text stays as it is. CLI_GO; CLI_ERROR: stderr says what is wrong. */
int textual_take(unsigned char *bytes, size_t *n, const char *path,
                 const char **format);

/* ==== filter.c ========================================================== */

/* Sets how all filters are opened from then on: the file of the secret and the
 * format, each of which may be NULL, and the limit of memory, 0 for the
 * default. CLI_GO or CLI_ERROR. */
int filter_how_read(const char *key_file, const char *format,
                    uint64_t unpack_limit);

/* The last library error, without the names of functions; of this thread, until
 * the next call. */
const char *filter_why(void);

/* " (--key-file)" if such an error is about the secret, or "". */
const char *filter_option(void);

/* Reports it, and returns CLI_ERROR. */
int filter_error(void);

/* Was there to be no false positive, and may there be one now? */
bool filter_broken(const bly_stat_t *stat);

/* Of all that write filters to a place that is named. */
#define CLI_FORCE_OPTION(settings, force)                                     \
    { 0, "force", NULL, CLI_FLAG, offsetof(settings, force), false,           \
      "Write the output even over a file that is no filter, which is refused "\
      "otherwise (empty files, devices and pipes are not)." }

/* Is it an index of many sets? */
bool filter_is_index(const char *path);

/* May `path` be written, as far as can be told before the work is done, and
 * is it none of `inputs`? Not over what is neither empty nor a filter, unless
 * by `force`. CLI_GO or CLI_ERROR. */
int filter_check_output(const char *path, bool force,
                        const cli_operands *inputs, size_t first);

/* The same for lines, which replace nothing but empty files without `force`;
 * NULL and "-" are standard output. */
int filter_check_lines(const char *path, bool force,
                       const cli_operands *inputs);

/* Of those that write lines there. */
#define CLI_LINES_OPTIONS(settings)                                           \
    { 'o', "output", "FILE", CLI_TEXT, offsetof(settings, output), false,     \
      "Write the lines to FILE instead of standard output ('-'). It gets its "\
      "name when it is complete, and cannot be one of the inputs." },         \
    { 0, "force", NULL, CLI_FLAG, offsetof(settings, force), false,           \
      "Let FILE be replaced if it is there already and not empty." }

/* Save to the file, or to stdout where `path` is "-". CLI_OK or CLI_ERROR. */
int filter_save(bly_filter *filter, const char *path);

/* The same in a format: "bloomery", or one of other systems. */
int filter_save_as(bly_filter *filter, const char *path,
                   const char *format);

/* The name of an output, for messages. */
const char *filter_place(const char *path);

/* Print how the processor is used, in lines "name: what". */
void filter_about(void);

/* Are these the first bytes of a filter? */
bool filter_knows(const void *bytes, size_t n);

/* Lock the file against other writers until the descriptor is closed. -1: an
 * error, and stderr says why. */
int filter_lock(const char *path);

/* Before the file is replaced, or after it was changed in its place: is it
 * still the one that was locked? A command that makes a new filter locks
 * nothing, and may have put it there. CLI_OK or CLI_ERROR. */
int filter_check_lock(int lock, const char *path);

/* Has the filter's kind this ability, BLY_CAN_…; and the kind of
 * "kind:option=value,…"? False for a kind that does not exist. */
bool filter_can(const bly_filter *filter, uint64_t ability);
bool filter_kind_can(const char *kind, uint64_t ability);

/* Refuse the filter of this file, whose kind `lacks` what the ability is about
 * ("does not count"), and name the kinds that have it; CLI_ERROR. */
int filter_cannot(const bly_filter *filter, const char *path,
                  const char *lacks, uint64_t ability);

/* Is there such a kind, and does none of its options look like another one?
 * Whether their values can be is left to bly_plan. CLI_GO or CLI_ERROR. */
int filter_kind_check(const char *kind);

/* Does the hash function, NULL for the default, look like no other one? What is
 * like none is left to the library. CLI_GO or CLI_ERROR. */
int filter_hash_check(const char *hash);

/* Verifies that the keys of two filters have one form, before they are united,
 * intersected or compared. With `assume`, a filter that states no form is
 * replaced by a copy that states the form of the other. CLI_GO or CLI_ERROR. */
int filter_same_form(bly_filter **a, const char *a_path, bly_filter **b,
                     const char *b_path, bool assume);

/* An ordinary file, which can be looked at and still be read from its start? */
bool filter_is_file(const char *path);

/* What the header of an ordinary file says; false: there is none. */
bool filter_peek(bly_header *header, const char *path);

/* Should so many threads add at once to a filter of this kind and size? */
bool filter_shares(const char *kind, uint64_t bytes, size_t jobs);

/* Is the kind one of the family that bly_kinds says, "sets"? */
bool filter_kind_of_family(const char *kind, const char *family);

/* Are its keys decimal numbers (hash decimal)? */
bool filter_numbers(const bly_filter *filter);

/* If they are, refuse the first of some keys that is none, whose hash is
 * UINT64_MAX. CLI_GO or CLI_ERROR. */
int filter_check_numbers(const bly_filter *filter, const bly_key *keys,
                         size_t n);

/* What is said of such a key, as the end of a sentence. */
extern const char filter_no_number[];

/* ==== about.c =========================================================== */

/* Of another system's filter its file is what there is, without our header. */
void about_bytes(bly_stat_t *stat);

/* How many bytes are attached, in a format that has a place for them. */
bool about_attached(size_t *bytes, const bly_filter *filter);

/* All that is told of a filter of this file, a JSON object; a part of it. */
void about_json(const bly_filter *filter, const bly_stat_t *stat,
                const char *file);
void about_geometry(const uint64_t geometry[4]);

/* ==== paged.c =========================================================== */

#define CLI_MEMORY_OPTION(settings, memory)                                   \
    { 'M', "memory", "SIZE", CLI_SIZE, offsetof(settings, memory), false,     \
      "Work in the file page by page, and collect keys in this much memory: "  \
      "64M, 1G (K, M, G, T are powers of 1024; 4K or more), 24 bytes for "    \
      "each. For kinds that consist of pages (buffered). A filter of more "   \
      "than half the memory is always worked on so, with a fourth of the "    \
      "memory; but never with more than four times its own size." }

/* Is so much for --memory possible here? CLI_GO, CLI_ERROR. */
int paged_memory_check(uint64_t memory);

/* Bytes. A filter of more than that is large. */
uint64_t paged_half_memory(void);

/* Does the file hold a large filter that consists of pages? Then it is asked
 * page by page, each of which is verified. `flags` are added to BLY_PAGED.
 * NULL: stderr says why. */
bool paged_large(const char *path);
bly_filter *paged_ask(const char *path, int flags);

/* Say why the file could not be opened; where its last writer has not closed
 * a paged one, what mends it. */
void paged_refuse(const char *path, bly_status status);

/* Is the file to be changed in its place, page by page: because memory for that
 * was asked for (not 0), it is large, or its last writer did not close it? */
bool paged_wanted(const char *path, uint64_t memory);
bly_filter *paged_open(const char *path, uint64_t memory);

/* Is the filter to be built in its file? */
bool paged_builds(const char *kind, const bly_spec *spec, const char *output,
                  uint64_t memory);
bly_filter *paged_create(const char *output, const char *kind,
                         const bly_spec *spec, uint64_t memory);

/* ==== estimate.c ======================================================== */

/* HyperLogLog, all zero at first. */
enum { ESTIMATE_REGISTERS = 1 << 14 };
typedef struct {
    unsigned char registers[ESTIMATE_REGISTERS];
} cli_estimate;

/* Can a filter of this kind be planned for the different keys? For others every
 * add may count. */
bool estimate_serves(const char *kind);

void estimate_add(cli_estimate *e, const uint64_t *hashes, size_t n);
void estimate_unite(cli_estimate *into, const cli_estimate *from);

/* How many different hashes there were, and how many keys to plan for, if so
 * many came in all: five standard deviations more, but not more than came. */
double   estimate_keys(const cli_estimate *e);
uint64_t estimate_capacity(const cli_estimate *e, uint64_t keys);

/* ==== load.c ============================================================ */

/* Maps the file, or reads it if it cannot be mapped; "-" is stdin. `flags` are
 * added to BLY_MAP. Returns NULL after an error, which stderr names. */
bly_filter *load_mapped(const char *path, int flags);

/* Reads the file into memory. Returns NULL as above. */
bly_filter *load_whole(const char *path, int flags);

/* ==== damage.c ========================================================== */

typedef struct { bool always, never; } cli_verify;

#define CLI_VERIFY_OPTIONS(settings, verify)                                  \
    { 0, "verify", NULL, CLI_FLAG, offsetof(settings, verify.always), false,  \
      "Read all of FILE and compare its checksum before the first answer, "   \
      "whatever its size, as is always done with up to 64 MiB." },            \
    { 0, "no-verify", NULL, CLI_FLAG, offsetof(settings, verify.never),       \
      false, "Look at the header of FILE only, and trust the rest." }

/* For the text of a command that asks a filter. */
#define CLI_VERIFY_TEXT                                                       \
    "FILE is verified, by a checksum of all of it, where that costs little: "  \
    "up to 64 MiB before the first answer. A larger one is verified while it " \
    "is asked, by a thread of its own, once a line has been asked for every "  \
    "25 bytes of it (of a pipe that is waited for, 4 seconds for every "       \
    "1e9 bytes do too); if it is damaged an error says at the end that the "   \
    "answers are void. After less work a note says that it was not verified. " \
    "--verify and --no-verify decide otherwise."

/* Not both. CLI_GO or CLI_ERROR. */
int damage_options(const cli_command *command, const cli_verify *want);

/* A filter to ask, mapped, and verified now or later; or NULL, and stderr says
 * why. The same, but large ones, or `paged`, page by page. */
bly_filter *damage_map(const char *path, const cli_verify *want);
bly_filter *damage_open(const char *path, const cli_verify *want, bool paged);

/* So many lines have been asked, and a pipe `waits` for more: verify the
 * filters from now on, if that is due. */
void damage_asked(uint64_t lines, bool waits);

/* Has damage been found so far, so that it is of no use to go on? */
bool damage_seen(void);

/* What there is to say at the end of asking, before the filters are freed:
 * `status`, or CLI_ERROR if one is damaged. */
int damage_verdict(bly_filter *const *filters, size_t n, int status);

/* ==== feed.c ============================================================ */

typedef struct {
    uint64_t keys, keyless, bytes;
    uint64_t absent, unsafe;    /* not removed, or without a new label     */
    double   seconds;
    const char *full;           /* before adding: what to do when it is full */
    bool     overfill;          /* before adding: take more than twice as many
                                   keys as planned                         */
    bool     over;              /* there were so many                      */
    bool     cut;               /* and adding stopped before the last      */
} cli_fed;

/* Do something with every key of the lines. CLI_OK, or CLI_ERROR when it has
 * said why. */
typedef int cli_feed(bly_filter *filter, cli_lines *lines, size_t jobs,
                     bool progress, cli_fed *out);

/* Add it. */
int feed_filter(bly_filter *filter, cli_lines *lines, size_t jobs,
                bool progress, cli_fed *out);

/* The same for a filter that was made or opened with BLY_SHARED. */
int feed_shared(bly_filter *filter, cli_lines *lines, size_t jobs,
                bool progress, cli_fed *out);

/* Remove it, if it is there. */
int feed_out(bly_filter *filter, cli_lines *lines, size_t jobs, bool progress,
             cli_fed *out);

/* Give it its label: of a kind that does not add, if it is there. */
int feed_put(bly_filter *filter, cli_lines *lines, size_t jobs, bool progress,
             cli_fed *out);

/* The labels that there may be; `most` is 0 if there are none. */
typedef struct { uint64_t least, most; } cli_labels;

/* The hashes of many keys, and their labels: all that is held of them. */
typedef struct {
    uint64_t *hashes, *labels;  /* from malloc; labels if there are any    */
    size_t    n, room;
    cli_labels may;             /* what labels there may be, if any        */
    bool      checks;           /* the labels are second hashes of the keys */
    const char     *kind;       /* what they are for, of which there is a  */
    const bly_spec *spec;       /* plan                                    */
} cli_hashes;

/* Keep the hash of every key, and its label. The caller frees the arrays, after
 * an error too. */
int feed_hashes(cli_hashes *hashes, cli_lines *lines, size_t jobs,
                bool progress, cli_fed *out);

/* What counting tells of the different keys; for this kind and spec, of which
 * there is a plan. */
typedef struct {
    const char     *kind;
    const bly_spec *spec;
    bool            estimated;  /* all keys are in the next one            */
    cli_estimate    different;
    uint64_t       *hashes;     /* of all keys, or NULL if there are many; from
                                   malloc, after an error too              */
    size_t          n, room;
} cli_counted;

/* Only count the keys, as feed_some likes them; and the different ones, if
 * `counted` is not NULL. */
int feed_count(cli_lines *lines, size_t jobs, bool progress, cli_fed *out,
               cli_counted *counted);

/* Say how many keys a filter is planned for, and why. */
void feed_planned(const cli_fed *fed, const cli_estimate *different);

/* There may be no lines; but if there are, is there a key in any of them?
 * CLI_GO or CLI_ERROR. */
int feed_some(const cli_fed *fed);

typedef struct {
    const char *output;         /* the name of the filter's file */
    const char *advice;         /* what to do when it is overfull */
    const char *overfill;       /* how to add all keys nevertheless        */
    bool kept;                  /* the file that was there before stays    */
    bool verbose, json;
    const cli_fed *others;      /* the keys of --without; NULL: none       */
    const cli_estimate *different;      /* of the keys; NULL: not counted  */
    uint64_t ranks, sent;       /* of bloomery-mpi, and the bytes that they
                                   sent; 0 ranks: not to be told           */
    double      rate;           /* that was asked for; 0: none was           */
    const char *kind;           /* that was asked for; NULL: none was        */
} cli_feed_report;

/* The note about a filter of no keys, whose number nobody gave. */
void feed_none(const bly_filter *filter);

/* Returns whether a filter holds more than twice as many keys as planned, of
 * which `over` in cli_fed is made. Kinds that grow or forget never do. */
bool feed_overfull(const bly_filter *filter);

#define CLI_OVERFILL_OPTION(settings, overfill)                               \
    { 0, "overfill", NULL, CLI_FLAG, offsetof(settings, overfill), false,     \
      "Add all keys, even if they are more than twice as many as planned. "   \
      "Without it this is an error, and the keys up to there are kept." }

/* After saving: prints what was asked for, and warnings. Returns CLI_OK, or
 * CLI_ERROR if adding stopped because the filter is over its limit. */
int feed_report(const bly_filter *filter, const cli_fed *fed,
                const cli_feed_report *how);

/* ==== What a filter is made for ========================================== */

#define CLI_RATE_OPTION(settings)                                             \
    { 'p', "rate", "RATE", CLI_RATE, offsetof(settings, rate), false,         \
      "The false-positive rate with that many keys: 0.01, 1%, 1e-3. "         \
      "Default: 1%." }

/* What a filter is made for, of those that make one from lines. */
#define CLI_SPEC_OPTIONS(settings)                                            \
    { 'n', "items", "ITEMS", CLI_ITEMS, offsetof(settings, items), false,     \
      "How many keys it should hold: 1000000, 1e6, 10k, 2.5M, 1G. Without it "\
      "the keys are counted first." },                                        \
    CLI_RATE_OPTION(settings),                                                \
    { 's', "seed", "SEED", CLI_SEED, offsetof(settings, seed), false,         \
      "The seed of the hash function. Default: 0." }

#define CLI_HASH_OPTION(settings, hash)                                       \
    { 'H', "hash", "HASH", CLI_TEXT, offsetof(settings, hash), false,         \
      "The hash function: xxh3 (the default), xxh64, murmur2, murmur3, "      \
      "fnv1a; siphash, with --key-file, for keys that an enemy may choose; "  \
      "decimal or identity for keys that are integers, as text or in up to "  \
      "8 bytes." }

/* ==== made.c ============================================================ */

#define CLI_MADE_OPTIONS(settings)                                            \
    { 'v', "verbose", NULL, CLI_FLAG, offsetof(settings, verbose), false,     \
      "Say on standard error how large the result is, how many keys are in "  \
      "it, and its false-positive rate." },                                   \
    { 0, "json", NULL, CLI_FLAG, offsetof(settings, json), false,             \
      "Print the same on standard output, as JSON." }

/* May JSON go to standard output beside the filter? CLI_GO or CLI_ERROR. */
int made_check(const cli_command *command, const char *output, bool json);

/* After saving: what was asked for; and, with the advice, a warning if it holds
 * more keys than it was planned for. Without advice there is none. */
void made_report(const bly_filter *filter, const char *output, bool verbose,
                 bool json, const char *advice);

/* ==== asked.c =========================================================== */

/* How many keys were asked for, and what was said of them. */
typedef struct {
    uint64_t asked, there, selected, keyless;
    uint64_t ranks, sent;       /* as in cli_feed_report                   */
} cli_asked;

void asked_json(const cli_asked *asked, const char *file, double planned_rate,
                double seconds);
void asked_text(const cli_asked *asked, double planned_rate, double seconds);

/* What one of several filters said of the keys. */
typedef struct {
    const char *file;
    const char *group;          /* what the file has one of for each of these:
                                   "row group"; NULL: it is the filter       */
    uint64_t    number;         /* of the group                              */
    uint64_t    there;
    double      planned_rate;
} cli_asked_one;

/* The same of all of them, in `all` of which keys are to be, or in any. */
void asked_many_json(const cli_asked *asked, const cli_asked_one *each,
                     size_t n, bool all, double seconds);
void asked_many_text(const cli_asked *asked, const cli_asked_one *each,
                     size_t n, bool all, double seconds);

#endif
