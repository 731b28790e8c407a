/* layout.c - how large an index's parts are.
 *
 * Groups are for 2^(c/4) keys, rounded up, c = 0, 1, 2, …; the roots
 * are numbers here, and the rest is whole-number arithmetic, so that every
 * machine comes to the same groups. The number of rows m is such that a column
 * with n keys of k bits is found for a share p of all others,
 *
 *      (1 - (1 - 1/m)^(k n))^k <= p                                       (1)
 *
 *      m = 1 / (1 - (1 - p^(1/k))^(1 / (k n)))                            (2)
 *
 * rounded up. A reader takes m from the file.
 */
#include "search/library/layout.h"

#include <math.h>

#include "base/sizes.h"
#include "bodies/rows.h"

static bool layout_behind(uint64_t *at, uint64_t n, uint64_t each)
{
    uint64_t bytes = 0;
    return sizes_mul(&bytes, n, each) && sizes_add(at, *at, bytes);
}

bool layout_list_of(layout_list *out, uint64_t at, uint64_t groups,
                    uint64_t documents, uint64_t extra, uint64_t names,
                    uint64_t about)
{
    out->groups = at;
    bool fits = layout_behind(&at, groups, LAYOUT_GROUP);
    out->documents = at;
    fits = fits && layout_behind(&at, documents, LAYOUT_DOCUMENT);
    out->dropped = at;
    fits = fits && sizes_add(&at, at, rows_bytes_of(documents));
    out->extra = at;
    fits = fits && layout_behind(&at, documents, extra);
    out->names = at;
    fits = fits && sizes_add(&at, at, names);
    out->about = at;
    fits = fits && sizes_add(&at, at, about);
    out->end = at;
    return fits;
}

uint64_t layout_sum(const uint8_t *rows, uint64_t bytes, uint64_t page)
{
    uint64_t from = page * LAYOUT_PAGE, left = bytes - from;
    return hash_xxh3(rows + from,
                     (size_t)(left < LAYOUT_PAGE ? left : LAYOUT_PAGE), 0);
}

bool layout_bits(uint64_t *bytes, uint64_t rows, uint64_t documents)
{
    uint64_t bits = 0;
    if (!sizes_mul(&bits, rows, documents))
        return false;
    *bytes = rows_bytes_of(bits);
    return true;
}

uint64_t layout_most(uint64_t keys)
{
    /* 2^31 times 1, 2^(1/4), 2^(1/2) and 2^(3/4), rounded up */
    static const uint64_t roots[] = {
        UINT64_C(2147483648), UINT64_C(2553802834), UINT64_C(3037000500),
        UINT64_C(3611622603),
    };
    if (keys > LAYOUT_KEYS_MOST)
        return 0;
    for (unsigned c = 0;; c++) {
        uint64_t most = roots[c % 4] >> (31 - (c / 4 < 31 ? c / 4 : 31));
        if (c / 4 > 31)
            most = roots[c % 4] << (c / 4 - 31);
        most += c % 4 != 0 && c / 4 < 31;
        if (most >= keys)
            return most;
    }
}

uint64_t layout_rows(double rate, uint32_t probes, uint64_t most)
{
    double k = probes, n = (double)most;
    double clear = log1p(-pow(rate, 1 / k)) / (k * n);  /* log (1 - 1/m)     */
    uint64_t rows;
    return most > 0 && sizes_from_double(&rows, -1 / expm1(clear))
        && rows < LAYOUT_ROWS_MOST ? rows + (rows == 0) : 0;
}

uint32_t layout_probes(double rate)
{
    double best = floor(-log2(rate) + 0.5);
    return best < 1 ? 1 : best > LAYOUT_PROBES_MOST ? LAYOUT_PROBES_MOST
         : (uint32_t)best;
}

uint64_t bly_index_bits(const bly_index_spec *spec, uint64_t keys)
{
    double rate = spec->rate == 0 ? 0.01 : spec->rate;
    uint32_t probes = spec->probes > 0 ? spec->probes : layout_probes(rate);
    uint64_t rows = layout_rows(rate, probes, layout_most(keys > 0 ? keys : 1));
    return rows > 0 ? rows : UINT64_MAX;
}
