/* bitrows.h - rows of bits with names, in memory (bly_rows). */
#ifndef SIMILAR_BITROWS_H
#define SIMILAR_BITROWS_H

#include "bloomery/similar.h"

#include "base/memory.h"

/* A growing array. */
typedef struct {
    uint8_t *at;
    uint64_t bytes, room;
} bitrows_array;

struct bly_rows {
    bly_allocator allocator;
    uint64_t bits;              /* of a row; 0 until known                   */
    size_t   bytes, stride;     /* and its bytes, without and with padding   */
    uint64_t n;
    bitrows_array rows;
    bitrows_array places;       /* uint64_t: of row i how many bits it has,
                                   and, once they are sorted, where it lies  */
    bitrows_array names;        /* uint64_t: where its name begins in        */
    bitrows_array text;
    bool     sorted;            /* then there are                            */
    uint64_t most;              /* bits of the row that has most             */
    bitrows_array first;        /* uint64_t: where rows with b bits begin,
                                   for b from 0 to most + 1                  */
    bitrows_array origin;       /* uint64_t: which row lies at place i       */
    uint64_t line;              /* lines of FPS so far                       */
    bool     headed;            /* the first one was right                   */
    bool     counted, typed;    /* num_bits has been said, and type          */
    uint64_t type;              /* offset in `text`                          */
};

/* Rows have so many bits, 1 .. BLY_ROW_BITS_MOST. */
void bitrows_set_width(bly_rows *rows, uint64_t bits);

/* Returns whether a bit beyond the end of the row is set. */
bool bitrows_strays(const bly_rows *rows, const uint8_t *row);

/* Makes room for a zeroed row and a name of that length; bitrows_end then adds
 * the row. Returns NULL if out of memory. */
uint8_t *bitrows_begin(bly_rows *rows, size_t length);
void     bitrows_end(bly_rows *rows, const void *name, size_t length);

/* Appends a text and a NUL. Returns false if out of memory. */
bool bitrows_keep(bly_rows *rows, uint64_t *at, const void *text,
                  size_t length);

/* Refuses to add rows to sorted rows. */
bly_status bitrows_check(const bly_rows *rows);

static inline const uint64_t *bitrows_numbers(const bitrows_array *array)
{
    return (const uint64_t *)(const void *)array->at;
}

/* Returns the rows from place i on. */
static inline const uint8_t *bitrows_place(const bly_rows *rows, uint64_t i)
{
    return rows->rows.at + (size_t)i * rows->stride;
}

#endif /* SIMILAR_BITROWS_H */
