/* held.c - prints or writes the lines that a table has counted.
 *
 * exact.c holds the lines of a pipe in a table. The lines wanted are printed in
 * the order of their first occurrence. If memory runs out, all lines are
 * written to a file instead, each as often as it was read.
 */
#include "bloomery/exact/dedup.h"
#include "frame/output.h"

#include <stdlib.h>
#include <string.h>

enum { HELD_BUFFER = 1 << 18 };

/* ==== Printing ========================================================== */

bool held_wanted(const exact_want *want, uint64_t count)
{
    return !(want->repeated && count == 1) && !(want->unique && count > 1);
}

bool held_print_count(uint64_t count)
{
    char text[24];
    size_t at = sizeof text;

    text[--at] = '\t';
    for (; count > 0; count /= 10)
        text[--at] = (char)('0' + count % 10);
    return output_bytes(text + at, sizeof text - at);
}

bool held_print(const dedup_table *table, const exact_want *want,
                uint64_t *printed)
{
    const char end = want->how.null ? '\0' : '\n';
    uint64_t count;
    bly_key key;

    *printed = 0;
    for (size_t at = 0; keytable_each(table, &at, &key, &count); ) {
        if (!held_wanted(want, count))
            continue;
        ++*printed;
        if ((want->count && !held_print_count(count))
            || !output_bytes(key.data, key.length) || !output_bytes(&end, 1))
            return false;
    }
    return true;
}

/* ==== Writing =========================================================== */

typedef struct {
    unsigned char *bytes;
    size_t         used;
    int            fd;
} held_buffer;

static int held_flush(held_buffer *b)
{
    size_t n = b->used;

    b->used = 0;
    return spill_write(b->fd, b->bytes, n, true);
}

static int held_line(held_buffer *b, bly_key key, unsigned char end)
{
    if (key.length + 1 > HELD_BUFFER - b->used && held_flush(b) != CLI_GO)
        return CLI_ERROR;
    if (key.length + 1 > HELD_BUFFER)
        return spill_write(b->fd, key.data, key.length, true) == CLI_GO
             ? spill_write(b->fd, &end, 1, true) : CLI_ERROR;
    memcpy(b->bytes + b->used, key.data, key.length);
    b->used += key.length;
    b->bytes[b->used++] = end;
    return CLI_GO;
}

int held_write(const dedup_table *table, int fd, unsigned char end,
               uint64_t *bytes)
{
    held_buffer b = { .bytes = malloc(HELD_BUFFER), .fd = fd };
    int status = b.bytes != NULL ? CLI_GO : report_no_memory();
    uint64_t count;
    bly_key key;

    for (size_t at = 0;
         status == CLI_GO && keytable_each(table, &at, &key, &count); ) {
        *bytes += count * (key.length + 1);
        for (; status == CLI_GO && count > 0; count--)
            status = held_line(&b, key, end);
    }
    if (status == CLI_GO)
        status = held_flush(&b);
    free(b.bytes);
    return status;
}
