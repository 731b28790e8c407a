/* codec.c - recognizes compressed bytes and decompresses them.
 *
 * A file is recognized by its first bytes, never by its name. A codec consumes
 * some bytes and produces some. A member is the output of one run of a
 * compressor; a file may hold several, one after the other.
 *
 * Each codec calls the library of its own format: zlib, libzstd, liblzma,
 * libbz2, liblz4. A single library for all of them, libarchive, was tried
 * first. It silently takes any bytes after the last member of gzip, bzip2 and
 * lz4 for the end. With the libraries it depends on, an empty program takes 3.3
 * ms from start to end instead of 1.0; with these five it takes 1.1 (200 starts
 * by a shell on Debian 12).
 *
 * Without BLY_DECOMPRESS (CMake's option) the formats are still recognized, so
 * that compressed bytes are never taken for lines.
 */
#include "frame/codec.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A frame that zstd and lz4 skip, and that either may write. '?' is any byte,
 * here one from 0x50 to 0x5f. */
static const char codec_skipped[] = "?\x2a\x4d\x18";
static const char codec_zstd_magic[] = "\x28\xb5\x2f\xfd";
static const char codec_lz4_magic[] = "\x04\x22\x4d\x18";

#if defined(BLY_DECOMPRESS)
#include <bzlib.h>
#include <lz4frame.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

/* The older libraries count in 32 bits. */
static unsigned codec_part(size_t n)
{
    return n < 1u << 30 ? (unsigned)n : 1u << 30;
}

static void codec_move(codec_flow *f, size_t in, size_t out)
{
    f->in += in;
    f->in_left -= in;
    f->out += out;
    f->out_left -= out;
}

/* ==== gzip ============================================================== */

static void *codec_gzip_open(void)
{
    z_stream *z = calloc(1, sizeof *z);

    if (z != NULL && inflateInit2(z, 15 + 16) == Z_OK)      /* gzip alone */
        return z;
    free(z);
    return NULL;
}

static codec_step codec_gzip(void *state, codec_flow *f)
{
    z_stream *z = state;
    unsigned in = codec_part(f->in_left), out = codec_part(f->out_left);
    int result;

    z->next_in = (Bytef *)(uintptr_t)f->in;
    z->avail_in = in;
    z->next_out = f->out;
    z->avail_out = out;
    result = inflate(z, Z_NO_FLUSH);
    codec_move(f, in - z->avail_in, out - z->avail_out);
    if (result == Z_STREAM_END)
        return inflateReset(z) == Z_OK ? CODEC_END : CODEC_BAD;
    return result == Z_OK || result == Z_BUF_ERROR ? CODEC_GO
         : result == Z_MEM_ERROR ? CODEC_NO_MEMORY : CODEC_BAD;
}

static void codec_gzip_close(void *state)
{
    inflateEnd(state);
    free(state);
}

/* ==== zstd ============================================================== */

/* The largest window that zstd has. Memory is allocated as a frame needs it. */
static void *codec_zstd_open(void)
{
    ZSTD_DStream *z = ZSTD_createDStream();

    if (z != NULL)
        (void)ZSTD_DCtx_setParameter(z, ZSTD_d_windowLogMax,
                                     sizeof(size_t) > 4 ? 31 : 30);
    return z;
}

static codec_step codec_zstd(void *state, codec_flow *f)
{
    ZSTD_inBuffer in = { f->in, f->in_left, 0 };
    ZSTD_outBuffer out = { f->out, f->out_left, 0 };
    size_t result = ZSTD_decompressStream(state, &out, &in);

    codec_move(f, in.pos, out.pos);
    if (ZSTD_isError(result))
        return ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation
             ? CODEC_NO_MEMORY : CODEC_BAD;
    return result == 0 ? CODEC_END : CODEC_GO;
}

static void codec_zstd_close(void *state)
{
    ZSTD_freeDStream(state);
}

/* ==== xz ================================================================ */

static void *codec_xz_open(void)
{
    static const lzma_stream none = LZMA_STREAM_INIT;
    lzma_stream *x = malloc(sizeof *x);

    if (x == NULL)
        return NULL;
    *x = none;
    if (lzma_stream_decoder(x, UINT64_MAX, 0) == LZMA_OK)
        return x;
    free(x);
    return NULL;
}

