/* map.c - all kinds at a glance: bits, rate, lookup time and build time.
 *
 * See lab.h and essay.html beside this file.
 *
 * Includes every kind that holds any keys and answers yes or no for good, and
 * so none with labels, with a closed universe, or that forget. New kinds are
 * added automatically.
 */
#include "lab.h"

#include <bloomery/parts.h>

#include <stdlib.h>
#include <string.h>

enum { MAP_ASKED = 1 << 16, MAP_ROUNDS = 21, MAP_BUILDS = 3, MAP_KINDS = 64,
       MAP_RATES = 6, MAP_FILTERS = 20, MAP_IN = 1, MAP_OUT = 2 };

static const double map_rate = 1.0 / 128;

/* Between the last dot and the end of an axis: a factor, also in the plots. */
static const double map_margin = 1.5;

static bool map_here(const bly_kind_info *kind)
{
    return strcmp(kind->family, "exact") != 0 && (kind->can
               & (BLY_CAN_LABEL | BLY_CAN_SEPARATE | BLY_CAN_FORGET)) == 0;
}

/* Returns a number for each family: its colour. */
static int map_family(const bly_kind_info *kind)
{
    static const char *const family[] = { "sets", "removable", "frozen" };
    for (int i = 0; i < 3; i++)
        if (strcmp(kind->family, family[i]) == 0)
            return i + 1;
    return 4;
}

static double map_bits(const bly_filter *f, uint64_t n)
{
    size_t bytes;
    bly_raw(f, &bytes);
    return 8 * (double)bytes / (double)n;
}

/* ---- Bits and rate ----------------------------------------------------- */

typedef struct {
    const bly_kind_info *kind;
    double      asked, bits;
    lab_measure rate;
} map_point;

/* Measures bits, and the mean rate of some filters with different keys. */
static map_point map_measure(const lab *l, const bly_kind_info *kind,
                             double rate)
{
    map_point p = { .kind = kind, .asked = rate };
    uint64_t keys = lab_pick(l, 1000, 100000, 1000000);
    uint64_t asked = lab_pick(l, 1000, 400000, 1000000);
    size_t filters = lab_pick(l, 2, 8, MAP_FILTERS);
    double share[MAP_FILTERS];
    for (size_t i = 0; i < filters; i++) {
        uint64_t series = MAP_IN + 2 * i;
        bly_filter *f = lab_build(keys, rate, series, kind->name);
        share[i] = (double)lab_hits(f, series + 1, asked) / (double)asked;
        p.bits += map_bits(f, keys) / (double)filters;
        bly_free(f);
    }
    p.rate = lab_shares(share, filters, asked);
    return p;
}

static size_t map_rates(lab *l, map_point *point,
                        const bly_kind_info *const *kinds, size_t n)
{
    size_t points = 0, below = 0;
    lab_figure(l, "rate", "kind,family,asked for,rate,low,high,bits a key");
    for (size_t i = 0; i < n; i++)
        for (double rate = 1.0 / 8; map_here(kinds[i]) && rate > 1e-4;
             rate /= 4) {
            map_point p = map_measure(l, kinds[i], rate);
            lab_row(l, "%s,%d,%.6g,%.6g,%.6g,%.6g,%.5g", kinds[i]->name,
                    map_family(kinds[i]), rate, p.rate.value, p.rate.low,
                    p.rate.high, p.bits);
            below += p.bits < log2(1 / p.rate.high);
            point[points++] = p;
        }
    lab_says(l, "no filter is smaller than the limit of information",
             below == 0, "of %zu filters %zu are", points, below);
    return points;
}

/* Returns the bits as a multiple of the information limit. */
static lab_measure map_multiple(const map_point *p)
{
    return (lab_measure){ p->bits / log2(1 / p->rate.value),
                          p->bits / log2(1 / p->rate.low),
                          p->bits / log2(1 / p->rate.high) };
}

static void map_limit(lab *l, const map_point *point, size_t points)
{
    size_t nearest = 0;
    lab_measure least = { INFINITY, INFINITY, INFINITY };
    lab_figure(l, "limit", "kind,family,asked for,rate,low,high,multiple,low,"
                           "high");
    for (size_t i = 0; i < points; i++) {
        lab_measure r = point[i].rate, times = map_multiple(&point[i]);
        lab_row(l, "%s,%d,%.6g,%.6g,%.6g,%.6g,%.5g,%.5g,%.5g",
                point[i].kind->name, map_family(point[i].kind), point[i].asked,
                r.value, r.low, r.high, times.value, times.low, times.high);
        if (times.value < least.value) {
            nearest = i;
            least = times;
        }
    }
    lab_says(l, "ours: frozen kinds come nearest to the limit",
             strcmp(point[nearest].kind->family, "frozen") == 0,
             "%s: %.3f (%.3f … %.3f) times as many bits",
             point[nearest].kind->name, least.value, least.low, least.high);
}

