/* dedup.h - what the files of `bloomery dedup` and `bloomery join` share.
 *
 * From the bottom up:
 *
 *      rows.c       the lines of a chunk, hashed; printing the ones wanted
 *      spill.c      streams of bytes, in memory or in a temporary file
 *      pages.c      memory in large pages
 *      table.c      keys in memory, compared byte by byte
 *      runs.c       the keys of full tables, sorted, in a temporary file
 *      decide.c     parts of the keys, each decided by a table of its own
 *      stream.c     exactly, in one pass
 *      stamp.c      is a file that is read again what it was?
 *      held.c       what is wanted of lines that were counted
 *      exact.c      exactly, in two or three passes
 *      cmd_dedup.c  the command
 *      join.c       lines whose key is in another list, exactly
 *      cmd_join.c   the command
 */
#ifndef CLI_DEDUP_H
#define CLI_DEDUP_H

#include "bloomery/command.h"

#include <bloomery/keyed.h>

#include <pthread.h>
#include <sys/stat.h>

/* ==== rows.c ============================================================ */

/* The lines of a chunk. Arrays of `room`. */
typedef struct {
    size_t    n, room;
    uint64_t  keyless;          /* lines without a key                     */
    bly_key  *keys;             /* data NULL: the line has none            */
    uint64_t *hashes;           /* of the keys; 0 where there is none      */
    size_t   *ends;             /* where the line ends in the chunk        */
    bool     *drop;             /* not to be printed; false at first       */
} dedup_rows;

/* Fills the rows with all lines of the worker's chunk, hashed by the filter's
 * function, or without a filter by `keyed`. False: no memory. */
bool rows_fill(dedup_rows *rows, cli_worker *worker, const bly_keyed *keyed,
               const bly_filter *filter);
void rows_free(dedup_rows *rows);

/* Add the keys to the filter one after the other; drop[i] becomes whether key
 * i was perhaps there before. Lines without a key are left alone. CLI_GO, or
 * CLI_ERROR when it has said why. */
int rows_add(dedup_rows *rows, bly_filter *filter);

/* Print rows `from` to `to`, which is not among them, each with an end. False:
 * output has failed. */
bool rows_print_some(const dedup_rows *rows, const cli_worker *worker,
                     size_t from, size_t to);

/* The same for the rows that are not dropped. */
bool rows_print(const dedup_rows *rows, const cli_worker *worker);

/* ==== spill.c =========================================================== */

/* An unlinked file in TMPDIR, or /tmp. -1: an error, and stderr says why, and,
 * where more `memory` would do without the file, that too. */
int spill_file(bool memory);

/* Write all of it at the end of the file. CLI_GO or CLI_ERROR, as above. */
int spill_write(int fd, const void *data, size_t n, bool memory);

/* Read n bytes at `at`: 0, or errno, which spill_unread reports. */
int spill_read_file(int fd, void *data, size_t n, uint64_t at);
int spill_unread(int error);

/* Where blocks of streams are kept. */
typedef struct {
    size_t   block;             /* bytes of each                           */
    uint64_t most;              /* blocks in memory at most, and           */
    uint64_t held;              /* how many there are                      */
    int      fd;                /* of the file of all others; or -1        */
    uint64_t used;              /* places in the file                      */
    uint64_t *spare;            /* those of them that are free again       */
    size_t   spares, spare_room;
    bool     failed;            /* stderr has been told                    */
    pthread_mutex_t lock;       /* of `held` and all that follows          */
} spill_store;

typedef struct {
    unsigned char *memory;      /* or NULL: it is in the file, at          */
    uint64_t       place;
} spill_block;

/* Bytes that are written once, from the first to the last, and then read. */
typedef struct {
    spill_block   *blocks;      /* full ones                               */
    size_t         n, room;
    unsigned char *open;        /* the last one, not full                  */
    size_t         used;
} spill_stream;

/* Where reading stands. */
typedef struct {
    spill_store        *store;
    const spill_stream *stream;
    size_t              next;           /* block after this one            */
    const unsigned char *at, *end;      /* what is left of this one        */
    unsigned char      *buffer;         /* for blocks of the file          */
    unsigned char      *joined;         /* for what lies in several blocks */
    size_t              joined_room;
} spill_reader;

void spill_open(spill_store *store, size_t block, uint64_t memory);
void spill_close(spill_store *store);
/* Has anything failed? Then stderr has been told. */
bool spill_failed(spill_store *store);

/* Append; false: no memory or no disk, and stderr says so. One thread at a
 * time for a stream, any number for a store. */
bool spill_append(spill_store *store, spill_stream *stream, const void *data,
                  size_t n);
/* Nothing more will be appended: keep no more memory than needed. */
void spill_finish(spill_stream *stream);
/* Give its blocks back. */
void spill_drop(spill_store *store, spill_stream *stream);

void spill_read(spill_reader *reader, spill_store *store,
                const spill_stream *stream);
void spill_read_end(spill_reader *reader);
/* The next n bytes, valid until the next call. NULL: there are not so many, or
 * they could not be read (see spill_failed). */
