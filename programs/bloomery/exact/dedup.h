/* dedup.h - declarations shared by commands that compare keys exactly.
 *
 * From the bottom up, above programs/documents:
 *
 *     spill.c      streams of bytes, in memory or in a temporary file
 *     hugepages.c  memory in large pages
 *     keytable.c   keys in memory, compared byte by byte
 *     sorted.c     the keys of full tables, sorted, in a temporary file
 *     decide.c     parts of the keys, each decided with its own table
 *     stream.c     exact deduplication in one pass
 *     stamp.c      checks that files read again are unchanged
 *     held.c       prints or writes lines that were counted
 *     exact.c      exact deduplication in two or three passes
 *     filtered.c   deduplication with a filter
 *     minhash.c    hashes that similar sets share
 *     keptsets.c   sets of documents, found by such hashes
 *     similar.c    removal of similar documents
 *     cmd_dedup.c  the command
 *     join.c       exact semi-joins and anti-joins
 *     cmd_join.c   the command
 *     witness.c    removes the keys that an exact list has (command.h)
 */
#ifndef CLI_DEDUP_H
#define CLI_DEDUP_H

#include "bloomery/command.h"
#include "documents/documents.h"
#include "frame/bytes.h"

#include <bloomery/keyed.h>

#include <pthread.h>
#include <sys/stat.h>

/* ==== spill.c =========================================================== */

/* Creates an unlinked file in TMPDIR, or /tmp. Returns -1 after reporting an
 * error, which suggests more memory if `memory` is set. */
int spill_file(bool memory);

/* Appends to the file. Returns CLI_GO, or CLI_ERROR as above. */
int spill_write(int fd, const void *data, size_t n, bool memory);

/* Reads n bytes at offset `at`. Returns 0, or errno for spill_unread. */
int spill_read_file(int fd, void *data, size_t n, uint64_t at);
int spill_unread(int error);

/* Storage for the blocks of streams. */
typedef struct {
    size_t   block;             /* bytes per block                         */
    uint64_t most;              /* maximum number of blocks in memory      */
    uint64_t held;              /* blocks in memory now                    */
    int      fd;                /* file with all other blocks; -1 if none  */
    uint64_t used;              /* block places used in the file           */
    uint64_t *spare;            /* free places among them                  */
    size_t   spares, spare_room;
    bool     failed;            /* whether an error was reported           */
    pthread_mutex_t lock;       /* guards `held` and the following fields  */
} spill_store;

typedef struct {
    unsigned char *memory;      /* NULL if the block is in the file        */
    uint64_t       place;
} spill_block;

/* A sequence of bytes, written once and then read. */
typedef struct {
    spill_block   *blocks;      /* complete blocks                         */
    size_t         n, room;
    unsigned char *open;        /* the last block, incomplete              */
    size_t         used;
} spill_stream;

/* A read position. */
typedef struct {
    spill_store        *store;
    const spill_stream *stream;
    size_t              next;           /* index of the next block         */
    const unsigned char *at, *end;      /* rest of the current block       */
    unsigned char      *buffer;         /* holds blocks read from the file */
    unsigned char      *joined;         /* holds data that spans blocks    */
    size_t              joined_room;
} spill_reader;

void spill_open(spill_store *store, size_t block, uint64_t memory);
void spill_close(spill_store *store);
/* Returns whether an operation failed; the error has been reported. */
bool spill_failed(spill_store *store);

/* Appends to a stream. Returns false after reporting an error. A store may be
 * used by many threads, but each stream by one at a time. */
bool spill_append(spill_store *store, spill_stream *stream, const void *data,
                  size_t n);
/* Ends writing, and releases unused memory. */
void spill_finish(spill_stream *stream);
/* Releases the blocks of a stream. */
void spill_drop(spill_store *store, spill_stream *stream);

void spill_read(spill_reader *reader, spill_store *store,
                const spill_stream *stream);
void spill_read_end(spill_reader *reader);
/* Returns the next n bytes, valid until the next call. Returns NULL if fewer
 * are left or reading fails (see spill_failed). */
const unsigned char *spill_get(spill_reader *reader, size_t n);

/* A number takes seven bits per byte, and as many bytes as it needs. */
enum { SPILL_NUMBER = 10 };
size_t spill_number(unsigned char out[SPILL_NUMBER], uint64_t value);
bool spill_get_number(spill_reader *reader, uint64_t *value);

/* ==== hugepages.c ======================================================= */

/* Like malloc, realloc and free, but the caller passes the old size. */
void *hugepages_new(size_t bytes);
void *hugepages_grow(void *memory, size_t had, size_t bytes);
void hugepages_free(void *memory, size_t had);

/* ==== keytable.c ======================================================== */

