/* canim.c - what it saves to gather keys before they are written [Canim et al.
 * 2010; Debnath et al. 2011].
 *
 * Floor 7: a program of the lab; see lab.h and essay.html beside this file.
 */
#include "lab.h"

#include <bloomery/parts.h>
#include <stdlib.h>

enum { CANIM_PAGE = 4096, CANIM_PROBES = 7 };

/* Pages that b keys of a series lie in, of a filter of pages. */
static uint64_t canim_touched(const bly_filter *f, bool *seen, uint64_t pages,
                              uint64_t series, uint64_t from, uint64_t b)
{
    uint64_t touched = 0;
    for (uint64_t p = 0; p < pages; p++)
        seen[p] = false;
    for (uint64_t i = 0; i < b; i++) {
        uint64_t key = lab_key(series, from + i), place;
        size_t bytes;
        if (bly_places(f, &key, 1, &place, &bytes) != BLY_OK)
            lab_stop("places", bly_why());
        uint64_t page = place / bytes % pages;
        touched += !seen[page];
        seen[page] = true;
    }
    return touched;
}

/* Pages written for a key, with b keys gathered at a time: the mean of many
 * batches. */
static lab_measure canim_gathered(lab *l, const bly_filter *f, uint64_t pages,
                                  uint64_t b)
{
    enum { MOST = 64 };
    double share[MOST];
    bool *seen = lab_allocate(pages * sizeof *seen);
    size_t batches = lab_pick(l, 3, 16, MOST);
    for (size_t i = 0; i < batches; i++)
        share[i] = (double)canim_touched(f, seen, pages, 1, i * b, b)
                 / (double)b;
    free(seen);
    return lab_mean(share, batches);
}

/* The same without pages of its own: k bits anywhere. */
static double canim_scattered(double pages, double b)
{
    return pages * -expm1(CANIM_PROBES * b * log1p(-1 / pages)) / b;
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    uint64_t n = lab_pick(&l, 100000, 10000000, 100000000);
    uint64_t most = lab_pick(&l, 1000, 100000, 1000000);
    bly_filter *f = lab_new(n, 0.01, "buffered:page=%d", CANIM_PAGE);
    size_t bytes;
    bly_raw(f, &bytes);
    uint64_t pages = bytes / CANIM_PAGE;
    double one = 0, last = 0, scattered = 0;
    double off = 0;
    lab_figure(&l, "writes", "gathered,pages a key,low,high,formula,"
                             "a filter without pages");
    for (uint64_t b = 1; b <= most; b *= 10) {
        lab_measure m = canim_gathered(&l, f, pages, b);
        double formula = (double)pages
                       * -expm1((double)b * log1p(-1 / (double)pages))
                       / (double)b;
        scattered = canim_scattered((double)pages, (double)b);
        lab_row(&l, "%.0f,%.5g,%.5g,%.5g,%.5g,%.5g", (double)b, m.value, m.low,
                m.high, formula, scattered);
        last = m.value;
        one = b == 1 ? m.value : one;
        off = fmax(off, fabs(m.value / formula - 1));
    }
    lab_says(&l, "a key's bits lie in one page: one write a key, where a "
                 "filter without pages takes k", one == 1,
             "%.3g and %.3g pages", one, canim_scattered((double)pages, 1));
    lab_says(&l, "ours: gathering b keys takes P (1 - (1 - 1/P)^b) / b writes "
                 "a key", off < 0.02, "never off by more than %.2g %%, P = "
             "%.0f pages", 100 * off, (double)pages);
    lab_says(&l, "gathering saves most of the writes", last < 0.5,
             "%.3g pages a key with %.0f keys gathered for %.0f pages, without "
             "pages of its own %.3g", last, (double)most, (double)pages,
             scattered);
    bly_free(f);
    return lab_close(&l);
}