const unsigned char *spill_get(spill_reader *reader, size_t n);

/* A number in as many bytes as it needs, seven bits each. */
enum { SPILL_NUMBER = 10 };
size_t spill_number(unsigned char out[SPILL_NUMBER], uint64_t value);
bool spill_get_number(spill_reader *reader, uint64_t *value);

/* ==== pages.c =========================================================== */

/* As malloc, realloc and free, which need to be told how much it was. */
void *pages_new(size_t bytes);
void *pages_grow(void *memory, size_t had, size_t bytes);
void pages_free(void *memory, size_t had);

/* ==== table.c =========================================================== */

/* A set of keys, held as they are, with a count for each if wanted. */
typedef struct {
    const bly_keyed *keyed;
    bool      counting;
    uint64_t  most;             /* bytes it may take; 0: no limit          */
    uint64_t *slots;
    uint64_t  room, keys;       /* slots; those in use                     */
    unsigned char *bytes;       /* the keys, one behind the other          */
    size_t    used, capacity;
} dedup_table;

typedef enum {
    TABLE_NEW, TABLE_OLD,       /* it was not there, it was there          */
    TABLE_FULL, TABLE_NO_MEMORY
} table_answer;

/* Make room for so many keys with so many bytes. False: no memory. */
bool table_open(dedup_table *table, uint64_t keys, uint64_t bytes);
void table_close(dedup_table *table);
void table_clear(dedup_table *table);

/* What `keys` keys of `bytes` bytes in all take, with their lengths;
 * UINT64_MAX if no table can hold so many. */
uint64_t table_bytes(uint64_t keys, uint64_t bytes);

/* Would the table with n keys more, lines of `bytes` bytes in all, take no more
 * than that memory, and no more than its places and slots can tell? */
bool table_fits(const dedup_table *table, uint64_t memory, size_t n,
                size_t bytes);
/* Make room for them at once: then they are quick to add. False: no memory. */
bool table_prepare(dedup_table *table, uint64_t memory, size_t n,
                   size_t bytes);

/* Put the key in unless it is there; count it. */
table_answer table_add(dedup_table *table, uint64_t hash, bly_key key);

/* Put in the keys of the rows that are picked, or, NULL, of all that have a key
 * and are not dropped, one after the other: drop[i] becomes whether key i was
 * there. TABLE_NEW, or why it ended before the last. */
typedef struct {
    const size_t *rows;
    size_t        n;
} table_picks;
table_answer table_add_rows(dedup_table *table, dedup_rows *rows,
                            const table_picks *picks);

/* Is the key there? Many threads may ask at once. */
bool table_has(const dedup_table *table, uint64_t hash, bly_key key);

/* Ask the processor for what table_add will need: the first before the second,
 * some keys ahead. */
void table_prefetch_slot(const dedup_table *table, uint64_t hash);
void table_prefetch_key(const dedup_table *table, uint64_t hash);

/* The keys and their counts in the order in which they came. *at is 0 at first.
 * False: there are no more. */
bool table_each(const dedup_table *table, size_t *at, bly_key *key,
                uint64_t *count);

/* Sort the keys by the 24 bits above the low 32 of their hashes, in the place
 * of the slots: until table_clear nothing may be added. Then key number i, and
 * to ask the processor for it some keys ahead. */
void table_sort(dedup_table *table);
bly_key table_key(const dedup_table *table, uint64_t i);
void table_prefetch_sorted(const dedup_table *table, uint64_t i);

/* ==== runs.c ============================================================ */

typedef struct runs_run runs_run;

/* Keys that are in none of the runs are mostly known to be by a filter of each
 * run, in memory; the others are looked for in the file. */
typedef struct {
    const bly_keyed *keyed;
    int        fd;              /* of the file; -1: no run yet             */
    uint64_t   bytes;           /* in it                                   */
    runs_run  *first, *last;
    size_t     n;
    pthread_mutex_t lock;       /* of `n` and all links                    */
} dedup_runs;

/* What a thread needs to look. */
typedef struct {
    unsigned char *bytes;
    size_t         room;
    bool          *perhaps;
    size_t         rows;
} runs_space;

void runs_open(dedup_runs *runs, const bly_keyed *keyed);
void runs_close(dedup_runs *runs);

/* How many there are by now. */
size_t runs_count(dedup_runs *runs);

/* One run more, of the keys of the table, which is empty then. By one thread at
 * a time, while others look. CLI_GO or CLI_ERROR, as above. */
int runs_write(dedup_runs *runs, dedup_table *table);

/* Mark the rows whose keys are in the runs `from` to `to`, which is not among
 * them: drop[i] becomes true. 0, or errno. */
int runs_look(dedup_runs *runs, size_t from, size_t to, dedup_rows *rows,
              runs_space *space);
void runs_space_free(runs_space *space);

/* ==== decide.c ========================================================== */