/* A set of keys stored in full, with a count for each if wanted. */
typedef struct {
    const bly_keyed *keyed;
    bool      counting;
    uint64_t  most;             /* maximum bytes; 0 for no limit           */
    uint64_t *slots;
    uint64_t  room, keys;       /* slots; slots in use                     */
    unsigned char *bytes;       /* the keys, one after the other           */
    size_t    used, capacity;
} dedup_table;

typedef enum {
    TABLE_NEW, TABLE_OLD,       /* the key was absent, was present         */
    TABLE_FULL, TABLE_NO_MEMORY
} keytable_answer;

/* Makes room for this many keys of this many bytes in all. Returns false if out
   of memory. */
bool keytable_open(dedup_table *table, uint64_t keys, uint64_t bytes);
void keytable_close(dedup_table *table);
void keytable_clear(dedup_table *table);

/* Returns the bytes that `keys` keys of `bytes` bytes in all take, with their
 * lengths; UINT64_MAX if no table can hold them. */
uint64_t keytable_bytes(uint64_t keys, uint64_t bytes);

/* Returns whether the table would fit in that memory, and within the limits of
 * its format, after adding n keys from lines of `bytes` bytes in all. */
bool keytable_fits(const dedup_table *table, uint64_t memory, size_t n,
                   size_t bytes);
/* Makes room for them, which speeds up adding. Returns false if out of memory.
 */
bool keytable_prepare(dedup_table *table, uint64_t memory, size_t n,
                      size_t bytes);

/* Adds the key unless it is present, and counts it. */
keytable_answer keytable_add(dedup_table *table, uint64_t hash, bly_key key);

/* Adds the keys of the picked rows in order or, if NULL, of all rows that have
 * a key and are not dropped. drop[i] becomes whether key i was present. Returns
 * TABLE_NEW, or the reason why it stopped early. */
typedef struct {
    const size_t *rows;
    size_t        n;
} keytable_picks;
keytable_answer keytable_add_rows(dedup_table *table, dedup_rows *rows,
                                  const keytable_picks *picks);

/* Returns whether the key is present. Safe in many threads at once. */
bool keytable_has(const dedup_table *table, uint64_t hash, bly_key key);

/* Returns how often the key was added to a table that counts. */
uint64_t keytable_count(const dedup_table *table, uint64_t hash, bly_key key);

/* Prefetches memory for keytable_add: the slot, then, some keys later, the
 * key itself. */
void keytable_prefetch_slot(const dedup_table *table, uint64_t hash);
void keytable_prefetch_key(const dedup_table *table, uint64_t hash);

/* Visits the keys and their counts in insertion order. Initialise *at to 0.
 * Returns false at the end. */
bool keytable_each(const dedup_table *table, size_t *at, bly_key *key,
                   uint64_t *count);

/* Sorts the keys by the 24 bits of their hashes above the low 32, reusing the
 * slots: add nothing until keytable_clear. keytable_sorted returns key i,
 * and keytable_prefetch_sorted prefetches it. */
void keytable_sort(dedup_table *table);
bly_key keytable_key(const dedup_table *table, uint64_t i);
void keytable_prefetch_sorted(const dedup_table *table, uint64_t i);

/* ==== sorted.c ========================================================== */

typedef struct sorted_run sorted_run;

/* Keys on disk. A filter per run, in memory, rules out most keys that are
 * absent; the others are looked up in the file. */
typedef struct {
    const bly_keyed *keyed;
    int        fd;              /* -1 before the first run                 */
    uint64_t   bytes;           /* in the file                             */
    sorted_run  *first, *last;
    size_t     n;
    pthread_mutex_t lock;       /* guards `n` and all links                */
} dedup_runs;

/* Buffers of a thread that looks up keys. */
typedef struct {
    unsigned char *bytes;
    size_t         room;
    bool          *perhaps;
    size_t         rows;
} sorted_space;

void sorted_open(dedup_runs *runs, const bly_keyed *keyed);
void sorted_close(dedup_runs *runs);

/* Returns the current number of runs. */
size_t sorted_count(dedup_runs *runs);

/* Writes the keys of the table as a new run, and empties the table. One thread
 * may do this while others look up keys. Returns CLI_GO, or CLI_ERROR as above.
 */
int sorted_write(dedup_runs *runs, dedup_table *table);

/* Sets drop[i] for rows whose keys are in runs `from` up to but excluding `to`.
 * Returns 0 or errno. */
int sorted_look(dedup_runs *runs, size_t from, size_t to, dedup_rows *rows,
                sorted_space *space);
void sorted_space_free(sorted_space *space);

/* ==== decide.c ========================================================== */

