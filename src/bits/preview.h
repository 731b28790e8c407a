/* preview.h - XXH3 as it was in a preview, xxHash 0.7.2.
 *
 * RocksDB has hashed keys by it since 6.6 and keeps doing so, as its
 * filters lie on disks. It differs from what was released as XXH3: other
 * mixing of keys of up to 16 bytes, another sum of those beyond 240, and
 * another finish. Of a key without bytes RocksDB's own value.
 */
#ifndef BLY_BITS_PREVIEW_H
#define BLY_BITS_PREVIEW_H

#include <stddef.h>
#include <stdint.h>

uint64_t preview_xxh3(const void *key, size_t length);

#endif /* BLY_BITS_PREVIEW_H */
