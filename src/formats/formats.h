/* formats.h - recognises other systems' files and makes images of them.
 *
 * A format is described by its kind (src/kinds/foreign/, kind_foreign in
 * image/kind.h); this is the code that uses these descriptions, without the
 * operating system.
 */
#ifndef BLY_FORMATS_FORMATS_H
#define BLY_FORMATS_FORMATS_H

#include "image/kind_foreign.h"

/* The first bytes of an index of many sets, which is not a filter
   (search/library/). */
#define FORMATS_INDEX "bloomidx"

/* A format, and further settings for a file. */
typedef struct {
    const bly_kind *kind;
    uint64_t        option[KIND_OPTIONS];
} formats_found;

/* Chooses the format named, with options or without or, if `name` is NULL, the
 * one that the bytes show. Returns BLY_EPARAM for an unknown name, BLY_EOPTION,
 * or BLY_EFORMAT if the bytes are not recognised. */
bly_status formats_choose(formats_found *out, const char *name,
                          const uint8_t *bytes, size_t n, uint64_t all);

/* Makes the header that turns a file into an image; with it, all but the
 * checksums satisfies `check`. Returns BLY_ECORRUPT, BLY_EVERSION, BLY_ETOOBIG,
 * or BLY_EPARAM if the format needs more settings. */
bly_status formats_head(uint8_t header[IMAGE_HEADER],
                        const formats_found *format, const uint8_t *file,
                        uint64_t bytes);

/* Returns whether this is another system's file, by the format named
 * ("bloomery" is ours) or by its first bytes. */
bool formats_other(const char *name, const uint8_t *bytes, size_t n);

#endif /* BLY_FORMATS_FORMATS_H */
