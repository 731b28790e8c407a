/* filters.h - declarations shared by programs that work on filter files.
 *
 *     format.c    how filters are opened, and --format
 *     secret.c    the secret of --key-file
 *     filter.c    locks and saves filter files, facts about filters
 *     container.c files that contain filters
 *     textual.c   filters written as text
 *     dumped.c    filters that a Valkey server dumped
 *     wrapped.c   filters that are compressed, text, objects or dumps
 *     paged.c     filters used in their file
 *     load.c      opens filter files
 *     typed.c     compares keys with the type that a format names
 *     damage.c    verifies filters that are queried
 *     estimate.c  estimates the number of distinct keys
 *     levels.c    markers for keys that lie within others
 *     feed.c      adds or removes the keys of lines, and reports
 *     about.c     a filter's properties as JSON
 *     asked.c     reports on queries
 *     made.c      reports on filters made from filters
 *     cheaper.c   which kinds would have taken less
 *     costs.h     shared by `bloomery advise` and its benchmark
 */
#ifndef FILTERS_FILTERS_H
#define FILTERS_FILTERS_H

#include "frame/lines.h"
#include "frame/tables.h"

#include <bloomery/container.h>
#include <bloomery/foreign.h>
#include <bloomery/nested.h>

/* ==== secret.c ========================================================== */

/* For commands that make or open filters. */
#define CLI_SECRET_OPTION(settings, key_file)                                 \
    { 0, "key-file", "FILE", CLI_TEXT, offsetof(settings, key_file), false,   \
      "The secret of filters with hash siphash: a file of 16 bytes or 32 "    \
      "hexadecimal digits. Make one with '(umask 077; head -c 16 "            \
      "/dev/urandom > FILE)' and keep it: without it, the filter is useless.",\
      .group = CLI_SAFETY }

/* Reads the secret; `path` NULL means none. Returns CLI_GO or CLI_ERROR. */
int secret_read(const char *path);

/* Draws a secret for this run. Returns CLI_GO or CLI_ERROR. */
int secret_draw(void);

/* Stores a number that tells secrets apart, from which the secret cannot be
 * computed; 0 without a secret. CLI_GO or CLI_ERROR. */
int secret_mark(uint64_t *mark);

/* Returns whether the secret was read from this file, which must then not be
 * overwritten. */
bool secret_is_in(const char *path);

/* Returns the secret for a bly_spec, or NULL. */
const void        *secret_bytes(void);

/* Returns the hash function that the secret implies: siphash, or NULL for the
 * default. */
const char        *secret_hash(void);

/* ==== format.c ========================================================== */

/* For commands that open filters. */
#define CLI_FORMAT_OPTION(settings, format)                                   \
    { 0, "format", "NAME", CLI_TEXT, offsetof(settings, format), false,       \
      "The format of another system's filter, for files whose bytes do not "  \
      "identify it. 'bloomery formats' lists all.",                           \
      .group = CLI_INPUT }

/* For commands that read filters. */
#define CLI_UNPACK_OPTION(settings, unpack_limit)                             \
    { 0, "unpack-limit", "SIZE", CLI_SIZE, offsetof(settings, unpack_limit),  \
      false, "The most memory for a decompressed or unpacked filter: 500M, "  \
      "4G. Default: 1G or 8 times the file, whichever is more, but at most "  \
      "half of the memory.",                                                  \
      .group = CLI_SAFETY }

/* Returns how to open filters: with the secret, format and limit given. */
bly_options *format_how(void);

/* Checks that the format exists. Returns CLI_GO or CLI_ERROR. */
int format_check(const char *name);

/* Returns another system's format with the name of this kind, or NULL. */
const bly_format_info *format_of(const char *kind);

/* ==== container.c ======================================================= */

/* Returns whether the file contains filters. False if a format is named. */
bool container_is(const char *path);

/* Opens it (bloomery/container.h). Returns NULL after reporting an error. */
bly_container *container_open(const char *path);

/* Does the same, but reports nothing. */
bly_status container_try(bly_container **out, const char *path);

