/* lines.h - reads files and stdin as chunks of whole lines. */
#ifndef FRAME_LINES_H
#define FRAME_LINES_H

#include "frame/columns.h"
#include "frame/how.h"
#include "frame/records.h"
#include "frame/source.h"
#include "frame/tables.h"

#include <bloomery.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The part of a line that is its key: all of it, a column between separators, a
 * changed text, or a member of a JSON object. */
typedef enum {
    LINES_WHOLE, LINES_COLUMNS, LINES_CHANGED, LINES_MEMBERS
} cli_form;


/* The input: files in their order, and the position of reading. */
struct cli_lines {
    cli_how  how;
    bool     keep;              /* batches include lines without a key     */
    char   **paths;
    char   **names;             /* for messages; NULL: the paths           */
    const uint64_t *ends;       /* see lines_until; NULL: read whole files */
    uint64_t left;              /* of this file, up to its end there       */
    size_t   count, next;
    cli_form form;
    const char *path;           /* of the file being read                  */
    int      fd;
    cli_source *source;         /* decompresses it; NULL: not compressed   */
    bool     fresh;             /* no line of it has been in a chunk       */
    bool     begun;             /* its first bytes have been checked       */
    size_t   looked;            /* how many of them                        */
    bool     headed;            /* its header has been read                */
    bool     settled;           /* it is known whether a CR ends its lines */
    bool     returns;           /* it does, and is replaced by a newline   */
    uint64_t bytes;             /* read so far                             */
    cli_records records;        /* of this file, as far as it was read     */
    uint64_t before;            /* cli_chunk.before of the next chunk      */
    uint64_t field[COLUMNS_MOST], label;    /* numbers of named columns    */
    bool     alike;             /* all headers must be like the first      */
    const char *title;          /* see headers_print; NULL: not printed    */
    bool     titled;            /* it has been printed                     */
    unsigned char *first;       /* the header of the first file            */
    size_t   first_length;
    unsigned char *rest;        /* the start of an unfinished line         */
    size_t   rest_length, rest_capacity;
    uint64_t passed;            /* lines of this file in earlier chunks    */
    uint64_t tallied;           /* lines so far                            */
    uint64_t skipped;           /* those that are blank or comments        */
    uint64_t strange;           /* those without a readable key            */
    uint64_t first_strange;     /* the number of the first one in its file */
    const char *strange_path;   /* and that file                           */
};

/* The subjects of notes about the first lines of a file (mistakes.c). */
typedef enum {
    MISTAKE_NONE,
    MISTAKE_CR_LF,              /* keys end with CR                         */
    MISTAKE_CR,                 /* lines ended with CR alone                */
    MISTAKE_WITHIN,             /* the first line has a CR within it        */
    MISTAKE_COMMENT,            /* the first key begins with #              */
    MISTAKE_QUOTES              /* columns in quotes, cut at separators     */
} cli_mistake;

/* Some whole lines of one file, or why it could not be read. It has no lines if
 * only a header that must be printed has arrived. If keys are not found in
 * lines as they are, the block has its capacity twice: such keys lie in the
 * second half, as far from its start as their source is from the start of the
 * block. They are never longer than the source. */
struct cli_chunk {
    unsigned char *block;
    size_t   length, capacity;
    const char *path;
    uint64_t bytes;             /* read so far, from all files             */
    bool     idle;              /* the next read may wait for input        */
    bool     begins;            /* it is the first chunk of its file       */
    cli_mistake mistake;        /* in its first lines                      */
    bool     returns;           /* there is a CR that may be cut           */
    bool     quoted;            /* CSV that may have quotes                */
    bool     stray;             /* and some within unquoted columns        */
    bool     heads;             /* the first header came right before it   */
    uint64_t before;            /* lines of its file before it: all lines of
                                   CSV, otherwise only the header          */
    uint64_t field[COLUMNS_MOST], label;    /* numbers of named columns    */
    uint64_t lines;             /* as far as it has been split             */
    uint64_t skipped;           /* those that are blank or comments        */
    uint64_t strange;           /* those without a readable key            */
    uint64_t first_strange;     /* the number of the first in the chunk    */
    int      error;             /* 0, an errno, or negative (source_error) */
    char     why[512];          /* the message of SOURCE_TOLD, or `advice` */
    bool     advice;            /* why: what to check in a line that lacks
                                   the member                              */
};

/* Opens the files `operands` from number `first`; stdin if there are none. */
void lines_open(cli_lines *lines, const cli_how *how,
                const cli_operands *operands, size_t first, bool keep);
void lines_close(cli_lines *lines);

/* Limits reading to the first ends[i] bytes of file i. */
void lines_until(cli_lines *lines, const uint64_t *ends);

/* Sets the names that messages have for the files. */
void lines_name(cli_lines *lines, const cli_operands *operands, size_t first);

/* Reads the next chunk, whose block is reused from call to call. Returns false
 * at the end. A file that cannot be read is a chunk with an error, and the next
 * files follow. Not thread-safe. */
bool lines_next(cli_lines *lines, cli_chunk *chunk);

#endif