static codec_step codec_xz(void *state, codec_flow *f)
{
    lzma_stream *x = state;
    lzma_ret result;

    x->next_in = f->in;
    x->avail_in = f->in_left;
    x->next_out = f->out;
    x->avail_out = f->out_left;
    result = lzma_code(x, LZMA_RUN);
    codec_move(f, f->in_left - x->avail_in, f->out_left - x->avail_out);
    if (result == LZMA_STREAM_END)
        return lzma_stream_decoder(x, UINT64_MAX, 0) == LZMA_OK
             ? CODEC_END : CODEC_NO_MEMORY;
    return result == LZMA_OK || result == LZMA_BUF_ERROR ? CODEC_GO
         : result == LZMA_MEM_ERROR ? CODEC_NO_MEMORY : CODEC_BAD;
}

static void codec_xz_close(void *state)
{
    lzma_end(state);
    free(state);
}

/* ==== bzip2 ============================================================= */

static void *codec_bzip2_open(void)
{
    bz_stream *b = calloc(1, sizeof *b);

    if (b != NULL && BZ2_bzDecompressInit(b, 0, 0) == BZ_OK)
        return b;
    free(b);
    return NULL;
}

static codec_step codec_bzip2(void *state, codec_flow *f)
{
    bz_stream *b = state;
    unsigned in = codec_part(f->in_left), out = codec_part(f->out_left);
    int result;

    b->next_in = (char *)(uintptr_t)f->in;
    b->avail_in = in;
    b->next_out = (char *)f->out;
    b->avail_out = out;
    result = BZ2_bzDecompress(b);
    codec_move(f, in - b->avail_in, out - b->avail_out);
    if (result == BZ_STREAM_END) {
        BZ2_bzDecompressEnd(b);
        memset(b, 0, sizeof *b);
        return BZ2_bzDecompressInit(b, 0, 0) == BZ_OK ? CODEC_END
                                                      : CODEC_NO_MEMORY;
    }
    return result == BZ_OK ? CODEC_GO
         : result == BZ_MEM_ERROR ? CODEC_NO_MEMORY : CODEC_BAD;
}

static void codec_bzip2_close(void *state)
{
    BZ2_bzDecompressEnd(state);
    free(state);
}

/* ==== lz4 =============================================================== */

static void *codec_lz4_open(void)
{
    LZ4F_dctx *z = NULL;

    return LZ4F_isError(LZ4F_createDecompressionContext(&z, LZ4F_VERSION))
         ? NULL : z;
}

static codec_step codec_lz4(void *state, codec_flow *f)
{
    size_t in = f->in_left, out = f->out_left;
    size_t result = LZ4F_decompress(state, f->out, &out, f->in, &in, NULL);

    if (LZ4F_isError(result))
        return strstr(LZ4F_getErrorName(result), "allocation") != NULL
             ? CODEC_NO_MEMORY : CODEC_BAD;
    codec_move(f, in, out);
    return result == 0 ? CODEC_END : CODEC_GO;
}

static void codec_lz4_close(void *state)
{
    LZ4F_freeDecompressionContext(state);
}

/* ==== zstd or lz4 ======================================================= */

/* The decoder of a frame is known when the frame begins. */
typedef struct {
    void *zstd, *lz4;
    bool  within, by_lz4;       /* a frame; and whose it is               */
} codec_frames;

static void codec_frames_close(void *state)
{
    codec_frames *c = state;

    codec_zstd_close(c->zstd);
    codec_lz4_close(c->lz4);
    free(c);
}

static void *codec_frames_open(void)
{
    codec_frames *c = calloc(1, sizeof *c);

    if (c == NULL)
        return NULL;
    c->zstd = codec_zstd_open();
    c->lz4 = codec_lz4_open();
    if (c->zstd != NULL && c->lz4 != NULL)
        return c;
    codec_frames_close(c);
    return NULL;
}

/* The first four bytes of a frame are there together, because codec_find has
 * seen them. zstd skips skippable frames itself. */
static codec_step codec_frames_step(void *state, codec_flow *f)
{
    codec_frames *c = state;
    codec_step step;

    if (!c->within)
        c->by_lz4 = f->in_left > 0 && f->in[0] == codec_lz4_magic[0];
    c->within = true;
    step = c->by_lz4 ? codec_lz4(c->lz4, f) : codec_zstd(c->zstd, f);
    if (step == CODEC_END)
        c->within = false;
    return step;
}

