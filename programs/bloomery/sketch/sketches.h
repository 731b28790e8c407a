/* sketches.h - what `bloomery sketch` and `bloomery diff` share.
 *
 * From the bottom up:
 *
 *      hashes.c     a set of 64-bit hashes
 *      reread.c     pipes, so that they can be read twice
 *      distinct.c   the keys of lines, each once
 *      cmd_sketch.c, cmd_diff.c
 */
#ifndef CLI_SKETCHES_H
#define CLI_SKETCHES_H

#include "bloomery/command.h"

#include <bloomery/keyed.h>

/* ==== hashes.c ========================================================== */

/* 11 to 22 bytes a hash. */
typedef struct {
    bly_keyed keyed;            /* chooses slots: strangers know the hashes */
    uint64_t *slots;            /* a free one is 0                         */
    size_t    room;             /* a power of two, or 0                    */
    unsigned  shift;            /* 2^(64 - shift) = room                   */
    size_t    used;
    bool      zero;             /* is the hash 0 in it?                    */
} sketch_hashes;

/* Makes an empty set, which hashes_free may free even if this fails. CLI_GO or
 * CLI_ERROR. */
int hashes_open(sketch_hashes *set);

/* Make room for so many more. False: no memory. */
bool hashes_room(sketch_hashes *set, size_t more);

/* Add one for which there is room; true if it was not there. */
bool hashes_add(sketch_hashes *set, uint64_t hash);

/* Adds n hashes for which there is room; fresh[i] becomes true if hash i was
 * not there. */
void hashes_add_many(sketch_hashes *set, const uint64_t *hashes, size_t n,
                     bool *fresh);
bool hashes_has(const sketch_hashes *set, uint64_t hash);
void hashes_free(sketch_hashes *set);

/* ==== reread.c ========================================================== */

/* Operands of which each can be read as often as is wanted: a pipe is copied to
 * a file without a name (in TMPDIR, or /tmp), which takes its place. */
typedef struct {
    cli_operands operands;
    char (*names)[32];          /* of the copies                           */
    int   *files;
} sketch_reread;

/* From operand `first` on; stdin if there are none. CLI_GO or CLI_ERROR. To be
 * closed after either. */
int  reread_open(sketch_reread *reread, const cli_operands *operands,
                 size_t first);
void reread_close(sketch_reread *reread);

/* ==== distinct.c ======================================================== */

/* What is to be done with the keys. */
typedef struct {
    const bly_filter *hasher;   /* whose hash function and seed            */
    /* Which keys are of interest? By many threads at once. NULL: all. */
    void (*select)(void *context, const bly_key *keys, const uint64_t *hashes,
                   size_t n, bool *selected);
    /* Those among them that have not come before, in the order of the input,
     * by one thread at a time. CLI_GO, or the status to stop with. */
    int  (*fresh)(void *context, const bly_key *keys, const uint64_t *hashes,
                  size_t n);
    void  *context;
    bool   idle;                /* fresh() may look: the next read may wait */
} sketch_distinct;

/* Go through all lines. CLI_GO, or why it stopped; *fed tells of all keys. */
int distinct_run(sketch_distinct *how, cli_lines *lines, size_t jobs,
                 const char *doing, bool progress, cli_fed *fed);

/* ==== cmd_sketch.c ====================================================== */

/* A filter that is to be listed. */
typedef struct {
    bly_filter *filter;
    size_t      whole;          /* bytes of a key that it carries; 0: hashes */
    size_t      longest;        /* of the keys so far                      */
} sketch_into;

/* Put keys into it: a fresh() with such a context. */
int sketch_put(void *into, const bly_key *keys, const uint64_t *hashes,
               size_t n);

/* At the end: was none of the keys too long? If one was, the rest is not in,
 * but is measured. */
bool sketch_fits(const sketch_into *into);

#endif
