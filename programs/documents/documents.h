/* documents.h - the lines of a chunk, or the parts of its documents, of which
 * some are dropped. Shared by `dedup` and `bloomery-mpi dedup`.
 *
 * From the bottom up:
 *
 *     marked.c     the lines of a chunk: hashing and printing
 *     outputs.c    a file of output for each input
 *     grams.c      hashes of n-grams
 *     units.c      the parts of documents, in place of lines
 */
#ifndef DOCUMENTS_DOCUMENTS_H
#define DOCUMENTS_DOCUMENTS_H

#include "filters/filters.h"
#include "frame/batches.h"
#include "frame/bytes.h"
#include "frame/inputs.h"
#include "frame/work.h"

#include <bloomery/keyed.h>

/* ==== Results =========================================================== */

typedef struct {
    uint64_t lines, kept, keyless;
    uint64_t parts, repeated;   /* of documents; or documents with a text,
                                   and those that are similar to others    */
    uint64_t compared;          /* pairs of documents                      */
    unsigned passes;            /* over the input                          */
    uint64_t spilled;           /* bytes written to a temporary file       */
    double   rate;              /* maximum rate of the filter at its end   */
    bool     over;              /* whether the filter reached twice its plan */
} dedup_tally;

/* ==== marked.c ========================================================== */

/* The lines of a chunk. The arrays have `room` elements. */
typedef struct {
    size_t    n, room;
    uint64_t  keyless;          /* lines without a key                     */
    uint64_t  lacking;          /* those of them that are not skipped      */
    bly_key  *keys;             /* data is NULL for a line without a key   */
    uint64_t *hashes;           /* of the keys; 0 without a key            */
    size_t   *ends;             /* end of the line within the chunk        */
    bool     *drop;             /* not to be printed; initially false      */
    size_t    bytes;            /* of all keys, at most                    */
} dedup_rows;

/* Makes room for that many more rows. Returns false if out of memory. */
bool marked_room(dedup_rows *rows, size_t more);

/* Fills the rows with all lines of the worker's chunk. Keys are hashed by the
 * filter's function or, without a filter, by `keyed`. Returns false if out of
 * memory. */
bool marked_fill(dedup_rows *rows, cli_worker *worker, const bly_keyed *keyed,
                 const bly_filter *filter);
void marked_free(dedup_rows *rows);

/* Adds the keys to the filter in order. drop[i] becomes whether key i may have
 * been present before. Lines without a key are skipped. Returns CLI_GO, or
 * CLI_ERROR after reporting an error. */
int marked_add(dedup_rows *rows, bly_filter *filter);

/* Prints the rows from `from` up to but excluding `to`, each with a line
 * ending. Returns false if output fails. */
bool marked_print_some(const dedup_rows *rows, const cli_worker *worker,
                       size_t from, size_t to);

/* Prints the rows that are not dropped. Returns false if output fails. */
bool marked_print(const dedup_rows *rows, const cli_worker *worker);

/* ==== outputs.c ========================================================= */

/* The size of a file, or -1 if it is not there, and its last change. */
typedef struct {
    int64_t size, seconds;
    long    nanoseconds;
} outputs_stamp;

typedef struct {
    outputs_stamp stamp;        /* before the first input was read         */
    bool done;                  /* by an earlier run                       */
    bool made;                  /* by this run                             */
    bool skipped;               /* it is not text, and has no output       */
} outputs_input;

/* The outputs of inputs, which are written one after the other. */
typedef struct {
    const char *folder;
    char      **paths;          /* of the inputs                           */
    size_t      n, at;          /* the number of the current one           */
    const cli_found *found;     /* which of them are skipped               */
    outputs_input *inputs;      /* from calloc                             */
    size_t      noted;          /* that the journal of an earlier run names */
    bool        stale;          /* whether one changed before it was ended */
    bool        resumed;
    int         lock;           /* its journal, locked; or -1              */
    bool        open;           /* whether an output is                    */
    char       *name, *journal; /* from malloc                             */
} dedup_outputs;

