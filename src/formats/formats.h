/* formats.h - other systems' files, recognised and made images of.
 *
 * What is known of a format stands with its kind (src/kinds/foreign/,
 * kind_foreign in image/kind.h); here is what is done with it. No operating
 * system.
 */
#ifndef BLY_FORMATS_FORMATS_H
#define BLY_FORMATS_FORMATS_H

#include "image/kind.h"

/* How an index of many sets begins, which is no filter (search/library/). */
#define FORMATS_INDEX "bloomidx"

/* The kind whose files look like this by their first n bytes, of `all`; NULL:
 * none. */
const bly_kind *formats_look(const uint8_t *bytes, size_t n, uint64_t all);

/* A format, and what was said of a file besides. */
typedef struct {
    const bly_kind *kind;
    uint64_t        option[KIND_OPTIONS];
} formats_found;

/* The format that was named, with options or without, or, where `name` is NULL,
 * the one that the bytes look like. BLY_EPARAM: there is none of that name;
 * BLY_EOPTION; BLY_EFORMAT: the bytes do not tell. */
bly_status formats_choose(formats_found *out, const char *name,
                          const uint8_t *bytes, size_t n, uint64_t all);

/* The header that makes an image of a file: with it in front, all but the
 * checksums is as `check` wants it. BLY_ECORRUPT, BLY_EVERSION, BLY_ETOOBIG;
 * BLY_EPARAM: the format has to be told more. */
bly_status formats_head(uint8_t header[IMAGE_HEADER],
                        const formats_found *format, const uint8_t *file,
                        uint64_t bytes);

/* Is this another system's file: by the format that was named, of which
 * "bloomery" is our own, or where none was by its first bytes? */
bool formats_other(const char *name, const uint8_t *bytes, size_t n);

#endif /* BLY_FORMATS_FORMATS_H */