/* Returns whether its filters are those of columns. */
bool container_has_columns(const bly_contents *is);

/* The filters of a column of a Parquet or ORC file, or of a table. */
typedef struct {
    bly_filter **filters;       /* NULL where any key may be present       */
    uint64_t    *numbers;       /* of their groups                         */
    size_t       n, room;
    const char  *group;         /* "row group"                             */
    uint64_t     groups;        /* how many; all numbers are less          */
    uint64_t       as;            /* class of their keys                     */
} cli_inside;

/* Opens them; `column` may be NULL. Unless a class of keys was given, they must
 * all be of one type. Returns CLI_GO, or CLI_ERROR, also if no filter can be
 * queried. Call container_close in both cases. */
int  container_read(cli_inside *out, const char *path, const char *column,
                    uint64_t as);
void container_close(cli_inside *inside);

/* ==== wrapped.c ========================================================= */

/* Returns whether the file, or "-", may hold a filter that is compressed, in
 * hexadecimal digits, a member of JSON, an object of Java or a dump of Valkey.
 * Always true for a pipe, which can be read only once. */
bool wrapped_is(const char *path);

/* Refuses a regular file that is wrapped, as it is to be changed. Returns
 * whether it did. */
bool wrapped_refuse(const char *path);

/* Reads it, wrapped or not. Returns NULL after reporting an error. */
bly_filter *wrapped_open(const char *path);

/* Reads it to describe it. A packed filter that takes more than WRAPPED_SMALL
 * bytes is not unpacked: *large is its header, and NULL is returned. */
enum { WRAPPED_SMALL = 64 << 20 };
bly_filter *wrapped_show(const char *path, bly_header *large);

/* Reads it to verify it. *status is the library's; false means that the library
 * was not asked, because the wrapping is damaged. *filter is NULL after an
 * error, and for a packed filter that need not be unpacked. A missing secret is
 * not an error and not reported: BLY_ESECRET. */
bool wrapped_check(const char *path, bly_status *status, bly_filter **filter);

/* ==== textual.c ========================================================= */

/* Returns whether the first n bytes may be text that contains a filter or, with
 * --format, text that does not. */
bool textual_begins(const unsigned char *bytes, size_t n);

/* Decodes digits or JSON in place, given a whole file; sets *format to that of
 * the JSON. Leaves bytes that are not text unchanged. Returns
 * CLI_GO, or CLI_ERROR after reporting an error. */
int textual_take(unsigned char *bytes, size_t *n, const char *path,
                 const char **format);

/* ==== javastream.c ====================================================== */

/* Returns whether the first bytes are those of an object of Java. */
bool javastream_begins(const unsigned char *bytes, size_t n);

/* Takes the filter of Spark out of an object of Java, in place, given a whole
 * file; sets *format to "spark" unless one is named. Leaves other bytes
 * unchanged. Returns CLI_GO, or CLI_ERROR after reporting an error. */
int javastream_take(unsigned char *bytes, size_t *n, const char *path,
                    const char **format);

/* ==== dumped.c ========================================================== */

/* Returns whether the first bytes are those of a Bloom filter that a Valkey
 * server has dumped. */
bool dumped_begins(const unsigned char *bytes, size_t n);

/* Makes format `valkey` of such a dump, given a whole file, in new memory; sets
 * *format to it unless one is named. Leaves other bytes unchanged. Returns
 * CLI_GO, or CLI_ERROR after reporting an error. */
int dumped_take(unsigned char **bytes, size_t *n, const char *path,
                const char **format);

/* ==== filter.c ========================================================== */

/* Sets how filters are opened from now on: the secret's file and the format,
 * each may be NULL, and the memory limit, 0 for the default. Returns CLI_GO or
 * CLI_ERROR. */
int filter_how_read(const char *key_file, const char *format,
                    uint64_t unpack_limit);

/* Returns this thread's last library error without names of functions, valid
 * until the next call. */
const char *filter_why(void);

/* Returns " (--key-file)" if that error is about the secret, else "". */
const char *filter_option(void);

