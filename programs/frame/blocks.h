/* blocks.h - decompresses blocks whose largest size is known. */
#ifndef FRAME_BLOCKS_H
#define FRAME_BLOCKS_H

#include <stddef.h>

typedef enum {
    BLOCKS_GOOD,
    BLOCKS_UNKNOWN,             /* the codec                                */
    BLOCKS_BAD,                 /* the bytes, or they have more than `room` */
    BLOCKS_NO_MEMORY
} blocks_result;

/* Decompresses a block to at most `room` bytes and sets *made to their number.
 * The codec is "zlib" (deflate, without a header), "snappy", "lz4" (without a
 * frame) or "zstd". Thread-safe. */
blocks_result blocks_unpack(const char *codec, const void *from, size_t n,
                            void *to, size_t room, size_t *made);

#endif
