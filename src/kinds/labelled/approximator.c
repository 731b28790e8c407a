/* approximator.c - a compact approximator: an upper bound of each key's label.
 *
 * WHAT IT IS
 *
 * A Bloom filter with a number in place of every bit. Putting a key with label
 * v raises its k cells to v where they are smaller. The label of a key is the
 * smallest of its cells. So the answer is never below the largest label that
 * was put with the key. It is above that label only if other keys with larger
 * labels have covered all cells of the key. A key with a cell of 0 was never
 * put.
 *
 * WHEN TO USE IT
 *
 * Use it to store a number per key that may be too high but not too low: the
 * latest time a key was seen, the largest message of a sender. Keys are put at
 * any time, in any order and repeatedly, and filters can be united. For lower
 * bounds put 2^w - v. With `parts` a label has several fields: several such
 * numbers, an interval, or a set of tags.
 *
 * WHEN NOT TO
 *
 * - Labels must be right: `bloomier`, which is built from all keys at once.
 * - Labels are a few ranked areas: `spatial`, which reports the errors of
 *   each.
 * - Labels must be lowered or keys removed: no kind with labels can do that
 *   except `bloomier`, which changes labels.
 *
 * COST
 *
 *      rate     bits per key    cache lines read: present    absent key
 *      1 %          76.7                  7                  2
 *      0.1 %       115.0                 10                  2
 *
 * These are for labels of 8 bits, the default: 8 times the memory of
 * `standard`. A put touches all k lines. A cell whose width is not 1, 2, 4, …,
 * 64 bits sometimes straddles two lines.
 *
 * THE PICTURE (m = 12, k = 3, after putting x with 5 and y with 9)
 *
 *      x = 5 --+--------+-----------+
 *              v        v           v
 *     cell  0  1  2  3  4  5  6  7  8  9 10 11
 *         | 0  5  0  0  9  0  0  0  5  9  0  9 |
 *                       ^              ^     ^
 *      y = 9 -----------+--------------+-----+
 *
 *      x shares cell 4 with y and still has 5, the least of {5, 9, 5}. A key
 *      with cells {1, 4, 11} would be reported with 5; one with {0, 4, 8} is
 *      absent.
 *
 * IMAGE
 *
 *      geometry 0   m, number of cells, 1 .. 2^56
 *      geometry 1   k, probes, 1 .. 64
 *      geometry 2   w + 256 (P - 1): w, bits of a cell, 1 .. 64, and P, fields
 *                   of a label, 1 .. 64
 *      geometry 3   2^w - 1, the largest label
 *      payload      ceil(m w / 8) bytes: src/bodies/labels.h
 *
 *      Valid if and only if (1) the geometry is in these ranges and P divides
 *      w, (2) the payload has ceil(m w / 8) bytes, (3) the bits from m w on are
 *      clear. With P = 1 geometry 2 is w: older images, without fields, are
 *      these, and an older library refuses others.
 *
 *      Cell i is above 0 if and only if `standard` with its default index
 *      scheme has bit i set, for the same keys, m and k. With w = 1 both have
 *      the same payload, byte for byte.
 *
 * MATHS
 *
 * The cells above 0 form a Bloom filter. So sizes and rate, the probability
 * that an absent key has any label, are those of `standard`, and the memory is
 * w times its own. A key is reported with too large a label if one of the r
 * keys with larger labels raised each of its cells, so if it is a false
 * positive of a filter of those:
 *
 *      wrong(r) = (1 - e^(-kr/m))^k                                      (1)
 *
 * The key with the largest label is always right, and the one with the smallest
 * is wrong as often as an absent key is found. On average over n keys with
 * different labels
 *
 *      wrong = integral from 0 to 1 of (1 - e^(-k t n/m))^k dt           (2)
 *
 *      m/n    k    wrong, of keys     found, of absent keys
 *        4    3        4.56 %               14.7 %
 *        8    6        0.41 %                2.16 %
 *      9.6    7        0.17 %                1.00 %
 *       16   11        0.0051 %              0.046 %
 *
 * Each field of a label errs like a label of its own, by (1) with r the keys
 * whose field is larger. An absent key is found if at least one field is above
 * 0 in all of its cells, which never happens more often than with one field.
 * The plan reports that bound; it is reached if every label is above 0 in every
 * field. If x_f is the share of cells in which field f is above 0, and no key
 * has two such fields,
 *
 *      found = 1 - product over f of (1 - x_f^k)                         (3)
 *
 * and `stat` reports the smaller value. With m/n = 4, k = 3 and half of the
 * keys in each of two fields that is 6.02 %, where one field has 14.7 %.
 *
 * tests/kinds/approximator.c measures these. If labels repeat, fewer keys have
 * larger ones, and fewer answers are wrong.
 *
 * FIELDS
 *
 * With `parts=P` a label is P fields of w / P bits, the lowest field first.
 * Each field is raised and read by itself, so labels form a product of P
 * chains. The answer is the field-wise maximum of the labels that were put, or
 * more in some fields. If there are as many fields as bits, a label is a set of
 * tags: w Bloom filters in one. An interval is two fields, its upper end and
 * the complement of its lower end; the answer contains every interval that was
 * put.
 *
 * A key was never put if no field is above 0 in all of its cells. Adding a key
 * without a label puts 1, with fields into the lowest field. Fields read the
 * same cache lines; a few more instructions per cell compare all fields at
 * once.
 *
 * PAPERS
 *
 *  [Boldi 2005]  Boldi and Vigna: Mutable strings in Java: design,
 *                implementation and lightweight text-search algorithms,
 *                Science of Computer Programming 54(1). The structure, for any
 *                lattice, of which these are the chain 0 < 1 < … < 2^w - 1 and
 *                products of such chains; (1).
 */
