/* bitrows.c - rows of bits with names, sorted by their numbers of set bits.
 *
 *     rows     | 0 bits | 1 bit  | 2 bits              | …
 *     first      ^        ^        ^                     ^
 *     origin     4        0 7      2 3 5                 …
 *
 * Rows are padded to whole vectors and stored contiguously. Those with equally
 * many bits keep the order in which they were added, as do all rows before
 * sorting. Arrays grow by a quarter, which copies a few times their size in all
 * and wastes little; sorting copies into an array of the exact size.
 */
#include "similar/library/bitrows.h"

#include <string.h>

#include "base/sizes.h"
#include "base/status.h"
#include "bits/ones.h"

enum { BITROWS_LEAST = 4096 };

/* ---- Arrays ------------------------------------------------------------- */

static void bitrows_drop(const bly_rows *rows, bitrows_array *array)
{
    memory_release(&rows->allocator, array->at, (size_t)array->room);
    *array = (bitrows_array){ .at = NULL };
}

/* Makes room for that many more bytes. Returns false, with the array unchanged,
   if out of memory. */
static bool bitrows_reserve(const bly_rows *rows, bitrows_array *array,
                            uint64_t more)
{
    uint64_t wanted, room = array->room + array->room / 4;
    if (!sizes_add(&wanted, array->bytes, more))
        return false;
    if (wanted <= array->room)
        return true;
    room = room < BITROWS_LEAST ? BITROWS_LEAST : room;
    room = room < wanted ? wanted : room;
    uint8_t *at = memory_raw(&rows->allocator, room);
    if (at == NULL)
        return false;
    if (array->bytes > 0)
        memcpy(at, array->at, (size_t)array->bytes);
    memory_release(&rows->allocator, array->at, (size_t)array->room);
    array->at = at;
    array->room = room;
    return true;
}

static void bitrows_append(bitrows_array *array, const void *from, size_t bytes)
{
    memcpy(array->at + (size_t)array->bytes, from, bytes);
    array->bytes += bytes;
}

/* Allocates an array for n elements of that many bytes. */
static bool bitrows_make(const bly_rows *rows, bitrows_array *array, uint64_t n,
                         size_t each)
{
    uint64_t bytes;
    *array = (bitrows_array){ .at = NULL };
    if (!sizes_mul(&bytes, n, each))
        return false;
    bytes = bytes > 0 ? bytes : 1;
    array->at = memory_raw(&rows->allocator, bytes);
    if (array->at == NULL)
        return false;
    array->bytes = array->room = bytes;
    return true;
}

static uint64_t *bitrows_change(bitrows_array *array)
{
    return (uint64_t *)(void *)array->at;
}

/* ---- To and fro --------------------------------------------------------- */

void bitrows_set_width(bly_rows *rows, uint64_t bits)
{
    rows->bits = bits;
    rows->bytes = (size_t)((bits + 7) / 8);
    rows->stride = (rows->bytes + ONES_STEP - 1) / ONES_STEP * ONES_STEP;
}

bly_status bly_rows_new(bly_rows **out, uint64_t bits,
                        const bly_allocator *allocator)
{
    bly_allocator from = memory_allocator(allocator, 1);
    if (bits > BLY_ROW_BITS_MOST)
        return status_fail(BLY_EPARAM, "rows have at most 2^24 bits: fold "
                           "longer ones");
    bly_rows *rows = memory_zeroed(&from, sizeof *rows);
    if (rows == NULL)
        return status_plain(BLY_ENOMEM);
    rows->allocator = from;
    if (bits > 0)
        bitrows_set_width(rows, bits);
    *out = rows;
    return BLY_OK;
}

void bly_rows_free(bly_rows *rows)
{
    if (rows == NULL)
        return;
    bly_allocator allocator = rows->allocator;
    bitrows_drop(rows, &rows->rows);
    bitrows_drop(rows, &rows->places);
    bitrows_drop(rows, &rows->names);
    bitrows_drop(rows, &rows->text);
    bitrows_drop(rows, &rows->first);
    bitrows_drop(rows, &rows->origin);
    memory_release(&allocator, rows, sizeof *rows);
}

/* ---- Adding ------------------------------------------------------------- */

bool bitrows_strays(const bly_rows *rows, const uint8_t *row)
{
    return rows->bits % 8 != 0 && row[rows->bytes - 1] >> (rows->bits % 8) != 0;
}

bly_status bitrows_check(const bly_rows *rows)
{
    return rows->sorted
         ? status_fail(BLY_EREADONLY, "the rows are sorted, so none can be "
                       "added: add all rows before sorting") : BLY_OK;
}

bool bitrows_keep(bly_rows *rows, uint64_t *at, const void *text, size_t length)
{
    uint64_t more;
    if (!sizes_add(&more, length, 1)
        || !bitrows_reserve(rows, &rows->text, more))
        return false;
    *at = rows->text.bytes;
    bitrows_append(&rows->text, text, length);
    bitrows_append(&rows->text, "", 1);
    return true;
}