/* The keys whose hashes begin with the same bits. */
typedef struct decide_part decide_part;
struct decide_part {
    spill_stream  records;      /* length and bytes of each key            */
    spill_stream  decisions;    /* one bit per record: first or not        */
    spill_stream  counts;       /* for first records, the number of equals */
    decide_part  *parts;        /* its parts if it was too large, or NULL  */
    uint64_t      members;      /* in a join, number of leading members    */
    spill_reader  decided, counted;
    unsigned      byte, bits;   /* decisions being read; bits left         */
};

typedef struct {
    const bly_keyed *keyed;
    bool         counting;
    bool         joining;       /* whether the first records of a part are
                                   members; the others are looked up         */
    unsigned     bits;          /* bits of the hash that choose a part, 1..16 */
    uint64_t     most;          /* maximum bytes of a table                */
    uint64_t     keys, bytes;   /* expected per part                       */
    decide_part *parts;         /* 2^bits                                  */
    spill_store  store;
} decide_all;

/* The memory to use, and the amount of data to decide. */
typedef struct {
    uint64_t memory, taken;     /* total bytes; bytes used elsewhere       */
    size_t   jobs;
    uint64_t keys, bytes;       /* upper bounds of distinct keys, as records */
} decide_room;

/* Chooses the number of parts, the size of their tables, and how much stays in
 * memory. Returns false if out of memory. */
bool decide_begin(decide_all *all, const decide_room *room);

/* Like decide_begin, with explicit choices: 2^bits parts, and up to `memory`
 * bytes of records and decisions in memory, in blocks of `block` bytes. */
bool decide_open(decide_all *all, size_t block, uint64_t memory);
void decide_close(decide_all *all);

/* Returns the part of a key with this hash. */
size_t decide_number(const decide_all *all, uint64_t hash);

/* Appends the key's record to its part. Returns false after reporting an error.
 */
bool decide_put(decide_all *all, uint64_t hash, bly_key key);

/* Decides all records with that many threads. Returns CLI_GO or CLI_ERROR. */
int decide_run(decide_all *all, size_t jobs, bool progress);

/* Reads the decision for the next record of the key's part and, for a first
 * record, its count if counts are kept. Returns false if none is left. */
bool decide_next(decide_all *all, uint64_t hash, bool *first, uint64_t *count);

/* ==== Settings ========================================================== */

typedef struct {
    cli_how  how;
    uint64_t jobs, memory;
    uint64_t held;              /* memory in which lines of a pipe are kept  */
    bool     count, repeated, unique, progress;
    const units_want *units;    /* NULL: lines are compared                */
} exact_want;

/* ==== stream.c ========================================================== */

/* Prints the first occurrence of each line as soon as it is read. Returns
 * CLI_GO or CLI_ERROR. */
int stream_run(const exact_want *want, const bly_keyed *keyed,
               cli_lines *lines, dedup_tally *tally);

/* ==== stamp.c =========================================================== */

/* Stores the file's status. Returns false if it cannot be read. */
bool stamp_take(struct stat *stamp, const char *path);
/* Returns the file's size; UINT64_MAX if it is not a plain file. */
uint64_t stamp_end(const struct stat *stamp);
/* Returns whether the file is unchanged, except for data appended to it. */
bool stamp_holds(const struct stat *stamp, const char *path);

/* ==== held.c ============================================================ */

/* Returns whether a line with this count is wanted. */
bool held_wanted(const exact_want *want, uint64_t count);
bool held_print_count(uint64_t count);

/* Prints the wanted lines of a table and their number. Returns false if output
 * fails. */
bool held_print(const dedup_table *table, const exact_want *want,
                uint64_t *printed);

/* Appends each line to the file as often as it was counted, and adds up the
 * bytes. Returns CLI_GO or CLI_ERROR. */
int held_write(const dedup_table *table, int fd, unsigned char end,
               uint64_t *bytes);

/* ==== exact.c =========================================================== */

/* Deduplicates in as many passes as suit the input. Returns CLI_OK or
   CLI_ERROR. */
int exact_run(const exact_want *want, const cli_operands *operands,
              dedup_tally *tally);

/* ==== filtered.c ======================================================== */

typedef struct {
    cli_how  how;
    const char *kind;           /* NULL: chosen by the rate                */
    uint64_t items;             /* to plan the filter for; 0: not known    */
    uint64_t window;            /* lines to remember; 0: all               */
    uint64_t memory;            /* maximum of the filter; 0 for no limit   */
    uint64_t jobs;
    double   rate;
    bool     progress;
    const units_want *units;    /* NULL: lines are compared                */
} filtered_want;

/* Makes the filter for input of `total` bytes; 0: not known. Returns CLI_GO, or
 * CLI_ERROR after reporting an error. */
int filtered_open(bly_filter **filter, const filtered_want *want,
                  uint64_t total);

/* Refuses a filter that takes more than `most` bytes, unless that is 0. Returns
 * CLI_GO or CLI_ERROR. */
