/* blocks.c - decompresses blocks whose largest size is known, as they are
 * inside data files, without the magic numbers and checksums that codec.c
 * reads.
 *
 * zlib, libzstd, liblz4 and libsnappy do it. Without them (BLY_DECOMPRESS) all
 * codecs are unknown. libsnappy is loaded when the first of its blocks is
 * decompressed: it is C++, and a program that is linked with these libraries
 * and with it takes 1.6 ms to start and end instead of 1.0 (500 starts by a
 * shell on Debian 12).
 */
#include "frame/blocks.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

#if defined(BLY_DECOMPRESS)
#include <dlfcn.h>
#include <lz4.h>
#include <pthread.h>
#include <snappy-c.h>
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

/* ==== snappy ============================================================ */

#ifdef __APPLE__
#define BLOCKS_SNAPPY "libsnappy.1.dylib"
#else
#define BLOCKS_SNAPPY "libsnappy.so.1"
#endif

static snappy_status (*blocks_snappy)(const char *from, size_t n, char *to,
                                      size_t *made);
static pthread_once_t blocks_once = PTHREAD_ONCE_INIT;

static void blocks_load(void)
{
    void *library = dlopen(BLOCKS_SNAPPY, RTLD_NOW | RTLD_LOCAL);
    void *found = library != NULL ? dlsym(library, "snappy_uncompress") : NULL;

    memcpy(&blocks_snappy, &found, sizeof found);
}

static blocks_result blocks_unpack_snappy(const void *from, size_t n, void *to,
                                          size_t room, size_t *made)
{
    pthread_once(&blocks_once, blocks_load);
    if (blocks_snappy == NULL)
        return BLOCKS_UNKNOWN;
    *made = room;
    return blocks_snappy(from, n, to, made) == SNAPPY_OK ? BLOCKS_GOOD
                                                         : BLOCKS_BAD;
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
#if defined(BLY_DECOMPRESS)
        { "zlib", blocks_unpack_zlib },
        { "lz4", blocks_unpack_lz4 },
        { "zstd", blocks_unpack_zstd },
        { "snappy", blocks_unpack_snappy },
#endif
        { .name = NULL },
    };

    *made = 0;
    if (n > INT_MAX || room > INT_MAX)
        return BLOCKS_BAD;
    for (size_t i = 0; codecs[i].name != NULL; i++)
        if (strcmp(codec, codecs[i].name) == 0)
            return codecs[i].unpack(from, n, to, room, made);
    return BLOCKS_UNKNOWN;
}
