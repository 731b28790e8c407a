/* spatial.c - a spatial Bloom filter: which of s areas is a key in?
 *
 * Use it to find which of a few disjoint, ranked areas a key belongs to.
 *
 * WHAT IT IS
 *
 * A Bloom filter whose cells name an area, 1 .. s, where a larger number is a
 * more important one: the zones around a place that is guarded, s the inmost;
 * or the grades of a warning. A key raises its k cells to its area, where they
 * show a lesser one; it is said to be in the least area of its cells, and
 * nowhere if one of them is 0. So it errs upwards only: a key of an area is
 * never said to be in a less important one, nor to be outside; a key of the top
 * area is always placed right. A key that is put into two areas is in the
 * higher one. Adding a key without an area puts it into area 1.
 *
 * THE PICTURE (m = 12, k = 3, s = 2, after putting x into 1 and y into 2)
 *
 *      x in 1 -+--------+-----------+
 *              v        v           v
 *     cell  0  1  2  3  4  5  6  7  8  9 10 11
 *         | 0  1  0  0  2  0  0  0  1  2  0  2 |
 *                       ^              ^     ^
 *      y in 2 ----------+--------------+-----+
 *
 *      x has {1, 2, 1} and is in area 1. It would be mistaken for one of area
 *      2 only if keys of that had covered all its three cells.
 *
 * IMAGE
 *
 *      geometry 0   m, number of cells, 1 .. 2^56
 *      geometry 1   k, probes, 1 .. 64
 *      geometry 2   w, bits of a cell: as many as s has, 1 .. 16
 *      geometry 3   s, number of areas, 1 .. 65535
 *      payload      ceil(m w / 8) bytes: src/bodies/labels.h
 *
 *      Valid if and only if (1) the fields are in these ranges, (2) the
 *      payload has ceil(m w / 8) bytes, (3) the bits from m w on are clear.
 *      A cell above s reads as s.
 *
 *      Cell i is above 0 if and only if `standard` with its default index
 *      scheme has bit i set, for the same keys, m and k. With s = 1 both have
 *      the same payload, byte for byte.
 *
 * MATHS
 *
 * The filter is planned for the keys of all areas together, as `standard` for
 * as many; the rate is the chance that a stranger is said to be in any. Let N_a
 * be the keys of area a and all more important ones, and
 *
 *      phi(N) = 1 - (1 - 1/m)^(kN)                                       (1)
 *
 * the chance that such a key has raised a given cell. Of strangers, and of the
 * keys that are in area a,
 *
 *      said to be in a          phi(N_a)^k - phi(N_(a+1))^k              (2)
 *      said to be higher up     phi(N_(a+1))^k                           (3)
 *
 * so all (2) together are phi(N_1)^k, the rate of the whole, and the keys at
 * the lowest area are mistaken the most. The share of its own cells that an
 * area still shows, its emersion, is 1 - phi(N_(a+1)); it is 1 for the top one.
 * Four areas of 500 keys in 16384 cells with k = 6:
 *
 *      area   said of strangers   mistaken   emersion
 *         1        1.390 %         0.570 %     57.7 %
 *         2        0.487 %         0.083 %     69.3 %
 *         3        0.081 %         0.002 %     83.3 %
 *         4        0.002 %         0          100 %
 *
 * Of a filter as it stands bly_list_labels tells the same from the cells: with
 * c_a the share that shows a or more, c_a^k - c_(a+1)^k and c_(a+1)^k.
 *
 * COST
 *
 * As `approximator` with cells of w bits; for w = 3, what four areas need,
 * three times the memory of `standard`. Measured: `make bench`.
 *
 * WHEN TO USE, WHEN NOT
 *
 * For sets that exclude one another and an order of importance, such as the
 * cells of a map in zones; where the sets are few and the errors of each one
 * matter. A filter for each area would cost more lookups, and a key could be in
 * two of them. For numbers of a wide range there is `approximator`, for labels
 * that must be right `bloomier`.
 *
 * PAPERS
 *
 *  [Palmieri 2014]  Palmieri, Calderoni and Maio: Spatial Bloom filters:
 *                   enabling privacy in location-aware applications, Inscrypt.
 *                   The filter. There areas are put in rising order and
 *                   overwrite; here the larger one stays, in any order.
 *  [Calderoni 2015] Location privacy without mutual trust: the spatial Bloom
 *                   filter, Computer Communications 68. (1) to (3), emersion.
 */
#include "bodies/labels.h"

enum { SPATIAL_VERSION = 1, SPATIAL_AREAS = 2, SPATIAL_AREAS_MAX = 65535 };

static const kind_option spatial_options[] = {
    LABELS_OPTIONS,
    [SPATIAL_AREAS] = {
        .name = "areas", .help = "areas: labels 1 .. areas, the last one the "
                                 "most important",
        .least = 1, .most = SPATIAL_AREAS_MAX, .standard = 4,
    },
    { .name = NULL },
};

static bly_status spatial_plan(bly_plan_t *plan, const kind_spec *spec)
{
    return labels_plan(plan, spec, spec->option[SPATIAL_AREAS], 1);
}

static bly_status spatial_check(const void *image)
{
    bly_status status = labels_check(image);
    if (status != BLY_OK)
        return status;
    bool few = image_geometry(image, LABELS_MOST) <= SPATIAL_AREAS_MAX
            && labels_parts(image_geometry(image, LABELS_WIDTH)) == 1;
    return few ? BLY_OK : kind_bad_geometry(image);
}

static const kind_labels spatial_labels = {
    .put      = labels_put,
    .put_many = labels_put_many,
    .get      = labels_get,
    .get_many = labels_get_many,
    .each     = labels_each,
    .better   = KIND_LABEL_LARGER,
};

static const kind_combining spatial_combining = {
    .unite   = labels_unite,
    .overlap = labels_overlap,
};

const bly_kind bly_kind_spatial = {
    .name    = "spatial",
    .family  = "labelled",
    .summary = "a spatial Bloom filter: the area of a key, or a higher one",
    .version = SPATIAL_VERSION,
    .options = spatial_options,

    .plan  = spatial_plan,
    .check = spatial_check,
    .stat  = labels_stat,

    .contains      = labels_contains,
    .contains_many = labels_contains_many,

    .add      = labels_add,
    .add_many = labels_add_many,

    .labels    = &spatial_labels,
    .combining = &spatial_combining,
};
