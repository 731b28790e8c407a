/* spatial.c - a spatial Bloom filter: which of s areas a key is in.
 *
 * WHAT IT IS
 *
 * A Bloom filter whose cells hold an area, 1 .. s; a larger number is a more
 * important one. Putting a key raises its k cells to its area where they are
 * smaller. A lookup reports the smallest area in the key's cells, or no area if
 * one of the cells is 0. So it errs upwards only: a key is never reported in a
 * less important area than its own or outside all of them, and a key of the top
 * area is always right.
 *
 * WHEN TO USE IT
 *
 * Use it for a few disjoint, ranked areas, if the errors of each area matter:
 * the zones around a guarded place, or the grades of a warning. A key that is
 * put into two areas is in the higher one. Filters of one plan can be united.
 *
 * WHEN NOT TO
 *
 * - Labels are numbers of a wide range: `approximator`.
 * - Labels must be right: `bloomier`.
 * - A key may be in several areas at once: one filter per area, or
 *   `approximator` with `parts`.
 *
 * COST
 *
 *      rate     bits per key    cache lines read: present    absent key
 *      1 %          28.8                  7                  2
 *      0.1 %        43.1                 10                  2
 *
 * These are for four areas, the default, whose cells have 3 bits: three times
 * the memory of `standard`.
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
 *      x has {1, 2, 1} and is in area 1. It would be reported in area 2 only if
 *      keys of that area had covered all of its three cells.
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
 * as many keys. The rate is the probability that an absent key is reported in
 * any area. Let N_a be the number of keys in area a and all more important
 * ones, and
 *
 *      phi(N) = 1 - (1 - 1/m)^(kN)                                       (1)
 *
 * the probability that such a key has raised a given cell. Absent keys, and the
 * keys of area a, are
 *
 *      reported in a            phi(N_a)^k - phi(N_(a+1))^k              (2)
 *      reported higher up       phi(N_(a+1))^k                           (3)
 *
 * All (2) together are phi(N_1)^k, the rate of the whole, and the keys of the
 * lowest area are wrong most often. The share of its own cells that an area
 * still shows, its emersion, is 1 - phi(N_(a+1)); it is 1 for the top area.
 * Four areas of 500 keys in 16384 cells with k = 6:
 *
 *      area   absent keys in it   too high   emersion
 *         1        1.390 %         0.570 %     57.7 %
 *         2        0.487 %         0.083 %     69.3 %
 *         3        0.081 %         0.002 %     83.3 %
 *         4        0.002 %         0          100 %
 *
 * For an existing filter, bly_list_labels computes the same from the cells.
 * With c_a the share of cells that show a or more, (2) is c_a^k - c_(a+1)^k and
 * (3) is c_(a+1)^k.
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
        .name = "areas", .help = "areas, and the largest label, which is the "
                                 "most important area",
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
