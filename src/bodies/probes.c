/* probes.c - statistics of a row in which each key sets k bits.
 */
#include "bodies/probes.h"

#include <math.h>

#include "base/status.h"
#include "bits/bits.h"

static const double PROBES_LN2 = 0.69314718055994530942;

uint64_t probes_capacity(uint64_t m, uint64_t k)
{
    double n = k == 0 ? 1 : floor((double)m * PROBES_LN2 / (double)k);
    return n < 1 ? 1 : (uint64_t)n;
}

bly_status probes_no_bits(void)
{
    return status_fail(BLY_EFULL, "the filter has no bits and takes no keys: "
                       "build one for more");
}

static shape probes_shape(const probes_row *row)
{
    return (shape){ .blocks = 1, .lanes = 1, .bits = row->m,
                    .probes = (uint32_t)row->k };
}

void probes_stat_of(bly_info_t *out, const probes_row *row, uint64_t set)
{
    shape s = probes_shape(row);
    if (row->m > 0 && row->k > 0) {
        double fill = (double)set / (double)row->m;
        rows_stat_of(out, &s, set, pow(fill, (double)row->k));
        if (row->from.m > 0 && set > 0 && fill < 1)
            out->rate = strides_rate_of(&row->from, out->distinct, fill,
                                        row->row, row->turn);
        return;
    }
    out->probes = (uint32_t)row->k;
    out->rate = row->m > 0;
    out->fill = row->m > 0 ? (double)set / (double)row->m : 0;
    out->distinct = out->distinct_sd = row->m > 0 ? (double)INFINITY : 0;
}

void probes_stat(bly_info_t *out, const probes_row *row)
{
    probes_stat_of(out, row, bits_count(row->row, row->bytes));
}

void probes_overlap_of(bly_overlap_t *out, const probes_row *row, uint64_t a,
                       uint64_t b, uint64_t either)
{
    shape s = probes_shape(row);
    rows_overlap_of(out, &s, a, b, either);
}

void probes_overlap(bly_overlap_t *out, const probes_row *a,
                    const probes_row *b)
{
    if (a->m > 0)
        probes_overlap_of(out, a, bits_count(a->row, a->bytes),
                          bits_count(b->row, b->bytes),
                          bits_count_or(a->row, b->row, a->bytes));
}

void probes_unite(const probes_row *into, const probes_row *other)
{
    bits_or(into->row, other->row, into->bytes);
}
