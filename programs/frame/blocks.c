/* blocks.c - decompresses blocks whose largest size is known, as they are
 * inside data files, without the magic numbers and checksums that codec.c
 * reads.
 *
 * zlib, libzstd and liblz4 do it, without which (BLY_DECOMPRESS) their codecs
 * are unknown. Snappy is decompressed here, which takes fewer lines than a
 * dependency.
 */
#include "frame/blocks.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* ==== snappy ============================================================
 *
 * The number of bytes as a varint, then elements. The two lowest bits of an
 * element's first byte say what it is: 0, bytes as they are, whose number less
 * 1 is in the other bits, or from 60 on in the next 1 to 4 bytes; 1 to 3, a
 * copy of 1 to 64 bytes from up to 4 GiB before.
 */

typedef struct {
    const unsigned char *at, *end;
    unsigned char       *to;
    size_t               made, wanted;
} blocks_snappy;

/* Reads a number of `width` bytes, the lowest first. */
static bool blocks_number(blocks_snappy *s, unsigned width, size_t *out)
{
    *out = 0;
    if ((size_t)(s->end - s->at) < width)
        return false;
    for (unsigned i = 0; i < width; i++)
        *out |= (size_t)*s->at++ << 8 * i;
    return true;
}

static bool blocks_size(blocks_snappy *s)
{
    s->wanted = 0;
    for (unsigned shift = 0; shift < 32 && s->at < s->end; shift += 7) {
        unsigned char byte = *s->at++;

        s->wanted |= (size_t)(byte & 0x7F) << shift;
        if ((byte & 0x80) == 0)
            return true;
    }
    return false;
}

static bool blocks_literal(blocks_snappy *s, unsigned tag)
{
    enum { LONG = 60 };
    size_t n = tag >> 2;

    if (n >= LONG && !blocks_number(s, (unsigned)n - LONG + 1, &n))
        return false;
    if (n >= (size_t)(s->end - s->at) || n >= s->wanted - s->made)
        return false;
    memcpy(s->to + s->made, s->at, n + 1);
    s->at += n + 1;
    s->made += n + 1;
    return true;
}

static bool blocks_copy(blocks_snappy *s, unsigned tag)
{
    bool near = (tag & 3) == 1;
    size_t n = near ? (tag >> 2 & 7) + 4 : (tag >> 2) + 1, back;

    if (!blocks_number(s, near ? 1 : (tag & 3) == 2 ? 2 : 4, &back))
        return false;
    if (near)
        back |= (size_t)(tag >> 5) << 8;
    if (back == 0 || back > s->made || n > s->wanted - s->made)
        return false;
    for (; n > 0; n--, s->made++)
        s->to[s->made] = s->to[s->made - back];
    return true;
}

static blocks_result blocks_unpack_snappy(const void *from, size_t n, void *to,
                                          size_t room, size_t *made)
{
    const unsigned char *at = from;
    blocks_snappy s = { .at = at, .end = at + n, .to = to };

    if (!blocks_size(&s) || s.wanted > room)
        return BLOCKS_BAD;
    while (s.at < s.end) {
        unsigned tag = *s.at++;

        if (!((tag & 3) == 0 ? blocks_literal : blocks_copy)(&s, tag))
            return BLOCKS_BAD;
    }
    *made = s.made;
    return s.made == s.wanted ? BLOCKS_GOOD : BLOCKS_BAD;
}

#if defined(BLY_DECOMPRESS)
#include <lz4.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

/* ==== zlib ============================================================== */

static blocks_result blocks_unpack_zlib(const void *from, size_t n, void *to,
                                        size_t room, size_t *made)
{
    z_stream z = { .next_in = (Bytef *)(uintptr_t)from, .avail_in = (uInt)n,
                   .next_out = to, .avail_out = (uInt)room };
    int result;

    if (inflateInit2(&z, -15) != Z_OK)          /* without a header */
        return BLOCKS_NO_MEMORY;
    result = inflate(&z, Z_FINISH);
    *made = room - z.avail_out;
    inflateEnd(&z);
    return result == Z_STREAM_END ? BLOCKS_GOOD
         : result == Z_MEM_ERROR ? BLOCKS_NO_MEMORY : BLOCKS_BAD;
}

/* ==== lz4 and zstd ====================================================== */

static blocks_result blocks_unpack_lz4(const void *from, size_t n, void *to,
                                       size_t room, size_t *made)
{
    int result = LZ4_decompress_safe(from, to, (int)n, (int)room);

    *made = result < 0 ? 0 : (size_t)result;
    return result < 0 ? BLOCKS_BAD : BLOCKS_GOOD;
}

static blocks_result blocks_unpack_zstd(const void *from, size_t n, void *to,
                                        size_t room, size_t *made)
{
    size_t result = ZSTD_decompress(to, room, from, n);

    *made = result;
    if (!ZSTD_isError(result))
        return BLOCKS_GOOD;
    return ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation
         ? BLOCKS_NO_MEMORY : BLOCKS_BAD;
}
#endif

/* ==== The table ========================================================= */

blocks_result blocks_unpack(const char *codec, const void *from, size_t n,
                            void *to, size_t room, size_t *made)
{
    static const struct {
        const char *name;
        blocks_result (*unpack)(const void *from, size_t n, void *to,
                                size_t room, size_t *made);
    } codecs[] = {
        { "snappy", blocks_unpack_snappy },
#if defined(BLY_DECOMPRESS)
        { "zlib", blocks_unpack_zlib },
        { "lz4", blocks_unpack_lz4 },
        { "zstd", blocks_unpack_zstd },
#endif
    };

    *made = 0;
    if (n > INT_MAX || room > INT_MAX)
        return BLOCKS_BAD;
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++)
        if (strcmp(codec, codecs[i].name) == 0)
            return codecs[i].unpack(from, n, to, room, made);
    return BLOCKS_UNKNOWN;
}