/* Reports it and returns CLI_ERROR. */
int filter_error(void);

/* Returns whether an exact filter may now have false positives. */
bool filter_broken(const bly_info_t *stat);

/* For commands that write filters to a named place. */
#define CLI_FORCE_OPTION(settings, force)                                     \
    { 0, "force", NULL, CLI_FLAG, offsetof(settings, force), false,           \
      "Replace the output even if it is a file that is not a filter.",        \
      .group = CLI_SAFETY }

/* Returns whether the file is an index of many sets. */
bool filter_is_index(const char *path);

/* Checks, before the work is done, that `path` can be written and is not one of
 * `inputs`. Without `force`, only filters and empty files are replaced. Returns
 * CLI_GO or CLI_ERROR. */
int filter_check_output(const char *path, bool force,
                        const cli_operands *inputs, size_t first);

/* Does the same for lines, which only replace empty files without `force`; NULL
 * and "-" are standard output. */
int filter_check_lines(const char *path, bool force,
                       const cli_operands *inputs);

/* For commands that write lines. */
#define CLI_LINES_OPTIONS(settings)                                           \
    { 'o', "output", "FILE", CLI_TEXT, offsetof(settings, output), false,     \
      "Write the lines to FILE, which gets its name once it is complete. It " \
      "cannot be an input. Default: standard output, '-'.",                   \
      .group = CLI_OUTPUT },                                                  \
    { 0, "force", NULL, CLI_FLAG, offsetof(settings, force), false,           \
      "Replace FILE if it exists and is not empty.",                          \
      .group = CLI_SAFETY }

/* Saves to the file, or to stdout for "-". Returns CLI_OK or CLI_ERROR. */
int filter_save(bly_filter *filter, const char *path);

/* Saves a filter from the file `from` in a format: "bloomery", or another
 * system's. */
int filter_save_as(bly_filter *filter, const char *from, const char *path,
                   const char *format);

/* Returns the name of an output, for messages. */
const char *filter_place(const char *path);

/* Prints how the processor is used, in lines "name: value". */
void filter_about(void);

/* Returns whether these are the first bytes of a filter. */
bool filter_knows(const void *bytes, size_t n);

/* Locks the file against other writers until the descriptor is closed. Returns
 * -1 after reporting an error. */
int filter_lock(const char *path);

/* Checks that the file is still the locked one, before it is replaced or after
 * it was changed in place: a command that makes a new filter takes no lock.
 * Returns CLI_OK or CLI_ERROR. */
int filter_check_lock(int lock, const char *path);

/* Return whether the kind has this ability, BLY_CAN_…: the filter's, or that of
 * "kind:option=value,…". False for an unknown kind. */
bool filter_can(const bly_filter *filter, uint64_t ability);
bool filter_kind_can(const char *kind, uint64_t ability);

/* Does a kind grow by itself, at its planned rate? */
bool filter_kind_grows(const char *kind);

/* Refuses the filter, whose kind `lacks` an ability ("does not count"), and
 * lists the kinds that have it, or the core ones of many. Returns
 * CLI_ERROR. */
int filter_cannot(const bly_filter *filter, const char *path,
                  const char *lacks, uint64_t ability);

/* Checks that the kind exists and its options are not misspelled; bly_plan
 * checks their values. Returns CLI_GO or CLI_ERROR. */
int filter_kind_check(const char *kind);

/* Checks that the hash function (NULL for the default) is not misspelled; the
 * library reports unknown ones. Returns CLI_GO or CLI_ERROR. */
int filter_hash_check(const char *hash);

/* Returns whether files of this kind do not record all that decides the bits of
 * a key, so that the user must name options of the format. */
bool typed_is_told(const char *kind);

/* Returns whether keys of this form cannot be of the type that the option
 * `type` of another system's format names, and writes why, and what to do. */
enum { TYPED_ROOM = 240 };
bool typed_against(const char *kind, const uint64_t geometry[4], uint64_t form,
                   char *why, size_t room);

/* Refuses such keys for the filter in the file `path`. CLI_GO or CLI_ERROR. */
int typed_check(const bly_filter *filter, uint64_t form, const char *path);