/* How to write the outputs of the files from number `first` on. */
typedef struct {
    const char *folder;
    const char *options;        /* that decide what is written, each with a
                                   TAB after it, at a place of its own: empty
                                   if it is not given. Behind a vertical tab,
                                   a value that is compared and not shown  */
    bool        resume;         /* keep the outputs that an earlier run with
                                   the same options has finished           */
    bool        force;          /* replace other files                     */
    size_t      first;
    const cli_found *found;
} outputs_want;

/* Writes the size of a file and the time of its last change. Returns false if
 * the file is not there. */
bool outputs_identity(char *to, size_t room, const char *path);

/* Begins with the outputs. CLI_GO or CLI_ERROR; call outputs_close in both
 * cases. */
int outputs_open(dedup_outputs *outputs, const outputs_want *want,
                 const cli_operands *files);

/* Directs output to that of the input with this path, one of the operands'.
 * Does nothing if `outputs` is NULL. CLI_GO or CLI_ERROR. */
int outputs_turn(dedup_outputs *outputs, const char *path);

/* Finishes all outputs and removes the journal, or finishes none more if
 * `status` is CLI_ERROR. Returns `status`, or CLI_ERROR. */
int outputs_close(dedup_outputs *outputs, int status);

/* Closes after an error in the options, and removes the outputs that this run
 * has finished. Returns CLI_ERROR. */
int outputs_withdraw(dedup_outputs *outputs);

/* ==== grams.c =========================================================== */

typedef struct {
    const bly_keyed  *keyed;
    const bly_filter *filter;   /* if not NULL, it hashes                  */
} grams_hasher;

typedef struct {
    uint64_t *hashes;
    size_t    n, room;
} grams_words;

