/* preview.h - XXH3 as in the preview of xxHash 0.7.2.
 *
 * RocksDB has used it since 6.6, and must keep it for filters on disk. The
 * final XXH3 differs in mixing keys of up to 16 bytes, in summing keys beyond
 * 240 bytes, and in the finish. The empty key has RocksDB's own value.
 */
#ifndef BLY_BITS_PREVIEW_H
#define BLY_BITS_PREVIEW_H

#include <stddef.h>
#include <stdint.h>

uint64_t preview_xxh3(const void *key, size_t length);

#endif /* BLY_BITS_PREVIEW_H */
