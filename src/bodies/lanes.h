/* lanes.h - lookups and adds in the blocks of split-block Bloom filters.
 *
 * Kinds `split` and `parquet` have the same blocks: eight lanes of 32 bits, in
 * each of which a key sets one bit. src/kinds/sets/split.c describes them. All
 * functions set the same bits and give the same answers on every processor.
 *
 * IMAGE
 *
 *      geometry 0   number of blocks, 1 .. 2^31 - 1
 *      geometry 1   bytes of the payload in front of the blocks
 */
#ifndef BLY_BODIES_LANES_H
#define BLY_BODIES_LANES_H

#include "image/kind.h"

#include "base/cpu.h"

#include "bloomery/inline.h"

enum {
    LANES_BLOCKS = 0, LANES_HEAD = 1,           /* geometry                  */
    LANES = 8, LANES_BITS = 32,
    LANES_BLOCK_BITS = 256, LANES_BLOCK_BYTES = 32
};

/* The bodies of single lookups are those of bloomery/inline.h. */
PLATFORM_INLINE bly_inline_split lanes_look(const void *image)
{
    return (bly_inline_split){
        .payload = image_payload_mut((void *)(uintptr_t)image)
                 + image_geometry(image, LANES_HEAD),
        .blocks = image_geometry(image, LANES_BLOCKS),
    };
}

/* Slots of a kind. The shared ones add while other threads do. */
bool           lanes_contains     (const void *image, uint64_t hash);
kind_contains *lanes_contains_here(const void **subject, void *view);
void           lanes_contains_many(const void *image, const uint64_t *hashes,
                                   size_t n, bool *present);

bly_status lanes_add       (void *image, uint64_t hash);
bly_status lanes_add_shared(void *image, uint64_t hash);
bly_status lanes_add_many  (void *image, const uint64_t *hashes, size_t n,
                            size_t *done);
bly_status lanes_add_each  (void *image, const uint64_t *hashes, size_t n,
                            bool *seen, size_t *done);
bly_status lanes_add_many_shared(void *image, const uint64_t *hashes, size_t n,
                                 size_t *done);

void lanes_places(const void *image, const uint64_t *hashes, size_t n,
                  uint64_t *places, size_t *bytes);

#endif /* BLY_BODIES_LANES_H */