/* ---- Labels of points --------------------------------------------------- */

/* A box by its middle and half sides, in parts of the plot's width and
 * height. */
typedef struct { double x, y, w, h; } map_box;

/* A logarithmic axis, shared by the plots. */
typedef struct { double low, high; } map_axis;

/* Sizes of a letter, of a point, and of the space between a point and its
 * label. */
static const map_box map_letter = { .w = 0.0048, .h = 0.018 },
                     map_dot = { .w = 0.006, .h = 0.012 },
                     map_gap = { .w = 0.01, .h = 0.015 };

typedef struct {
    const bly_kind_info *kind;
    double      bits;
    lab_measure look, build;            /* ns a key */
    map_box     dot, label;
    bool        led;                    /* a line leads to the label */
} map_cost;

static double map_onto(const map_axis *a, double value)
{
    return log(value / a->low) / log(a->high / a->low);
}

static double map_from(const map_axis *a, double part)
{
    return a->low * pow(a->high / a->low, part);
}

static bool map_apart(const map_box *a, const map_box *b)
{
    return fabs(a->x - b->x) >= a->w + b->w
        || fabs(a->y - b->y) >= a->h + b->h;
}

/* Returns whether the label fits beside all dots, earlier labels, and the line
 * of the limit. */
static bool map_room(const map_cost *cost, size_t n, size_t before,
                     const map_box *label, double limit)
{
    map_box line = { .x = limit, .y = 0.5, .w = 0.002, .h = 0.5 };
    bool room = map_apart(label, &line) && label->y - label->h > 0
             && label->y + label->h < 1 && label->x - label->w > 0
             && label->x + label->w < 1;
    for (size_t i = 0; i < n && room; i++)
        room = map_apart(label, &cost[i].dot)
            && (i >= before || map_apart(label, &cost[i].label));
    return room;
}

/* Places each label as near to its dot as possible. */
static void map_labels(map_cost *cost, size_t n, double limit)
{
    enum { TURNS = 16, STEPS = 20 };
    for (size_t i = 0; i < n; i++) {
        map_box dot = cost[i].dot, *at = &cost[i].label;
        at->w = map_letter.w * (double)strlen(cost[i].kind->name);
        at->h = map_letter.h;
        for (int t = 0; t < TURNS * STEPS; t++) {
            double far = 1 + t / TURNS, turn = 2 * acos(-1) * t / TURNS;
            cost[i].led = t >= TURNS;
            at->x = dot.x + cos(turn) * (at->w + far * map_gap.w);
            at->y = dot.y + sin(turn) * (at->h + far * map_gap.h);
            if (map_apart(at, &dot) && map_room(cost, n, i, at, limit))
                break;
        }
    }
}

/* ---- Time -------------------------------------------------------------- */

/* Returns ns per lookup in batches, half of them members, in mixed order. Each
 * round uses other keys, which are not in the cache from the last one. */
static lab_measure map_look(const bly_filter *f, uint64_t n, size_t rounds)
{
    double time[MAP_ROUNDS];
    uint64_t *keys = lab_allocate(MAP_ASKED * sizeof *keys);
    bool *present = lab_allocate(MAP_ASKED);
    for (size_t r = 0; r < rounds; r++) {
        for (uint64_t i = 0; i < MAP_ASKED; i++) {
            uint64_t other = lab_key(MAP_OUT, r * MAP_ASKED + i);
            keys[i] = other & 1 ? other : lab_key(MAP_IN, other % n);
        }
        double start = lab_clock();
        bly_contains_hashes(f, keys, MAP_ASKED, present);
        time[r] = (lab_clock() - start) / MAP_ASKED;
        lab_sink += present[r];
    }
    free(keys);
    free(present);
    return lab_median(time, rounds);
}

/* Builds it a few times, and queries the last one. */
static map_cost map_time(const lab *l, const bly_kind_info *kind,
                         const uint64_t *keys, uint64_t n)
{
    size_t builds = lab_pick(l, 1, 1, MAP_BUILDS);
    double time[MAP_BUILDS];
    bly_filter *f = NULL;
    bly_spec spec = { .capacity = n, .rate = map_rate };
    map_cost cost = { .kind = kind };
    for (size_t i = 0; i < builds; i++) {
        bly_free(f);
        double start = lab_clock();
        if (bly_build(&f, kind->name, &spec,
                      &(bly_keys){ .n = n, .hashes = keys }) < 0)
            lab_stop(kind->name, bly_why());
        time[i] = (lab_clock() - start) / (double)n;
    }
    cost.build = lab_median(time, builds);
    cost.look = map_look(f, n, lab_pick(l, 1, 9, MAP_ROUNDS));
    cost.bits = map_bits(f, n);
    bly_free(f);
    return cost;
}