/* Checks that the keys of two filters have the same form, before they are
 * combined or compared. With `assume`, a filter without a form is replaced by a
 * copy that states the other's, except for keys that lie within others, whose
 * markers it may lack. Returns CLI_GO or CLI_ERROR. */
int filter_same_form(bly_filter **a, const char *a_path, bly_filter **b,
                     const char *b_path, bool assume);

/* Returns whether it is a plain file, which can be examined and reread. */
bool filter_is_file(const char *path);

/* Reads the header of a plain file. Returns false if it has none. */
bool filter_peek(bly_header *header, const char *path);

/* Returns whether that many threads should add to such a filter concurrently.
 */
bool filter_shares(const char *kind, uint64_t bytes, size_t jobs);

/* Returns whether the kind belongs to a family of bly_kinds, such as "sets". */
bool filter_kind_of_family(const char *kind, const char *family);

/* Returns whether its keys are decimal numbers (hash decimal). */
bool filter_numbers(const bly_filter *filter);

/* If they are, refuses the first key that is not a number, whose hash is
 * UINT64_MAX. Returns CLI_GO or CLI_ERROR. */
int filter_check_numbers(const bly_filter *filter, const bly_key *keys,
                         size_t n);

/* The message about such a key, as the end of a sentence. */
extern const char filter_no_number[];

/* ==== about.c =========================================================== */

/* Corrects the size of another system's filter, whose file lacks our header. */
void about_bytes(bly_info_t *stat);

/* Returns whether the format can attach bytes, and how many are. */
bool about_attached(size_t *bytes, const bly_filter *filter);

/* Writes all properties of the file's filter as a JSON object; or a part of it.
 */
void about_json(const bly_filter *filter, const bly_info_t *stat,
                const char *file);

/* ==== paged.c =========================================================== */

#define CLI_MEMORY_OPTION(settings, memory)                                   \
    { 'M', "memory", "SIZE", CLI_SIZE, offsetof(settings, memory), false,     \
      "Work in the file page by page, and collect keys in this much memory, " \
      "24 bytes each: 64M, 1G; at least 4K. For kinds that consist of pages " \
      "(buffered). A filter of more than half the memory is always built this "\
      "way, with a fourth of the memory, but at most four times its own size.",\
      .group = CLI_SPEED }

/* Checks that --memory is possible here. Returns CLI_GO or CLI_ERROR. */
int paged_memory_check(uint64_t memory);

/* Returns whether the file holds a large filter of pages, which is then queried
 * page by page, and each page verified. */
bool paged_large(const char *path);
bly_filter *paged_ask(const char *path, int flags);

/* Reports why the file could not be opened and, if its last writer has not
 * closed it, how to repair it. */
void paged_refuse(const char *path, bly_status status);

/* Returns whether to change the file in place, page by page: because `memory`
 * was given (not 0), it is large, or its last writer has not closed it. */
bool paged_wanted(const char *path, uint64_t memory);
bly_filter *paged_open(const char *path, uint64_t memory);

/* Returns whether to build the filter in its file. */
bool paged_builds(const char *kind, const bly_spec *spec, const char *output,
                  uint64_t memory);
bly_filter *paged_create(const char *output, const char *kind,
                         const bly_spec *spec, uint64_t memory);

/* ==== estimate.c ======================================================== */

/* HyperLogLog; initialise to zero. */
enum { ESTIMATE_REGISTERS = 1 << 14 };
typedef struct {
    unsigned char registers[ESTIMATE_REGISTERS];
} cli_estimate;

/* Returns whether filters of this kind can be planned for the distinct keys.
 * For others every add may count. */
bool estimate_serves(const char *kind);

void estimate_add(cli_estimate *e, const uint64_t *hashes, size_t n);
void estimate_unite(cli_estimate *into, const cli_estimate *from);

/* Return the number of distinct hashes, and how many keys to plan for: five
 * standard deviations more, but no more keys than were read. */