#include "bodies/labels.h"

enum {
    APPROXIMATOR_VERSION = 1, APPROXIMATOR_BITS = 2, APPROXIMATOR_PARTS = 3
};

static const kind_option approximator_options[] = {
    LABELS_OPTIONS,
    [APPROXIMATOR_BITS] = {
        .name = "bits", .help = "bits of a cell, and of a label",
        .least = 1, .most = 64, .standard = 8,
    },
    [APPROXIMATOR_PARTS] = {
        .name = "parts", .help = "fields of a label, each raised by itself",
        .least = 1, .most = 64, .standard = 1,
    },
    { .name = NULL },
};

static bly_status approximator_plan(bly_plan_t *plan, const kind_spec *spec)
{
    uint32_t bits = (uint32_t)spec->option[APPROXIMATOR_BITS];
    uint32_t parts = (uint32_t)spec->option[APPROXIMATOR_PARTS];
    if (bits % parts != 0)
        return status_fail(BLY_EPARAM, "a label of %u bits cannot be divided "
                           "into %u fields of one width: let parts divide bits",
                           bits, parts);
    return labels_plan(plan, spec, labels_most(bits), parts);
}

static bly_status approximator_check(const void *image)
{
    bly_status status = labels_check(image);
    if (status != BLY_OK)
        return status;
    uint32_t width = labels_bits(image_geometry(image, LABELS_WIDTH));
    bool all = image_geometry(image, LABELS_MOST) == labels_most(width);
    return all ? BLY_OK : kind_bad_geometry(image);
}

static const kind_labels approximator_labels = {
    .put      = labels_put,
    .put_many = labels_put_many,
    .get      = labels_get,
    .get_many = labels_get_many,
    .better   = KIND_LABEL_LARGER,
    .covers   = labels_covers,
};

static const kind_combining approximator_combining = {
    .unite   = labels_unite,
    .overlap = labels_overlap,
};

const bly_kind bly_kind_approximator = {
    .name    = "approximator",
    .family  = "labelled",
    .summary = "a compact approximator: an upper bound of each key's label",
    .version = APPROXIMATOR_VERSION,
    .options = approximator_options,

    .plan  = approximator_plan,
    .check = approximator_check,
    .stat  = labels_stat,

    .contains      = labels_contains,
    .contains_many = labels_contains_many,

    .add      = labels_add,
    .add_many = labels_add_many,

    .labels    = &approximator_labels,
    .combining = &approximator_combining,
};