#define CODEC(name) codec_##name##_open, codec_##name, codec_##name##_close
#define CODEC_FRAMES codec_frames_open, codec_frames_step, codec_frames_close
#else
#define CODEC(name) NULL, NULL, NULL
#define CODEC_FRAMES NULL, NULL, NULL
#endif
#define CODEC_NONE NULL, NULL, NULL

/* ==== The table ========================================================= */

/* pzstd writes a skippable frame before each frame. The frame after it decides
 * which codec it is. Formats that are not supported are recognized too. */
static const codec codec_all[] = {
    { "gzip", "gzip -dc", "\x1f\x8b", 2, CODEC(gzip) },
    { "zstd", "zstd -dc", codec_zstd_magic, 4, CODEC(zstd) },
    { "zstd or lz4", "zstd -dc", codec_skipped, 4, CODEC_FRAMES },
    { "xz", "xz -dc", "\xfd" "7zXZ\0", 6, CODEC(xz) },
    { "bzip2", "bzip2 -dc", "BZh?1AY&SY", 10, CODEC(bzip2) },
    { "bzip2", "bzip2 -dc", "BZh?\x17\x72\x45\x38\x50\x90", 10, CODEC(bzip2) },
    { "lz4", "lz4 -dc", codec_lz4_magic, 4, CODEC(lz4) },
    { "compress", "gzip -dc", "\x1f\x9d", 2, CODEC_NONE },
    { "lzip", "lzip -dc", "LZIP\1", 5, CODEC_NONE },
    { "zip", "unzip -p", "PK\3\4", 4, CODEC_NONE },
    { "7-zip", "7z x -so", "7z\xbc\xaf\x27\x1c", 6, CODEC_NONE },
};

/* Returns whether the bytes begin with this codec's magic number. '?' is any
 * byte. */
static bool codec_begins(const codec *c, const unsigned char *bytes, size_t n)
{
    if (c->magic == codec_skipped && n > 0 && bytes[0] >> 4 != 5)
        return false;
    for (size_t i = 0; i < n && i < c->length; i++)
        if (c->magic[i] != '?' && (unsigned char)c->magic[i] != bytes[i])
            return false;
    return true;
}

const codec *codec_find(const unsigned char *bytes, size_t n, bool *more)
{
    *more = false;
    for (size_t i = 0; i < sizeof codec_all / sizeof *codec_all; i++) {
        const codec *c = &codec_all[i];

        if (!codec_begins(c, bytes, n))
            continue;
        if (n >= c->length)
            return c;
        *more = true;
    }
    return NULL;
}

/* Returns whether the codec is zstd, lz4 or the frame that both skip. */
static bool codec_framed(const codec *c)
{
    return c->magic == codec_zstd_magic || c->magic == codec_lz4_magic
        || c->magic == codec_skipped;
}

/* Skippable frames may stand among the frames of zstd and of lz4. */
bool codec_follows(const codec *c, const unsigned char *bytes, size_t n)
{
    bool more;
    const codec *next = codec_find(bytes, n, &more);

    if (next == NULL)
        return false;
    if (c->magic == codec_skipped || next->magic == codec_skipped)
        return codec_framed(c) && codec_framed(next);
    return strcmp(next->name, c->name) == 0;
}

/* Returns a number of n bytes, the lowest first. */
static size_t codec_count(const unsigned char *at, size_t n)
{
    size_t value = 0;

    while (n > 0)
        value = value << 8 | at[--n];
    return value;
}

/* The field BC of bgzip is a gzip field "extra", and comes first in it. pzstd
 * writes the size of each frame in a skippable frame before it. Other programs
 * may write a number there: a small one is no size. */
size_t codec_member(const unsigned char *bytes, size_t n)
{
    size_t frame;

    if (n < CODEC_MEMBER)
        return 0;
    if (memcmp(bytes, "\x1f\x8b\x08", 3) == 0 && (bytes[3] & 4) != 0
        && codec_count(bytes + 10, 2) >= 6
        && memcmp(bytes + 12, "BC\2\0", 4) == 0)
        return codec_count(bytes + 16, 2) + 1;
    if (bytes[0] >> 4 != 5 || memcmp(bytes + 1, codec_skipped + 1, 3) != 0
        || codec_count(bytes + 4, 4) != 4)
        return 0;
    frame = codec_count(bytes + 8, 4);
    return frame > 8 && frame < SIZE_MAX - 12 ? frame + 12 : 0;
}

int codec_number(const codec *c)
{
    return (int)(c - codec_all);
}

const codec *codec_at(int number)
{
    return &codec_all[number];
}