double   estimate_keys(const cli_estimate *e);
uint64_t estimate_capacity(const cli_estimate *e, uint64_t keys);

/* ==== load.c ============================================================ */

/* Maps the file, or reads it if that is impossible; "-" is stdin. `flags` are
 * added to BLY_MAP. Returns NULL after reporting an error. */
bly_filter *load_mapped(const char *path, int flags);

/* Reads the file into memory. Returns NULL after reporting an error. */
bly_filter *load_whole(const char *path, int flags);

/* ==== damage.c ========================================================== */

typedef struct { bool always, never; } cli_verify;

#define CLI_VERIFY_OPTIONS(settings, verify)                                  \
    { 0, "verify", NULL, CLI_FLAG, offsetof(settings, verify.always), false,  \
      "Verify the checksum of all of FILE before the first answer. Default: " \
      "only up to 64 MiB.",                                                   \
      .group = CLI_SAFETY },                                                  \
    { 0, "no-verify", NULL, CLI_FLAG, offsetof(settings, verify.never),       \
      false, "Verify only the header of FILE and trust the rest.",            \
      .excludes = "verify",                                                   \
      .group = CLI_SAFETY }

/* For the help text of commands that query a filter. */
#define CLI_VERIFY_TEXT                                                       \
    "FILE is verified by its checksum where that costs little: up to 64 MiB " \
    "before the first answer. A larger file is verified by a thread of its "  \
    "own once a line has been queried for every 25 bytes of it, or while a "  \
    "pipe is waited for 4 seconds for every 1e9 bytes. If it is damaged, an " \
    "error at the end says that the answers are void. After less work a note "\
    "says that it was not verified. --verify and --no-verify override this."

/* A filter to ask, mapped, and verified now or later; or NULL, and stderr says
 * why. The same, but large ones, or `paged`, page by page. */
bly_filter *damage_map(const char *path, const cli_verify *want);
bly_filter *damage_open(const char *path, const cli_verify *want, bool paged);

/* Counts lines queried, or that a pipe `waits`, and starts verifying when that
 * is due. */
void damage_asked(uint64_t lines, bool waits);

/* Returns whether damage was found, so that going on is useless. */
bool damage_seen(void);

/* Ends verification, before the filters are freed. Returns `status`, or
 * CLI_ERROR if a filter is damaged. */
int damage_verdict(bly_filter *const *filters, size_t n, int status);

/* ==== feed.c ============================================================ */

typedef struct {
    uint64_t keys, bytes;
    uint64_t keyless, skipped;  /* lines without a key; blank, or comments  */
    uint64_t markers;           /* that counting found to be needed        */
    uint64_t absent, unsafe;    /* not removed, or without a new label     */
    uint64_t unlisted;          /* not removed, as no witness lists them   */
    double   seconds;
    const char *full;           /* advice if it is full; set before adding   */
    bool     overfill;          /* take more than twice as many keys as planned;
                                   set before adding                       */
    bool     over;              /* whether there were that many            */
    bool     cut;               /* whether adding stopped before the end   */
} cli_fed;

/* Handles every key of the lines. Returns CLI_OK, or CLI_ERROR after reporting
 * an error. */
typedef int cli_feed(bly_filter *filter, cli_lines *lines, size_t jobs,
                     bool progress, cli_fed *out);

/* Adds the keys. */
int feed_filter(bly_filter *filter, cli_lines *lines, size_t jobs,
                bool progress, cli_fed *out);

/* Adds the keys to a filter made or opened with BLY_SHARED. */
int feed_shared(bly_filter *filter, cli_lines *lines, size_t jobs,
                bool progress, cli_fed *out);

/* Removes the keys that are present. */
int feed_out(bly_filter *filter, cli_lines *lines, size_t jobs, bool progress,
             cli_fed *out);

/* Removes n keys, at most BATCHES_MOST, as far as they are present, and counts
 * the others in *out. Returns CLI_GO or CLI_ERROR. */
int feed_out_keys(bly_filter *filter, const bly_key *keys, size_t n,
                  cli_fed *out);

