/* packer.c - compresses what is written to a file: gzip by zlib, and zstd.
 *
 * The levels are the fastest ones that are common: one thread compresses all
 * output. codec.c decompresses.
 */
#include "frame/packer.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(BLY_DECOMPRESS)
#include <zlib.h>
#include <zstd.h>

enum { PACKER_ROOM = 1 << 17, PACKER_GZIP_LEVEL = 1, PACKER_ZSTD_LEVEL = 3 };

struct cli_packer {
    z_stream      gzip;
    ZSTD_CStream *zstd;         /* NULL: gzip                                */
    char          room[PACKER_ROOM];
};

static bool packer_ends(const char *path, const char *ending)
{
    size_t n = strlen(path), e = strlen(ending);

    return n > e && strcmp(path + n - e, ending) == 0;
}

bool packer_serves(const char *path)
{
    return packer_ends(path, ".gz") || packer_ends(path, ".zst");
}

cli_packer *packer_new(const char *path)
{
    cli_packer *p = calloc(1, sizeof *p);

    if (p == NULL)
        return NULL;
    if (packer_ends(path, ".gz")) {
        if (deflateInit2(&p->gzip, PACKER_GZIP_LEVEL, Z_DEFLATED, 15 + 16, 8,
                         Z_DEFAULT_STRATEGY) == Z_OK)
            return p;
    } else {
        p->zstd = ZSTD_createCStream();
        if (p->zstd != NULL
            && !ZSTD_isError(ZSTD_initCStream(p->zstd, PACKER_ZSTD_LEVEL)))
            return p;
        ZSTD_freeCStream(p->zstd);
    }
    free(p);
    return NULL;
}

void packer_free(cli_packer *p)
{
    if (p == NULL)
        return;
    if (p->zstd != NULL)
        ZSTD_freeCStream(p->zstd);
    else
        deflateEnd(&p->gzip);
    free(p);
}

static bool packer_gzip(cli_packer *p, const char *bytes, size_t n, int flush,
                        packer_sink *sink)
{
    int result = Z_OK;

    for (;;) {
        unsigned part = n < 1u << 30 ? (unsigned)n : 1u << 30;

        p->gzip.next_in = (Bytef *)(uintptr_t)bytes;
        p->gzip.avail_in = part;
        do {
            p->gzip.next_out = (Bytef *)p->room;
            p->gzip.avail_out = PACKER_ROOM;
            result = deflate(&p->gzip, part < n ? Z_NO_FLUSH : flush);
            if (result == Z_STREAM_ERROR
                || !sink(p->room, PACKER_ROOM - p->gzip.avail_out))
                return false;
        } while (p->gzip.avail_out == 0);
        if (part == n)
            return true;
        bytes += part;
        n -= part;
    }
}

static bool packer_zstd(cli_packer *p, const char *bytes, size_t n,
                        ZSTD_EndDirective end, packer_sink *sink)
{
    ZSTD_inBuffer in = { bytes, n, 0 };
    size_t left;

    do {
        ZSTD_outBuffer out = { p->room, PACKER_ROOM, 0 };

        left = ZSTD_compressStream2(p->zstd, &out, &in, end);
        if (ZSTD_isError(left) || !sink(p->room, out.pos))
            return false;
    } while (end == ZSTD_e_end ? left > 0 : in.pos < in.size);
    return true;
}

bool packer_put(cli_packer *p, const char *bytes, size_t n, packer_sink *sink)
{
    return p->zstd != NULL ? packer_zstd(p, bytes, n, ZSTD_e_continue, sink)
                           : packer_gzip(p, bytes, n, Z_NO_FLUSH, sink);
}

bool packer_end(cli_packer *p, packer_sink *sink)
{
    return p->zstd != NULL ? packer_zstd(p, NULL, 0, ZSTD_e_end, sink)
                           : packer_gzip(p, NULL, 0, Z_FINISH, sink);
}

#else

bool packer_serves(const char *path)
{
    (void)path;
    return false;
}

cli_packer *packer_new(const char *path)
{
    (void)path;
    return NULL;
}

void packer_free(cli_packer *packer)
{
    (void)packer;
}

bool packer_put(cli_packer *packer, const char *bytes, size_t n,
                packer_sink *sink)
{
    (void)packer;
    return sink(bytes, n);
}

bool packer_end(cli_packer *packer, packer_sink *sink)
{
    return packer_put(packer, NULL, 0, sink);
}

#endif