uint8_t *bitrows_begin(bly_rows *rows, size_t length)
{
    uint64_t more;
    if (!sizes_add(&more, length, 1)
        || !bitrows_reserve(rows, &rows->rows, rows->stride)
        || !bitrows_reserve(rows, &rows->places, sizeof (uint64_t))
        || !bitrows_reserve(rows, &rows->names, sizeof (uint64_t))
        || !bitrows_reserve(rows, &rows->text, more))
        return NULL;
    uint8_t *row = rows->rows.at + (size_t)rows->rows.bytes;
    memset(row, 0, rows->stride);
    return row;
}

void bitrows_end(bly_rows *rows, const void *name, size_t length)
{
    const uint8_t *row = rows->rows.at + (size_t)rows->rows.bytes;
    uint64_t at = 0, bits;
    uint32_t ones;
    ones_shared(&ones, row, 1, rows->stride, row);
    bits = ones;
    bitrows_keep(rows, &at, name, length);      /* there is room for it */
    bitrows_append(&rows->places, &bits, sizeof bits);
    bitrows_append(&rows->names, &at, sizeof at);
    rows->rows.bytes += rows->stride;
    rows->n++;
}

bly_status bly_rows_add(bly_rows *rows, const void *bits, const char *name)
{
    size_t length = strlen(name);
    bly_status status = bitrows_check(rows);
    if (status != BLY_OK)
        return status;
    if (rows->bits == 0)
        return status_fail(BLY_EPARAM, "the number of bits in a row is "
                           "unknown: give it when the rows are made");
    if (bitrows_strays(rows, bits))
        return status_fail(BLY_EPARAM, "a bit is set after the last one of a "
                           "row: clear the rest of its last byte");
    uint8_t *row = bitrows_begin(rows, length);
    if (row == NULL)
        return status_plain(BLY_ENOMEM);
    memcpy(row, bits, rows->bytes);
    bitrows_end(rows, name, length);
    return BLY_OK;
}

/* ---- Sorting ------------------------------------------------------------ */

/* Sets first[b] to the number of rows with fewer than b bits. */
static void bitrows_count(uint64_t *first, const bly_rows *rows, uint64_t most)
{
    const uint64_t *bits = bitrows_numbers(&rows->places);
    memset(first, 0, (size_t)(most + 2) * sizeof *first);
    for (uint64_t i = 0; i < rows->n; i++)
        first[bits[i] + 1]++;
    for (uint64_t b = 0; b <= most; b++)
        first[b + 1] += first[b];
}

/* Copies each row to the next place for its number of bits. */
static void bitrows_deal(bly_rows *rows, uint8_t *to, uint64_t *first,
                         uint64_t *origin)
{
    uint64_t *places = bitrows_change(&rows->places);
    for (uint64_t i = 0; i < rows->n; i++) {
        uint64_t place = first[places[i]]++;
        memcpy(to + (size_t)place * rows->stride, bitrows_place(rows, i),
               rows->stride);
        origin[place] = i;
        places[i] = place;
    }
}

static uint64_t bitrows_most(const bly_rows *rows)
{
    const uint64_t *bits = bitrows_numbers(&rows->places);
    uint64_t most = 0;
    for (uint64_t i = 0; i < rows->n; i++)
        most = bits[i] > most ? bits[i] : most;
    return most;
}

bly_status bly_rows_sort(bly_rows *rows)
{
    bitrows_array to, first = { .at = NULL }, origin = { .at = NULL };
    uint64_t most = bitrows_most(rows);
    if (rows->sorted)
        return BLY_OK;
    if (!bitrows_make(rows, &to, rows->n, rows->stride)
        || !bitrows_make(rows, &first, most + 2, sizeof (uint64_t))
        || !bitrows_make(rows, &origin, rows->n, sizeof (uint64_t))) {
        bitrows_drop(rows, &to);
        bitrows_drop(rows, &first);
        return status_plain(BLY_ENOMEM);
    }
    bitrows_count(bitrows_change(&first), rows, most);
    bitrows_deal(rows, to.at, bitrows_change(&first), bitrows_change(&origin));
    /* each is now where the next one began */
    memmove(first.at + sizeof (uint64_t), first.at,
            (size_t)(most + 1) * sizeof (uint64_t));
    bitrows_change(&first)[0] = 0;
    bitrows_drop(rows, &rows->rows);
    rows->rows = to;
    rows->first = first;
    rows->origin = origin;
    rows->most = most;
    rows->sorted = true;
    return BLY_OK;
}

/* ---- Looking ------------------------------------------------------------ */

uint64_t bly_rows_count(const bly_rows *rows)
{
    return rows->n;
}

uint64_t bly_rows_bits(const bly_rows *rows)
{
    return rows->bits;
}

const char *bly_rows_type(const bly_rows *rows)
{
    return rows->typed ? (const char *)rows->text.at + (size_t)rows->type
                       : NULL;
}

const void *bly_rows_at(const bly_rows *rows, uint64_t i)
{
    if (i >= rows->n)
        return NULL;
    return bitrows_place(rows, rows->sorted ? bitrows_numbers(&rows->places)[i]
                                            : i);
}

const char *bly_rows_name(const bly_rows *rows, uint64_t i)
{
    return i < rows->n ? (const char *)rows->text.at
                         + (size_t)bitrows_numbers(&rows->names)[i] : NULL;
}
