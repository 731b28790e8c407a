/* columns.h - the columns listed by -f and -l, by number or by name. */
#ifndef FRAME_COLUMNS_H
#define FRAME_COLUMNS_H

#include <bloomery.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COLUMNS_MOST = 64 };

/* Columns in the order of the list. */
typedef struct {
    size_t   n;                 /* 0: none                                  */
    bool     named;             /* some are given by name                   */
    uint64_t numbers[COLUMNS_MOST];     /* from 1; 0: given by name         */
    bly_key  names[COLUMNS_MOST];
} cli_columns;

/* Read "2,3", "2-4" or "email,name". Return an error as numbers.h does. */
const char *columns_read(const char *text, cli_columns *out);
const char *columns_read_one(const char *text, cli_columns *out);

/* Returns whether some columns have numbers and others have names. */
bool columns_mixed(const cli_columns *columns);

typedef struct cli_lines cli_lines;
typedef struct cli_chunk cli_chunk;

/* Looks up the named columns in the header of `file`: sets *field and *label of
 * `lines`. Returns false, with the reason in `why`, if a name is missing or
 * occurs twice. */
bool columns_find(cli_lines *lines, const cli_chunk *chunk, bly_key header,
                  const char *file, char *why, size_t room);

#endif