/* Returns whether a byte separates words. */
static inline bool grams_is_blank(unsigned char byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

uint64_t grams_hash(const grams_hasher *by, const void *key, size_t length);

/* Hashes the words of a text. Returns false if out of memory. */
bool grams_read(grams_words *words, const grams_hasher *by, bly_key text);

/* Computes the hashes of the n-grams of `length` words, of which there is at
 * least one. */
void grams_roll(const grams_words *words, size_t length, const grams_hasher *by,
                uint64_t *grams);

/* ==== units.c =========================================================== */

enum { UNITS_WORDS_MOST = 1000 };       /* of an n-gram */

typedef enum { UNITS_LINES, UNITS_PARAGRAPHS, UNITS_GRAMS } units_by;
typedef enum {
    UNITS_PARTS, UNITS_DOCUMENTS, UNITS_BOTH, UNITS_NONE
} units_remove;

typedef struct {
    units_by by;
    uint64_t words;             /* of an n-gram                            */
    double   overlap;           /* share that makes a line of n-grams, or a
                                   document, repeated                      */
    units_remove remove;
    double   similar;           /* documents are compared as sets, and are
                                   removed from this similarity on; 0: their
                                   parts are compared                      */
    const char *annotate;       /* the member for repeated parts, or NULL  */
    dedup_outputs *outputs;     /* a file for each input, or NULL          */
    size_t    known;            /* the first files, which are not printed  */
    uint64_t *known_rows;       /* what each of them has to compare        */
} units_want;

typedef struct {
    bly_key line;               /* as written, with its end if any         */
    bly_key text;               /* data NULL: it has none                  */
    size_t  parts;              /* the number of the next document's first */
} units_document;

typedef struct {
    size_t key, length;         /* of what is compared, in the text        */
    size_t end;                 /* of what is removed; it begins where the
                                   part before it ends                     */
    size_t rows;                /* the number of the next part's first     */
    double share;               /* of it that occurred before              */
    bool   repeated;
} units_part;

/* The documents of a chunk. */
typedef struct {
    units_document *documents;
    units_part     *parts;
    size_t    n, room, n_parts, parts_room;
    uint64_t  lacking;          /* documents without a text                */
    grams_words words;          /* of one part                             */
    size_t   *slots;            /* a table of the n-grams of one part      */
    uint64_t *grams;            /* the keys of rows that are n-grams       */
    bool     *again;            /* row i is not its part's first such one  */
    size_t    slots_room, gram_room;
    cli_bytes out;              /* a text without its repeated parts       */
} dedup_units;

/* Hashes of the parts or n-grams of documents, one document after another. */
typedef struct {
    uint64_t *elements;
    size_t    n, room;
} units_set;

/* Options about keys that would change the documents. */
#define UNITS_WHOLE                                                           \
    "count only-repeated only-unique field csv tsv blanks header ignore-case "\
    "upper trim as skip-blank comment"

/* `want.overlap` is -1 if --overlap is not given. */
#define UNITS_OPTIONS(settings, want, by, remove)                             \
    { 0, "by", "UNIT", CLI_TEXT, offsetof(settings, by), false,               \
      "Compare parts of documents: lines, paragraphs or ngrams=N. Documents " \
      "are the members --json-field or, with -0, the records. Paragraphs end "\
      "at blank lines. ngrams=N compares lines by their runs of N words.",    \
      .excludes = UNITS_WHOLE },                                              \
    { 0, "overlap", "SHARE", CLI_SHARE, offsetof(settings, want.overlap),     \
      false, "With --by: a line is repeated if this share of its different "  \
      "n-grams occurred before, and a document if this share of the bytes of "\
      "its parts is repeated, without line ends and blank lines. Default: "   \
      "80%.",                                                                 \
      .needs = "by" },                                                        \
    { 0, "remove", "WHAT", CLI_TEXT, offsetof(settings, remove), false,       \
      "With --by: remove repeated parts, and documents of which nothing is "  \
      "left (parts, the default), repeated documents whole (documents), "     \
      "both, or none.",                                                       \
      .needs = "by" }

/* Reads the values of --by and --remove, which may be NULL, and verifies these
 * and --overlap. want->annotate is set before. Returns CLI_GO, or CLI_ERROR
 * after reporting an error. */
int units_check(units_want *want, const char *by, const char *removing,
                const cli_how *how);

/* Fills the rows with the parts of all documents in the worker's chunk. Returns
 * false if out of memory. */
bool units_fill(dedup_units *units, dedup_rows *rows, cli_worker *worker,
                const units_want *want, const grams_hasher *by);
void units_free(dedup_units *units);

/* Appends the elements of a text, in any order, with repeats: its n-grams,
 * which may span lines, or its lines or paragraphs. A text without any is one
 * element as a whole. Returns false if out of memory. */
bool units_collect(dedup_units *units, units_set *set, const units_want *want,
                   const grams_hasher *by, bly_key text);

/* Prints bytes of a line, and the end that its file may lack. */
bool units_end(const void *from, size_t n, char end);

/* Begins a member want->annotate in units->out, whose value is an array.
 * Returns false if out of memory. */
bool units_begin_member(dedup_units *units, const units_want *want);

/* Ends the array, and prints a line, which is an object, with the member at its
 * end. Returns CLI_GO or CLI_ERROR. */
int units_print_member(dedup_units *units, const units_want *want,
                       bly_key line, char end);

/* Returns the number of the known file that a chunk is of; want->known: it is
 * of none. */
size_t units_known(const units_want *want, const cli_worker *worker);

/* Refuses known files that make nothing known. They have been read. Returns
 * CLI_GO or CLI_ERROR. */
int units_check_known(const units_want *want, const cli_lines *lines);

/* Prints the documents, without the parts whose rows are dropped, and counts
 * them. Returns CLI_GO or CLI_ERROR. */
int units_print(dedup_units *units, const dedup_rows *rows,
                const cli_worker *worker, const units_want *want,
                dedup_tally *tally);

#endif
