/* batches.h - splits chunks into batches of lines and their keys. */
#ifndef FRAME_BATCHES_H
#define FRAME_BATCHES_H

#include "frame/lines.h"

#include <bloomery.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BATCHES_MOST = 4096 };   /* lines of a batch */

/* Some lines of a chunk; they point into it. */
typedef struct {
    bly_key  keys[BATCHES_MOST];    /* data NULL: none, if lines are kept  */
    bly_key  labels[BATCHES_MOST];  /* if there is a column for them       */
    bly_key  lines[BATCHES_MOST];   /* whole lines, with their end if any  */
    size_t   ends[BATCHES_MOST];
    size_t   n;
    uint64_t keyless;           /* lines without a key                     */
    uint64_t lacking;           /* those of them that are not skipped      */
    bool     skips;             /* some are skipped: blank, or comments    */
    bool     skipped[BATCHES_MOST];
    bool     unreads;           /* some have a key that cannot be read by the
                                   form                                      */
    bool     unread[BATCHES_MOST];
} cli_batch;

/* Splits off the batch of lines that begins at *at, and advances *at. Returns
 * false if no lines are left. */
bool batches_split(const cli_lines *lines, cli_chunk *chunk, size_t *at,
                   cli_batch *batch);

/* Returns the number of the line that holds these bytes of a chunk, from 1,
 * minus the sum of batches_counted for all batches of earlier chunks. */
uint64_t batches_number(const cli_lines *lines, const cli_chunk *chunk,
                        const void *bytes);
uint64_t batches_counted(const cli_lines *lines, const cli_batch *batch);

#endif
