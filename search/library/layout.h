/* layout.h - the layout of an index file.
 *
 * All numbers are little-endian:
 *
 *     header     128 bytes
 *     rows       of each group, aligned to 64 bytes
 *     list       the following, aligned to 64 bytes, to the end:
 *       groups     48 bytes each
 *       documents  16 bytes each, in the order of their groups and columns
 *       dropped    a bit for each document, in whole bytes
 *       extra      as many bytes for each as the header says
 *       names      concatenated
 *       about
 *       sums       of each page of the rows of each group, 8 bytes each
 *
 * In a group with m rows of d documents, the bit of row r and column c is bit r
 * d + c, and bit i is bit i % 8 of byte i / 8. Rows may begin inside a byte, so
 * a group of one document takes no more bits than it needs.
 */
#ifndef BLY_INDEX_LAYOUT_H
#define BLY_INDEX_LAYOUT_H

#include "bloomery/index.h"

#include "base/platform.h"
#include "formats/formats.h"
#include "image/image.h"
#include "bits/hash.h"

#define LAYOUT_MAGIC FORMATS_INDEX

enum {
    LAYOUT_VERSION = 2, LAYOUT_HEADER = 128, LAYOUT_LINE = 64,
    /* of the header */
    LAYOUT_AT_VERSION = 8, LAYOUT_AT_PROBES = 12, LAYOUT_AT_BYTES = 16,
    LAYOUT_AT_DOCUMENTS = 24, LAYOUT_AT_GROUPS = 32, LAYOUT_AT_KEYS = 40,
    LAYOUT_AT_RATE = 48, LAYOUT_AT_EXTRA = 56, LAYOUT_AT_LIST = 64,
    LAYOUT_AT_NAMES = 72, LAYOUT_AT_ABOUT = 80, LAYOUT_AT_DROPPED = 88,
    LAYOUT_AT_HASH = 96, LAYOUT_AT_SEED = 104,
    LAYOUT_AT_LIST_SUM = 112, LAYOUT_AT_SUM = 120,
    /* of a group */
    LAYOUT_GROUP = 48,
    LAYOUT_GROUP_OFFSET = 0, LAYOUT_GROUP_ROWS = 8, LAYOUT_GROUP_DOCUMENTS = 16,
    LAYOUT_GROUP_MOST = 24,             /* keys that its rows are for        */
    LAYOUT_GROUP_PAGE = 32,             /* its first of all pages            */
    LAYOUT_GROUP_ZERO = 40,
    LAYOUT_PAGE = 4096, LAYOUT_SUM = 8, /* bytes of rows, and of their sum   */
    /* of a document */
    LAYOUT_DOCUMENT = 16,
    LAYOUT_DOCUMENT_END = 0,            /* of its name, in the names         */
    LAYOUT_DOCUMENT_KEYS = 8,
    LAYOUT_PROBES_MOST = 32, LAYOUT_EXTRA_MOST = 4096
};

/* Keys, and rows, that a group may have at most. */
#define LAYOUT_KEYS_MOST (UINT64_C(1) << 48)
#define LAYOUT_ROWS_MOST (UINT64_C(1) << 56)

/* Computes the parts of a list. Returns false if they would exceed any file. */
typedef struct {
    uint64_t groups, documents, dropped, extra, names, about, end;
} layout_list;

bool layout_list_of(layout_list *out, uint64_t at, uint64_t groups,
                    uint64_t documents, uint64_t extra, uint64_t names,
                    uint64_t about);

/* Returns the number of pages for that many bytes of rows. */
PLATFORM_INLINE uint64_t layout_pages(uint64_t bytes)
{
    return bytes / LAYOUT_PAGE + (bytes % LAYOUT_PAGE != 0);
}

/* Returns the checksum of a page. */
uint64_t layout_sum(const uint8_t *rows, uint64_t bytes, uint64_t page);

/* Bytes of a group's bits; false: too many. */
bool layout_bits(uint64_t *bytes, uint64_t rows, uint64_t documents);

/* ---- Groups ------------------------------------------------------------- */

/* Return the most keys of a document that shares a group with one of this many,
 * and the rows of that group; 0 if too many. */
uint64_t layout_most(uint64_t keys);
uint64_t layout_rows(double rate, uint32_t probes, uint64_t most);

/* Returns the best number of probes for a rate. */
uint32_t layout_probes(double rate);

/* Return the rows of a key, of m, one after the other. */
PLATFORM_INLINE uint64_t layout_first(uint64_t hash)
{
    return hash_mix(hash);
}

PLATFORM_INLINE uint64_t layout_row(uint64_t state, uint64_t m)
{
    return platform_mul_high(state, m);
}

PLATFORM_INLINE uint64_t layout_next(uint64_t state)
{
    return state * HASH_STEP + 1;
}

#endif /* BLY_INDEX_LAYOUT_H */