/* The keys whose hashes begin with the same bits. */
typedef struct decide_part decide_part;
struct decide_part {
    spill_stream  records;      /* each key's length and bytes             */
    spill_stream  decisions;    /* a bit for each: is it the first?        */
    spill_stream  counts;       /* of each first one, how many there are   */
    decide_part  *parts;        /* it was too large and is in these; NULL  */
    uint64_t      members;      /* of `joining`: records before the others */
    spill_reader  decided, counted;
    unsigned      byte, bits;   /* decisions read, and how many of them    */
};

typedef struct {
    const bly_keyed *keyed;
    bool         counting;
    bool         joining;       /* the first records of a part are members,
                                   and decided is if the others are among
                                   them                                    */
    unsigned     bits;          /* of a hash that choose the part, 1 .. 16 */
    uint64_t     most;          /* bytes of a table                        */
    uint64_t     keys, bytes;   /* expected in a part                      */
    decide_part *parts;         /* 2^bits                                  */
    spill_store  store;
} decide_all;

/* What may be used, and how much is to be decided. */
typedef struct {
    uint64_t memory, taken;     /* bytes in all; those in other use        */
    size_t   jobs;
    uint64_t keys, bytes;       /* different ones at most, as records      */
} decide_room;

/* Choose the parts, their tables, and how many bytes of records and decisions
 * stay in memory. False: no memory. */
bool decide_begin(decide_all *all, const decide_room *room);

/* The same where these are chosen: 2^bits parts; `memory` bytes of records and
 * decisions stay in memory, in blocks of `block`. */
bool decide_open(decide_all *all, size_t block, uint64_t memory);
void decide_close(decide_all *all);

/* The part of a key with this hash. */
size_t decide_number(const decide_all *all, uint64_t hash);

/* Append the key's record to its part. False: stderr has been told. */
bool decide_put(decide_all *all, uint64_t hash, bly_key key);

/* Decide all records, with so many threads. CLI_GO or CLI_ERROR. */
int decide_run(decide_all *all, size_t jobs, bool progress);

/* The decision of the next record of the key's part, and when it is the first
 * and counts are wanted how many there are. False: there is none. */
bool decide_next(decide_all *all, uint64_t hash, bool *first, uint64_t *count);

/* ==== What is wanted, and what was done ================================= */

typedef struct {
    cli_how  how;
    uint64_t jobs, memory;
    uint64_t held;              /* memory where all lines of a pipe are kept */
    bool     count, repeated, unique, progress;
} exact_want;

typedef struct {
    uint64_t lines, kept, keyless;
    unsigned passes;            /* over the input                          */
    uint64_t spilled;           /* bytes that went to a temporary file     */
    double   rate;              /* of a filter, at its end at most         */
    bool     over;              /* that has come to twice its plan         */
} dedup_tally;

/* ==== stream.c ========================================================== */

/* Print the first occurrences of all lines, each as it comes. CLI_GO or
 * CLI_ERROR. */
int stream_run(const exact_want *want, const bly_keyed *keyed,
               cli_lines *lines, dedup_tally *tally);

/* ==== stamp.c =========================================================== */

/* What the file is now; false: nothing, it cannot be looked at. */
bool stamp_take(struct stat *stamp, const char *path);
/* Where the file ends now; UINT64_MAX: it is no plain file. */
uint64_t stamp_end(const struct stat *stamp);
/* Is it that still, though more may have been written behind its end? */
bool stamp_holds(const struct stat *stamp, const char *path);

/* ==== held.c ============================================================ */

/* Is a line wanted that comes so often? Print "COUNT <TAB>". False: output has
 * failed. */
bool held_wanted(const exact_want *want, uint64_t count);
bool held_print_count(uint64_t count);

/* Print the lines of a table that are wanted, and how many. False: output has
 * failed. */
bool held_print(const dedup_table *table, const exact_want *want,
                uint64_t *printed);

/* Write each as often as it came to the end of the file, and add how many bytes
 * these are. CLI_GO or CLI_ERROR. */
int held_write(const dedup_table *table, int fd, unsigned char end,
               uint64_t *bytes);

/* ==== exact.c =========================================================== */

/* The same, in as many passes as suit the input. CLI_OK or CLI_ERROR. */
int exact_run(const exact_want *want, const cli_operands *operands,
              dedup_tally *tally);

/* ==== join.c ============================================================ */

typedef struct {
    cli_how  lines, list;
    uint64_t jobs, memory;
    bool     anti;              /* those whose key is not in the list      */
    bool     count;             /* print none                              */
    bool     progress;
} join_want;

typedef struct {
    uint64_t lines, kept, keyless;
    uint64_t listed;            /* keys of the list, repeats too           */
    uint64_t listed_keyless;
    uint64_t listed_strange;    /* whole lines that can be no value of the
                                   column or member: in quotes, or objects */
    uint64_t listed_uncut;      /* whole lines with a separator of columns */
    bool     parts;             /* the list did not fit the memory         */
} join_tally;

/* Print the lines of operand 0 whose key is in the list, operand 1. CLI_OK or
 * CLI_ERROR. */
int join_run(const join_want *want, const cli_operands *operands,
             join_tally *tally);

#endif
