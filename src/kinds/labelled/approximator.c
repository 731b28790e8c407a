/* approximator.c - a compact approximator: an upper bound of each key's number.
 *
 * Use it to keep a number for each key that may be too high but not too low,
 * such as the latest time it was seen.
 *
 * WHAT IT IS
 *
 * A Bloom filter with a number where that has a bit. A key that is put with
 * label v raises its k cells to v, where they are less; its label is the least
 * of its cells. So the answer is never below what was put: it is the largest
 * label that was put with the key, or, where larger ones of other keys have
 * covered all its cells, more. A key with a cell of 0 was never put. Keys come
 * at any time, in any order, as often as they like; nothing can be removed and
 * no label lowered. Adding a key without a label puts label 1, the least.
 *
 * With `parts=P` a label is P fields of w / P bits, the lowest field first, and
 * each field is raised, and its least taken, by itself: labels of a lattice
 * that is a product of P chains. The answer is then the join of what was put,
 * the larger one field by field, or more in some fields. As many fields as bits
 * are a set of tags: OR when one puts, AND of the cells when one asks, w Bloom
 * filters in one. An interval is two fields, its upper end and the complement
 * of its lower end: what is got contains all that was put. A key whose cells
 * have no field in common that is above 0 in all of them was never put. Adding
 * without a label puts 1 into the lowest field and nothing into the others.
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
 *      with cells {1, 4, 11} would be said to have 5; one with {0, 4, 8} is not
 *      there.
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
 *      w, (2) the payload has ceil(m w / 8) bytes, (3) the bits from m w on
 *      are clear. With P = 1 geometry 2 is w: images from before there were
 *      fields are these, and a library from then refuses others.
 *
 *      Cell i is above 0 if and only if `standard` with its default index
 *      scheme has bit i set, for the same keys, m and k. With w = 1 both have
 *      the same payload, byte for byte.
 *
 * MATHS
 *
 * The cells above 0 are a Bloom filter, so sizes and rate, the chance that a
 * stranger has a label at all, are those of `standard`, and the memory is w
 * times its own. A key is said to have more than it has if each of its cells
 * was raised by one of the r keys whose labels are larger, which is to be a
 * false positive of a filter of those:
 *
 *      wrong(r) = (1 - e^(-kr/m))^k                                      (1)
 *
 * so the key with the largest label is always right, and the one with the
 * smallest is wrong as often as a stranger is there. On average over n keys
 * with different labels
 *
 *      wrong = integral from 0 to 1 of (1 - e^(-k t n/m))^k dt           (2)
 *
 *      m/n    k    wrong, of keys     found, of strangers
 *        4    3        4.56 %               14.7 %
 *        8    6        0.41 %                2.16 %
 *      9.6    7        0.17 %                1.00 %
 *       16   11        0.0051 %              0.046 %
 *
 * A field of a label errs as a chain of its own does, by (1) with r the keys
 * whose field is larger. A stranger is found where one field at least is above
 * 0 in all its cells, never more often than with one field; the plan tells that
 * bound, which is reached where every label is above 0 in every field. If x_f
 * is the share of cells in which field f is above 0, and no key has two such
 * fields,
 *
 *      found = 1 - product over f of (1 - x_f^k)                         (3)
 *
 * and `stat` tells the lesser one. With m/n = 4, k = 3 and half of the keys in
 * each of two fields that is 6.02 %, where a chain has 14.7 %.
 *
 * tests/kinds/approximator.c measures them. Where labels repeat, fewer keys
 * have larger ones, and less goes wrong.
 *
 * COST
 *
 * Lines as `standard`, but w times as many to choose from: k for a key that is
 * there and two on average for one that is not, all k to put. A cell that is
 * neither 1, 2, 4, …, 64 bits long lies in two lines now and then. Fields take
 * the same lines, and some instructions more for each cell, whatever their
 * number: all are compared at once. Measured: `make bench`.
 *
 * WHEN TO USE, WHEN NOT
 *
 * For a maximum per key that may be too high but not too low: the latest time
 * something was seen, the largest message of a sender, how far a pattern may be
 * shifted. Lower bounds are the same upside down: put 2^w - v. For several of
 * those at once, or for tags of which some too many do no harm, `parts`. For
 * labels that must be right there is `bloomier`, whose keys must all be there
 * at the start; for few labels that are areas or grades, `spatial`, which tells
 * how each one stands.
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
    .summary = "a compact approximator: the largest label of a key, or more",
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
