/* labels.h - a row of cells that keep the largest label put into them.
 *
 * `approximator` and `spatial` are one construction: a Bloom filter with a
 * label where `standard` has a bit. A cell is 0 at first; a key with label v
 * raises each of its k cells to v, where it is less; its label is then the
 * least of its cells, and a key with a cell of 0 is not there. No cell of a key
 * is below what was put with it, so neither is the answer.
 *
 * Since the larger of two labels does not depend on which came first, neither
 * does the row; two rows are united cell by cell; and keys that were put twice
 * have the larger of their labels.
 *
 * IMAGE
 *
 *      geometry 0   m, number of cells, 1 .. 2^56
 *      geometry 1   k, probes, 1 .. 64
 *      geometry 2   w + 256 (P - 1): w, bits of a cell, as many as L has; and
 *                   P, fields of a label, which divides w
 *      geometry 3   L, the largest label; if P > 1, 2^w - 1
 *      payload      ceil(m w / 8) bytes; cell i is the bits i w … i w + w-1,
 *                   its lowest bit first; bit j is bit (j mod 8) of byte j / 8
 *
 * The probes are those of bits/index.h's `power`: cell i is above 0 if and
 * only if `standard` has bit i set, for the same keys, m and k. With w = 1 they
 * are the same bytes. A forged cell above L reads as L.
 *
 * FIELDS. A label may be P fields of w / P bits, the lowest one first. Then a
 * put raises each field by itself, and the label is of each field the least one
 * of the k cells; 0 in all of them, the key is not there. All fields of a word
 * are compared at once. P is in the same eight bytes as w, so that a row of one
 * field finds out what it is by the comparisons that it makes anyway.
 *
 * CELLS are read and written by eight bytes that begin where the cell does, or,
 * near the end of the row or of a line, end there: so nothing past the row is
 * touched, no payload has bytes to spare, and a cell in one line takes no
 * second. A row shorter than eight bytes is read byte by byte, and a cell of 58
 * to 63 bits, which may lie in nine, in two parts.
 *
 * BATCHES. Lookups go through their probes in phases, as in bits/walk.h, the
 * least cell so far beside the state of the walk. Puts run a ring of probes
 * behind their prefetches: they commute.
 */
#ifndef BLY_BODIES_LABELS_H
#define BLY_BODIES_LABELS_H

#include "image/abilities.h"

enum { LABELS_M, LABELS_K, LABELS_WIDTH, LABELS_MOST };

#define LABELS_M_MAX (UINT64_C(1) << 56)

enum { LABELS_K_MAX = 64 };

/* The options m and k of both kinds, the first two of their tables. */
#define LABELS_OPTIONS                                                         \
    [KIND_ROW_M] = {                                                           \
        .name = "m", .help = "number of cells, instead of a rate",             \
        .least = 1, .most = LABELS_M_MAX, .standard = KIND_CHOOSE,             \
    },                                                                         \
    [KIND_ROW_K] = {                                                           \
        .name = "k", .help = "probes: cells that a key raises",                \
        .least = 1, .most = LABELS_K_MAX, .standard = KIND_CHOOSE,             \
    }

/* The largest label of so many bits, 1 .. 64. */
static inline uint64_t labels_most(uint32_t width)
{
    return UINT64_MAX >> (64 - width);
}

/* Geometry 2, and what is in it. */
static inline uint64_t labels_field(uint32_t width, uint32_t parts)
{
    return width + 256 * (uint64_t)(parts - 1);
}

static inline uint32_t labels_bits(uint64_t field)
{
    return field & 255;
}

static inline uint32_t labels_parts(uint64_t field)
{
    return (uint32_t)(field >> 8 & 63) + 1;
}

/* `plan` and `check` of a row for labels 1 .. most, of so many fields; and all
 * other slots. */
bly_status labels_plan (bly_plan_t *plan, const kind_spec *spec, uint64_t most,
                        uint32_t parts);
bly_status labels_check(const void *image);
bool       labels_covers(const void *image, uint64_t is, uint64_t was);

bool       labels_contains(const void *image, uint64_t hash);
bly_status labels_add     (void *image, uint64_t hash);
bly_status labels_put     (void *image, uint64_t hash, uint64_t label);
bool       labels_get     (const void *image, uint64_t hash, uint64_t *label);

void       labels_contains_many(const void *image, const uint64_t *hashes,
                                size_t n, bool *present);
bly_status labels_add_many     (void *image, const uint64_t *hashes, size_t n,
                                size_t *done);
bly_status labels_put_many     (void *image, const uint64_t *hashes,
                                const uint64_t *labels, size_t n,
                                size_t *done);
void       labels_get_many     (const void *image, const uint64_t *hashes,
                                size_t n, bool *found, uint64_t *labels);

bly_status labels_unite  (void *into, const void *other);
void       labels_overlap(bly_overlap_t *out, const void *a, const void *b);
void       labels_stat   (bly_info_t *out, const void *image);

/* `each_label`; for an L of some thousands, since it reads the row once for
 * every LABELS_TALLY labels. */
enum { LABELS_TALLY = 3584 };

void labels_each(const void *image, bly_visit_label *visit, void *context);

#endif /* BLY_BODIES_LABELS_H */