/* Labels the keys; if the kind does not add, those that are present. */
int feed_put(bly_filter *filter, cli_lines *lines, size_t jobs, bool progress,
             cli_fed *out);

/* The levels of keys that lie within others (bloomery/nested.h). */
typedef struct { bool any[BLY_NESTED_LEVELS]; } cli_levels;

/* Notes the levels of n keys of a form, and unites them. */
void levels_note(cli_levels *levels, uint64_t form, const bly_key *keys,
                 size_t n);
void levels_unite(cli_levels *into, const cli_levels *other);

/* Writes the markers of the levels. Returns their number. */
typedef struct {
    unsigned char rooms[BLY_NESTED_LEVELS][2];
    bly_key       keys[BLY_NESTED_LEVELS];
} cli_markers;
size_t levels_markers(cli_markers *out, const cli_levels *levels);

/* The range of labels; `most` is 0 if there are none. */
typedef struct { uint64_t least, most; } cli_labels;

/* The hashes of many keys, and their labels. */
typedef struct {
    uint64_t *hashes, *labels;  /* from malloc; labels may be NULL         */
    size_t    n, room;
    cli_labels may;             /* range of the labels, if any             */
    bool      checks;           /* whether labels are second hashes         */
    const char     *kind;       /* what they are for: a valid              */
    const bly_spec *spec;       /* combination                             */
} cli_hashes;

/* Keeps the hash and label of every key. The caller frees the arrays, after an
 * error too. */
int feed_hashes(cli_hashes *hashes, cli_lines *lines, size_t jobs,
                bool progress, cli_fed *out);

/* The result of counting distinct keys, for this kind and spec, which must be
 * plannable. */
typedef struct {
    const char     *kind;
    const bly_spec *spec;
    bool            estimated;  /* whether `different` covers all keys     */
    cli_estimate    different;
    uint64_t       *hashes;     /* of all keys, or NULL if there are many; from
                                   malloc, after an error too              */
    size_t          n, room;
} cli_counted;

/* Counts the keys and, if `counted` is not NULL, the different ones. CLI_GO,
 * CLI_ERROR, or the error of feed_some. */
int counting_run(cli_lines *lines, size_t jobs, bool progress, cli_fed *out,
                 cli_counted *counted);

/* ==== feed.c, the report ================================================ */

/* Reports how many keys a filter is planned for, and why. */
void feed_planned(const cli_fed *fed, const cli_estimate *different);

/* Refuses input whose lines have no keys; no lines at all are accepted. Returns
 * CLI_GO or CLI_ERROR. */
int feed_some(const cli_fed *fed);

typedef struct {
    const char *output;         /* name of the filter's file */
    const char *advice;         /* advice for an overfull filter */
    const char *overfill;       /* how to add all keys nevertheless        */
    bool kept;                  /* whether the previous file is kept       */
    bool verbose, json;
    const cli_fed *others;      /* the keys of --without, or NULL          */
    const cli_estimate *different;      /* of the keys; NULL if not counted */
    uint64_t ranks, sent;       /* of bloomery-mpi, and the bytes they sent; 0
                                   ranks if not to be reported             */
    double      rate;           /* as requested; 0 if it was not             */
    const char *kind;           /* as requested; NULL if it was not          */
} cli_feed_report;

/* Prints the note about an empty filter whose capacity was not given. */
void feed_none(const bly_filter *filter);

/* Returns whether a filter holds more than twice as many keys as planned, which
 * sets `over` in cli_fed. Never true for kinds that grow or forget. */
bool feed_overfull(const bly_filter *filter);

#define CLI_OVERFILL_OPTION(settings, overfill)                               \
    { 0, "overfill", NULL, CLI_FLAG, offsetof(settings, overfill), false,     \
      "Add all keys, even if they are more than twice as many as planned, "   \
      "which is an error otherwise.",                                         \
      .group = CLI_SAFETY }

/* Prints the report and warnings, after saving. Returns CLI_OK, or CLI_ERROR if
 * adding stopped at the limit. */
int feed_report(const bly_filter *filter, const cli_fed *fed,
                const cli_feed_report *how);

