/* bitrows.h - rows of bits with names, in memory (bly_rows). */
#ifndef SIMILAR_BITROWS_H
#define SIMILAR_BITROWS_H

#include "bloomery/similar.h"

#include "base/memory.h"

/* Memory that grows. */
typedef struct {
    uint8_t *at;
    uint64_t bytes, room;
} bitrows_array;

struct bly_rows {
    bly_allocator allocator;
    uint64_t bits;              /* of a row; 0: not said yet                 */
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
    uint64_t type;              /* where it begins in `text`                 */
};

/* Rows have so many bits, 1 .. BLY_ROW_BITS_MOST. */
void bitrows_set_width(bly_rows *rows, uint64_t bits);

/* Is a bit set behind the last one of a row? */
bool bitrows_strays(const bly_rows *rows, const uint8_t *row);

/* Room for one more row, all zero, and a name of so many bytes; NULL: no
 * memory. bitrows_end then adds the row that was put there. */
uint8_t *bitrows_begin(bly_rows *rows, size_t length);
void     bitrows_end(bly_rows *rows, const void *name, size_t length);

/* Append a text, which is then ended by NUL. False: no memory. */
bool bitrows_keep(bly_rows *rows, uint64_t *at, const void *text,
                  size_t length);

/* No row can be added to rows that are sorted. */
bly_status bitrows_check(const bly_rows *rows);

static inline const uint64_t *bitrows_numbers(const bitrows_array *array)
{
    return (const uint64_t *)(const void *)array->at;
}

/* The rows from place i on. */
static inline const uint8_t *bitrows_place(const bly_rows *rows, uint64_t i)
{
    return rows->rows.at + (size_t)i * rows->stride;
}

#endif /* SIMILAR_BITROWS_H */
