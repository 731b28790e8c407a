/* source.h - a compressed file as a pipe of its contents. */
#ifndef FRAME_SOURCE_H
#define FRAME_SOURCE_H

#include "frame/codec.h"

#include <stddef.h>

/* Reasons to refuse a file for which errno has no name. */
typedef enum {
    SOURCE_UNREAD = 1,          /* compressed in a format not supported     */
    SOURCE_DAMAGED,
    SOURCE_CUT,                 /* ends too early                           */
    SOURCE_BEHIND,              /* other bytes follow its end               */
    SOURCE_MEMORY,
    SOURCE_DIVIDED,             /* compressed, but to be read in parts      */
    SOURCE_NUL,                 /* bytes that do not occur in text          */
    SOURCE_WIDE,                /* UTF-16 or UTF-32                         */
    SOURCE_KNOWN,               /* written by the program itself            */
    SOURCE_LONG,                /* a line is too long for memory            */
    SOURCE_RETURNS,             /* CR alone ends lines, to be read in parts */
    SOURCE_TOLD,                /* cli_chunk.why has the message            */
    SOURCE_FAULTS
} source_fault;

/* Encodes a reason as a negative number, which refuse_file takes like an
 * errno; source_fault_of decodes it. */
int source_error(source_fault fault, const codec *c);
source_fault source_fault_of(int error, const codec **c);

typedef struct cli_source cli_source;

/* Starts decompressing *fd, of which the n bytes of `head` have been read
 * already. *fd is then the pipe to read from. Returns 0, or why it failed, an
 * errno or negative: *fd is unchanged then. */
int source_open(cli_source **out, const codec *c, int *fd, const void *head,
                size_t n);

/* Ends it. The caller has closed the pipe. Returns 0, or what was wrong with
 * the file as far as it was read. */
int source_close(cli_source *source);

/* Returns how many bytes of the file have been read so far. Thread-safe. */
size_t source_taken(const cli_source *source);

#endif
