/* map.c - all kinds at a glance: bits, rate, time of a lookup and of building.
 *
 * Floor 7: a program of the lab; see lab.h and essay.html beside this file.
 *
 * Every kind is here that holds any keys and answers yes or no for good: not
 * those with labels, of a closed universe, or that forget. New kinds come in by
 * themselves.
 */
#include "lab.h"

#include <stdlib.h>
#include <string.h>

enum { MAP_ASKED = 1 << 16, MAP_ROUNDS = 21, MAP_KINDS = 64,
       MAP_IN = 1, MAP_OUT = 2 };

static const double map_rate = 1.0 / 128;

static bool map_can(const bly_kind_info *kind, const char *ability)
{
    for (size_t i = 0; kind->abilities[i] != NULL; i++)
        if (strcmp(kind->abilities[i], ability) == 0)
            return true;
    return false;
}

static bool map_here(const bly_kind_info *kind)
{
    return strcmp(kind->family, "exact") != 0 && !map_can(kind, "label")
        && !map_can(kind, "separate") && !map_can(kind, "forget");
}

/* A number for each family: the colour. */
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

static void map_rates(lab *l, const bly_kind_info *kinds, size_t n)
{
    uint64_t keys = lab_pick(l, 1000, 200000, 1000000), below = 0, points = 0;
    uint64_t asked = lab_pick(l, 1000, 500000, 20000000);
    lab_figure(l, "rate", "kind,family,asked for,rate,low,high,bits a key");
    for (size_t i = 0; i < n; i++)
        for (double rate = 1.0 / 8; map_here(&kinds[i]) && rate > 1e-4;
             rate /= 4) {
            bly_filter *f = lab_build(keys, rate, MAP_IN, kinds[i].name);
            lab_measure r = lab_wilson(lab_hits(f, MAP_OUT, asked), asked);
            double bits = map_bits(f, keys);
            lab_row(l, "%s,%d,%.6g,%.6g,%.6g,%.6g,%.5g", kinds[i].name,
                    map_family(&kinds[i]), rate, r.value, r.low, r.high, bits);
            points++;
            below += bits < log2(1 / r.high);
            bly_free(f);
        }
    lab_says(l, "no filter is smaller than the limit of information",
             below == 0, "of %.0f filters %.0f are", (double)points,
             (double)below);
}

/* ---- Time -------------------------------------------------------------- */

/* ns a lookup in batches, half of the keys members, in a mixed order. */
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
        bly_contains_many(f, keys, MAP_ASKED, present);
        time[r] = (lab_clock() - start) / MAP_ASKED;
        lab_sink += present[r];
    }
    free(keys);
    free(present);
    return lab_median(time, rounds);
}

typedef struct {
    double look[MAP_KINDS], build[MAP_KINDS];   /* ns a key */
} map_cost;

/* Which kind has the least of some numbers. */
static const bly_kind_info *map_least(const bly_kind_info *kinds, size_t n,
                                      const double *cost)
{
    size_t least = 0;
    for (size_t i = 1; i < n; i++)
        if (map_here(&kinds[i]) && cost[i] < cost[least])
            least = i;
    return &kinds[least];
}

static void map_times(lab *l, const bly_kind_info *kinds, size_t n,
                      const char *figure, uint64_t keys, map_cost *cost)
{
    size_t rounds = lab_pick(l, 1, 9, MAP_ROUNDS);
    lab_figure(l, figure, "kind,family,bits a key,lookup,low,high");
    for (size_t i = 0; i < n; i++) {
        if (!map_here(&kinds[i]))
            continue;
        double start = lab_clock();
        bly_filter *f = lab_build(keys, map_rate, MAP_IN, kinds[i].name);
        cost->build[i] = (lab_clock() - start) / (double)keys;
        lab_measure look = map_look(f, keys, rounds);
        cost->look[i] = look.value;
        lab_row(l, "%s,%d,%.5g,%.4g,%.4g,%.4g", kinds[i].name,
                map_family(&kinds[i]), map_bits(f, keys), look.value, look.low,
                look.high);
        bly_free(f);
    }
    const char *name = map_least(kinds, n, cost->look)->name;
    lab_says(l, "ours: a filter of one cache line a key is the quickest to ask",
             strcmp(name, "blocked") == 0 || strcmp(name, "split") == 0,
             "%s: %.1f ns a key", name,
             cost->look[map_least(kinds, n, cost->look) - kinds]);
}

/* After map_times. */
static void map_builds(lab *l, const bly_kind_info *kinds, size_t n,
                       const map_cost *cost)
{
    double frozen = INFINITY;
    lab_figure(l, "build", "kind,family,build");
    for (size_t i = 0; i < n; i++) {
        if (!map_here(&kinds[i]))
            continue;
        lab_row(l, "%s,%d,%.4g", kinds[i].name, map_family(&kinds[i]),
                cost->build[i]);
        if (strcmp(kinds[i].family, "frozen") == 0)
            frozen = fmin(frozen, cost->build[i]);
    }
    const bly_kind_info *least = map_least(kinds, n, cost->build);
    lab_says(l, "ours: frozen kinds pay for their size when they are built",
             strcmp(least->family, "frozen") != 0,
             "%.1f ns a key for the quickest of them, %.1f for %s", frozen,
             cost->build[least - kinds], least->name);
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    const bly_kind_info *kinds;
    size_t n = bly_kinds(&kinds);
    map_cost cost;
    if (n > MAP_KINDS)
        lab_stop("map", "there are more kinds than MAP_KINDS");
    map_rates(&l, kinds, n);
    map_times(&l, kinds, n, "near", lab_pick(&l, 1000, 50000, 50000), &cost);
    map_times(&l, kinds, n, "far", lab_pick(&l, 2000, 3000000, 50000000),
              &cost);
    map_builds(&l, kinds, n, &cost);
    return lab_close(&l);
}
