/* dumped.c - Bloom filters of Valkey's module in the value that DUMP returns.
 *
 *     | 07 | type | five numbers | bits, n | … | added | 0 | version | CRC-64 |
 *
 * A number in front of each field says what it is. BF.LOAD takes the same
 * fields in another form, format `valkey`. Compressed bits are refused.
 */
#include "filters/filters.h"

#include <stdlib.h>
#include <string.h>

enum { DUMPED_HEAD = 10, DUMPED_END = 10, DUMPED_UNSIGNED = 2,
       DUMPED_DOUBLE = 4, DUMPED_STRING = 5, DUMPED_PACKED = 0xC3,
       DUMPED_BITS = 46 };      /* bytes of bits with their numbers, least */

/* The name of the type, "bloomfltr", 6 bits a character; in the lowest 10 bits
 * its version, 1. */
#define DUMPED_TYPE UINT64_C(0x6E5A2899F96DAC01)

#define DUMPED_DAMAGED "and damaged or cut short: dump it again"
#define DUMPED_SMALL   "compressed: set rdbcompression to no, and dump it again"

typedef struct {
    const unsigned char *at, *end;
    unsigned char       *to;            /* what is made of it                */
    bool                 bad, packed;
} dumped;

/* Returns a number of `width` bytes, the highest first. */
static uint64_t dumped_number(dumped *d, size_t width)
{
    uint64_t v = 0;

    d->bad |= (size_t)(d->end - d->at) < width;
    for (size_t i = 0; i < width && !d->bad; i++)
        v = v << 8 | *d->at++;
    return v;
}

/* Returns a number of one to nine bytes. */
static uint64_t dumped_length(dumped *d)
{
    uint64_t first = dumped_number(d, 1);

    d->packed |= first == DUMPED_PACKED;
    d->bad |= first > 0x81;
    return first < 0x40 ? first
         : first < 0x80 ? (first - 0x40) << 8 | dumped_number(d, 1)
         : dumped_number(d, first == 0x80 ? 4 : 8);
}

static uint64_t dumped_unsigned(dumped *d)
{
    d->bad |= dumped_length(d) != DUMPED_UNSIGNED;
    return dumped_length(d);
}

/* Writes a number, the lowest byte first. */
static void dumped_put(dumped *d, uint64_t v, size_t width)
{
    for (size_t i = 0; i < width; i++, v >>= 8)
        *d->to++ = (unsigned char)(v & 0xFF);
    d->bad |= v != 0;
}

static void dumped_copy(dumped *d, uint64_t n)
{
    d->bad |= n > (uint64_t)(d->end - d->at);
    for (; n > 0 && !d->bad; n--)
        *d->to++ = *d->at++;
}

static void dumped_filter(dumped *d, bool last)
{
    bool bits = dumped_length(d) == DUMPED_STRING;
    uint64_t capacity, n = dumped_length(d);

    d->bad |= !bits || n < DUMPED_BITS;
    dumped_put(d, n, 8);
    dumped_copy(d, n);
    capacity = dumped_unsigned(d);
    dumped_put(d, last ? dumped_unsigned(d) : capacity, 8);
    dumped_put(d, capacity, 8);
}

static void dumped_all(dumped *d)
{
    uint64_t filters = dumped_unsigned(d);

    dumped_put(d, 1, 1);
    dumped_put(d, dumped_unsigned(d), 4);
    for (int i = 0; i < 2; i++) {
        d->bad |= dumped_length(d) != DUMPED_DOUBLE;
        dumped_copy(d, 8);
    }
    dumped_put(d, dumped_unsigned(d), 1);
    dumped_put(d, filters, 8);
    for (uint64_t i = 0; i < filters && !d->bad; i++)
        dumped_filter(d, i == filters - 1);
    d->bad |= dumped_length(d) != 0 || d->at != d->end;
}

/* Returns whether the last 8 bytes are the CRC-64 (Jones) of the others. */
static bool dumped_sound(const unsigned char *bytes, size_t n)
{
    uint64_t crc = 0, is = 0;

    for (size_t i = 0; i < 8 * (n - 8); i++) {
        crc ^= i % 8 == 0 ? bytes[i / 8] : 0;
        crc = crc >> 1 ^ crc % 2 * UINT64_C(0x95AC9329AC4BC9B5);
    }
    for (size_t i = 0; i < 8; i++)
        is |= (uint64_t)bytes[n - 8 + i] << 8 * i;
    return crc == is;
}

bool dumped_begins(const unsigned char *bytes, size_t n)
{
    dumped d = { .at = bytes, .end = bytes + n };

    return n > DUMPED_HEAD + DUMPED_END && dumped_number(&d, 2) == 0x781
        && dumped_number(&d, 8) == DUMPED_TYPE;
}

int dumped_take(unsigned char **bytes, size_t *n, const char *path,
                const char **format)
{
    dumped d = { .bad = false };
    unsigned char *made;

    if (!dumped_begins(*bytes, *n))
        return CLI_GO;
    if ((*bytes)[*n - 1] == '\n' && !dumped_sound(*bytes, *n))
        --*n;                           /* valkey-cli --raw adds it          */
    d.at = *bytes + DUMPED_HEAD;
    d.end = *bytes + *n - DUMPED_END;
    made = d.to = malloc(64 + *n + *n / 2);
    if (made == NULL)
        return report_no_memory();
    dumped_all(&d);
    d.bad |= !dumped_sound(*bytes, *n);
    free(*bytes);
    *bytes = made;
    *n = (size_t)(d.to - made);
    *format = *format == NULL ? "valkey" : *format;
    return !d.bad ? CLI_GO
         : report_error("'%s': it is a Bloom filter that Valkey dumped, %s",
                        path, d.packed ? DUMPED_SMALL : DUMPED_DAMAGED);
}