/* ==== Specifications of filters ========================================== */

/* The rate of -p if it is not given; the setting is then 0 in commands that
 * distinguish the two. */
#define CLI_RATE_DEFAULT 0.01

#define CLI_RATE_OPTION(settings)                                             \
    { 'p', "rate", "RATE", CLI_RATE, offsetof(settings, rate), false,         \
      "The false-positive rate: 0.01, 1%, 1e-3. Default: 1%." }

/* The specification of a filter, for commands that make one from lines. */
#define CLI_SPEC_OPTIONS(settings)                                            \
    { 'n', "items", "ITEMS", CLI_ITEMS, offsetof(settings, items), false,     \
      "The number of keys to plan for: 1000000, 1e6, 10k, 2.5M, 1G. "         \
      "Default: the keys are counted first." },                               \
    CLI_RATE_OPTION(settings),                                                \
    { 's', "seed", "SEED", CLI_SEED, offsetof(settings, seed), false,         \
      "The seed of the hash function. Default: 0." }

#define CLI_HASH_OPTION(settings, hash)                                       \
    { 'H', "hash", "HASH", CLI_TEXT, offsetof(settings, hash), false,         \
      "The hash function: xxh3 (the default), xxh64, murmur2, murmur3, "      \
      "fnv1a; siphash, with --key-file, for keys that an enemy may choose; "  \
      "decimal or identity for keys that are integers." }

/* ==== made.c ============================================================ */

#define CLI_MADE_OPTIONS(settings)                                            \
    { 0, "verbose", NULL, CLI_FLAG, offsetof(settings, verbose), false,       \
      "Print the size, the number of keys and the false-positive rate of "    \
      "the result on standard error.",                                        \
      .group = CLI_OUTPUT },                                                  \
    { 0, "json", NULL, CLI_FLAG, offsetof(settings, json), false,             \
      "Print the same on standard output, as JSON.",                          \
      .group = CLI_OUTPUT }

/* Checks that JSON and the filter do not both go to standard output. Returns
   CLI_GO or CLI_ERROR. */
int made_check(const cli_command *command, const char *output, bool json);

/* Prints the report, after saving; and a warning with the advice, unless NULL,
 * if the filter holds more keys than planned. */
void made_report(const bly_filter *filter, const char *output, bool verbose,
                 bool json, const char *advice);

/* Warns that a filter has a higher rate than planned because it was united. */
void made_warn_united(const bly_info_t *stat);

/* ==== cheaper.c ========================================================= */

/* Print what would take a quarter less for a filter's keys: one core kind with
 * the same abilities that knows their number, and one that is built from them;
 * or, while it is less than half full, another size. As lines of `info`, and as
 * notes. */
void cheaper_text(const bly_info_t *stat);
void cheaper_note(const bly_info_t *stat, const char *output);

/* ==== asked.c =========================================================== */

/* The number of keys queried, and the answers. */
typedef struct {
    uint64_t asked, there, selected, keyless;
    uint64_t lines;             /* all, also without a key; set by query    */
    uint64_t unlisted;          /* not there after all, by --verify-with    */
    bool     listed;            /* whether that was used                    */
    uint64_t ranks, sent;       /* as in cli_feed_report                   */
} cli_asked;

void asked_json(const cli_asked *asked, const char *file, double planned_rate,
                double seconds);
void asked_text(const cli_asked *asked, double planned_rate, double seconds);

/* The answers of one of several filters. */
typedef struct {
    const char *file;
    const char *group;          /* its group's noun, "row group"; NULL if it is
                                   the whole filter                          */
    uint64_t    number;         /* of the group                              */
    uint64_t    there;
    double      planned_rate;
} cli_asked_one;

/* Writes the same for several filters; keys must be in `all`, or in any. */
void asked_many_json(const cli_asked *asked, const cli_asked_one *each,
                     size_t n, bool all, double seconds);
void asked_many_text(const cli_asked *asked, const cli_asked_one *each,
                     size_t n, bool all, double seconds);

#endif