/* Extends an axis from the smallest to the largest value, with a margin. */
static map_axis map_wide(map_axis a, double value)
{
    return (map_axis){ fmin(a.low, value / map_margin),
                       fmax(a.high, value * map_margin) };
}

static double map_clamp(double x, double middle, double half)
{
    return fmax(middle - half, fmin(middle + half, x));
}

/* The rows also have the middle of a label, and the end of its line. */
static void map_looks(lab *l, const char *figure, map_cost *cost, size_t n)
{
    map_axis x = { INFINITY, 0 }, y = { INFINITY, 0 };
    size_t least = 0;
    lab_figure(l, figure, "kind,family,bits a key,lookup,low,high,label x,"
                          "label y,line x,line y");
    for (size_t i = 0; i < n; i++) {
        x = map_wide(x, cost[i].bits);
        y = map_wide(y, cost[i].look.value);
        least = cost[i].look.value < cost[least].look.value ? i : least;
    }
    for (size_t i = 0; i < n; i++)
        cost[i].dot = (map_box){ map_onto(&x, cost[i].bits),
                                 map_onto(&y, cost[i].look.value),
                                 map_dot.w, map_dot.h };
    map_labels(cost, n, map_onto(&x, log2(1 / map_rate)));
    for (size_t i = 0; i < n; i++) {
        const map_box *at = &cost[i].label;
        map_box end = cost[i].dot;
        if (cost[i].led)
            end = (map_box){ .x = map_clamp(end.x, at->x, at->w),
                             .y = map_clamp(end.y, at->y, at->h) };
        lab_row(l, "%s,%d,%.5g,%.4g,%.4g,%.4g,%.5g,%.5g,%.5g,%.5g",
                cost[i].kind->name, map_family(cost[i].kind), cost[i].bits,
                cost[i].look.value, cost[i].look.low, cost[i].look.high,
                map_from(&x, at->x), map_from(&y, at->y),
                map_from(&x, end.x), map_from(&y, end.y));
    }
    const char *name = cost[least].kind->name;
    lab_says(l, "ours: a filter of one cache line a key is the quickest to ask",
             strcmp(name, "blocked") == 0 || strcmp(name, "split") == 0,
             "%s: %.1f ns a key", name, cost[least].look.value);
}

static size_t map_times(lab *l, const char *figure, map_cost *cost,
                        const bly_kind_info *const *kinds, size_t n,
                        uint64_t count)
{
    uint64_t *keys = lab_allocate(count * sizeof *keys);
    size_t here = 0;
    lab_keys(keys, count, MAP_IN, 0);
    for (size_t i = 0; i < n; i++)
        if (map_here(kinds[i]))
            cost[here++] = map_time(l, kinds[i], keys, count);
    free(keys);
    map_looks(l, figure, cost, here);
    return here;
}

static void map_builds(lab *l, const map_cost *cost, size_t n)
{
    double frozen = INFINITY;
    size_t least = 0;
    lab_figure(l, "build", "kind,family,build,low,high");
    for (size_t i = 0; i < n; i++) {
        lab_row(l, "%s,%d,%.4g,%.4g,%.4g", cost[i].kind->name,
                map_family(cost[i].kind), cost[i].build.value,
                cost[i].build.low, cost[i].build.high);
        if (strcmp(cost[i].kind->family, "frozen") == 0)
            frozen = fmin(frozen, cost[i].build.value);
        least = cost[i].build.value < cost[least].build.value ? i : least;
    }
    lab_says(l, "ours: frozen kinds pay for their size when they are built",
             strcmp(cost[least].kind->family, "frozen") != 0,
             "%.1f ns a key for the quickest of them, %.1f for %s", frozen,
             cost[least].build.value, cost[least].kind->name);
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    size_t n;
    const bly_kind_info *const *kinds = bly_kinds(&n);
    map_point point[MAP_KINDS * MAP_RATES];
    map_cost cost[MAP_KINDS];
    if (n > MAP_KINDS)
        lab_stop("map", "there are more kinds than MAP_KINDS");
    map_limit(&l, point, map_rates(&l, point, kinds, n));
    map_times(&l, "near", cost, kinds, n, lab_pick(&l, 1000, 50000, 50000));
    n = map_times(&l, "far", cost, kinds, n,
                  lab_pick(&l, 2000, 40000000, 50000000));
    map_builds(&l, cost, n);
    return lab_close(&l);
}