int filtered_check_memory(const bly_filter *filter, uint64_t most);

/* Deduplicates with a filter. Returns CLI_OK or CLI_ERROR. */
int filtered_run(const filtered_want *want, const cli_operands *operands,
                 dedup_tally *tally);

/* ==== minhash.c ========================================================= */

enum { MINHASH_MOST = 256 };            /* numbers of a signature */

typedef struct {
    size_t bands, rows;         /* rows: numbers of a band                 */
} minhash_shape;

/* Chooses the bands so that sets of this similarity have an equal one with
 * probability `found` or more, and as few as possible of less similarity, with
 * at most `most` numbers. Returns false if they do not suffice. */
bool minhash_choose(minhash_shape *shape, double similarity, double found,
                    size_t most);

/* Returns the probability that sets of this similarity have an equal band. */
double minhash_found(const minhash_shape *shape, double similarity);

/* Returns the similarity for which that is `found`. */
double minhash_similarity(const minhash_shape *shape, double found);

/* Computes the hashes of the bands of a set of n >= 1 elements, which are
 * hashes. Repeated elements change nothing. */
void minhash_bands(const minhash_shape *shape, const uint64_t *elements,
                   size_t n, uint64_t *bands);

/* ==== keptsets.c ======================================================== */

typedef struct {
    uint64_t end;               /* of its elements, among those of all     */
    uint64_t line;
    uint64_t query;             /* the last one that met it                */
} keptsets_set;

typedef struct {
    size_t    bands;
    uint64_t  most;             /* maximum bytes of slots and sets         */
    uint64_t **slots;           /* for each band                           */
    uint64_t  room;             /* of each                                 */
    keptsets_set *sets;
    size_t    n, sets_room;
    uint64_t  query;            /* number of the last one                  */
    uint64_t  compared;         /* pairs of sets                           */
    int       fd;               /* -1 before the first elements            */
    uint64_t  written;          /* elements in the file                    */
    uint64_t *waiting;          /* those to be written                     */
    size_t    waits;
    uint64_t *read;             /* room for a set                          */
    size_t    read_room;
} keptsets;

typedef struct {
    double least;               /* similarity to look for                  */
    bool   best;                /* find the most similar set, not any      */
} keptsets_want;

typedef struct {
    double   share;             /* the similarity; 0: none was found       */
    uint64_t line;
} keptsets_match;

void keptsets_open(keptsets *sets, size_t bands, uint64_t most);
void keptsets_close(keptsets *sets);

/* Looks for a set that is similar enough and has an equal band. The elements of
 * `set` are sorted and different. Returns CLI_GO or CLI_ERROR. */
int keptsets_find(keptsets *sets, const units_set *set, const uint64_t *bands,
                  const keptsets_want *want, keptsets_match *match);

/* Adds the set of the document on a line. Returns CLI_GO or CLI_ERROR. */
int keptsets_add(keptsets *sets, const units_set *set, const uint64_t *bands,
                 uint64_t line);

/* Prefetches memory for keptsets_find. */
void keptsets_prefetch(const keptsets *sets, const uint64_t *bands);

/* ==== similar.c ========================================================= */

typedef struct {
    cli_how  how;
    bool     approximate;
    uint64_t items;             /* documents to expect; 0: not known       */
    uint64_t memory;            /* maximum; 0 for no limit                 */
    uint64_t jobs;
    double   rate;              /* of documents that a filter may drop     */
    bool     progress;
    const units_want *units;
} similar_want;

/* Chooses the bands for a similarity. Returns false if it is too small. */
bool similar_shape(minhash_shape *shape, double similar, bool approximate);

/* Prints the documents that are not similar to earlier ones. Returns CLI_OK or
 * CLI_ERROR. */
int similar_run(const similar_want *want, const cli_operands *operands,
                dedup_tally *tally);

/* ==== join.c ============================================================ */

typedef struct {
    cli_how  lines, list;
    uint64_t jobs, memory;
    bool     anti;              /* print lines whose key is not in the list */
    bool     count;             /* print no lines, only count              */
    bool     progress;
} join_want;

typedef struct {
    uint64_t lines, kept, keyless;
    uint64_t listed;            /* keys of the list, with repeats          */
    uint64_t listed_keyless;
    uint64_t listed_strange;    /* whole lines of the list that cannot be a
                                   column or member: quoted, or objects    */
    uint64_t listed_uncut;      /* whole lines that contain the separator  */
    bool     parts;             /* whether the list did not fit in memory  */
} join_tally;

/* Prints the lines of operand 0 whose key is in the list, operand 1. Returns
 * CLI_OK or CLI_ERROR. */
int join_run(const join_want *want, const cli_operands *operands,
             join_tally *tally);

#endif
