/* sketches.h - declarations shared by `bloomery sketch` and `bloomery diff`.
 *
 * From the bottom up:
 *
 *     hashes.c     a set of 64-bit hashes
 *     reread.c     makes pipes readable more than once
 *     distinct.c   visits the distinct keys of lines
 *     cmd_sketch.c, cmd_diff.c
 */
#ifndef CLI_SKETCHES_H
#define CLI_SKETCHES_H

#include "bloomery/command.h"

#include <bloomery/keyed.h>

/* ==== hashes.c ========================================================== */

/* Takes 11 to 22 bytes per hash. */
typedef struct {
    bly_keyed keyed;            /* chooses slots, as hashes can be attacked */
    uint64_t *slots;            /* 0 is free                               */
    size_t    room;             /* a power of two, or 0                    */
    unsigned  shift;            /* 2^(64 - shift) = room                   */
    size_t    used;
    bool      zero;             /* whether the set contains 0              */
} sketch_hashes;

/* Makes an empty set. Call hashes_free even if this fails. Returns CLI_GO or
 * CLI_ERROR. */
int hashes_open(sketch_hashes *set);

/* Makes room for that many more. Returns false if out of memory. */
bool hashes_room(sketch_hashes *set, size_t more);

/* Adds a hash, for which there is room. Returns whether it was absent. */
bool hashes_add(sketch_hashes *set, uint64_t hash);

/* Adds n hashes, for which there is room. fresh[i] becomes whether hash i was
 * absent. */
void hashes_add_many(sketch_hashes *set, const uint64_t *hashes, size_t n,
                     bool *fresh);
bool hashes_has(const sketch_hashes *set, uint64_t hash);
void hashes_free(sketch_hashes *set);

/* ==== reread.c ========================================================== */

/* Operands that can all be read again: a pipe is copied to an unnamed file in
 * TMPDIR, or /tmp, which replaces it. */
typedef struct {
    cli_operands operands;
    char (*names)[32];          /* of the copies                           */
    int   *files;
} sketch_reread;

/* Handles operands from `first` on, or stdin if there are none. Returns CLI_GO
 * or CLI_ERROR; call reread_close in either case. */
int  reread_open(sketch_reread *reread, const cli_operands *operands,
                 size_t first);
void reread_close(sketch_reread *reread);

/* ==== distinct.c ======================================================== */

/* How to process the keys. */
typedef struct {
    const bly_filter *hasher;   /* provides the hash function and seed     */
    /* Selects the keys of interest; called by many threads at once. NULL for
       all. */
    void (*select)(void *context, const bly_key *keys, const uint64_t *hashes,
                   size_t n, bool *selected);
    /* Receives the selected keys not seen before, in input order, by one thread
     * at a time. Returns CLI_GO, or the status to stop with. */
    int  (*fresh)(void *context, const bly_key *keys, const uint64_t *hashes,
                  size_t n);
    void  *context;
    bool   idle;                /* whether to flush output: input is idle   */
} sketch_distinct;

/* Processes all lines. Returns CLI_GO or the status that stopped it. *fed
   counts all keys. */
int distinct_run(sketch_distinct *how, cli_lines *lines, size_t jobs,
                 const char *doing, bool progress, cli_fed *fed);

/* ==== cmd_sketch.c ====================================================== */

/* A filter being filled, to be listed later. */
typedef struct {
    bly_filter *filter;
    size_t      whole;          /* maximum bytes of keys stored; 0 for hashes */
    size_t      longest;        /* of the keys so far                      */
} sketch_into;

/* Adds keys; a fresh() callback with a sketch_into as its context. */
int sketch_put(void *into, const bly_key *keys, const uint64_t *hashes,
               size_t n);

/* Returns whether all keys were short enough. If not, the sketch is incomplete,
 * and the longest key has been measured. */
bool sketch_fits(const sketch_into *into);

#endif
