/* canim.c - pages written to flash, with and without buffering keys per page
 * [Canim et al. 2010; Debnath et al. 2011].
 *
 * See lab.h and essay.html beside this file.
 *
 * Pages are counted in the file itself: those whose bytes have changed.
 */
#include "lab.h"

#include <bloomery/paged.h>
#include <bloomery/parts.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CANIM_PAGE = 4096, CANIM_ENTRY = 24, CANIM_STEPS = 12,
       CANIM_LEAST = -6, CANIM_ROUNDS = 30, CANIM_PATH = 4096,
       CANIM_KEYS = 1, CANIM_SIMULATED = 2 };

/* A rate so low that a key hardly ever finds all its bits set: each key changes
 * a page. */
static const double canim_rate = 1e-6;

/* A filter, in a file or in memory, and its bytes at two times. */
typedef struct {
    bly_filter *filter;
    const char *path;                   /* NULL: in memory */
    uint8_t    *before, *after;
    size_t      bytes;
    uint64_t    keys;
    double      writes[CANIM_STEPS][CANIM_ROUNDS];     /* a key */
} canim_side;

static void canim_need(bly_status status, const char *doing)
{
    if (status < 0)
        lab_stop(doing, bly_why());
}

/* ---- Changes ------------------------------------------------------------ */

static void canim_read(const char *path, uint8_t *bytes, size_t n)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        lab_stop(path, strerror(errno));
    if (fread(bytes, 1, n, file) != n)
        lab_stop(path, "it is shorter than it was");
    fclose(file);
}

/* Reads the bytes; the last ones become the previous ones. */
static void canim_look(canim_side *s)
{
    uint8_t *old = s->before;
    s->before = s->after;
    s->after = old;
    if (s->path != NULL) {
        canim_need(bly_sync(s->filter), s->path);
        canim_read(s->path, s->after, s->bytes);
    } else {
        size_t bytes;
        const void *now = bly_raw(s->filter, &bytes);
        memcpy(s->after, now, s->bytes);
    }
}

/* Counts changed pages, except the first, which holds the header. */
static uint64_t canim_changed(const canim_side *s)
{
    uint64_t changed = 0;
    for (size_t i = CANIM_PAGE; i + CANIM_PAGE <= s->bytes; i += CANIM_PAGE)
        changed += memcmp(s->before + i, s->after + i, CANIM_PAGE) != 0;
    return changed;
}

static void canim_add(canim_side *s, uint64_t n)
{
    lab_fill(s->filter, CANIM_KEYS, s->keys, n);
    s->keys += n;
}

static size_t canim_length(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        lab_stop(path, strerror(errno));
    long length = ftell(file);
    fclose(file);
    return (size_t)length;
}

/* Makes a filter for n keys: pages in a file, or a row of bits in memory. */
static void canim_start(canim_side *s, const char *path, uint64_t n)
{
    bly_spec spec = { .capacity = n, .rate = canim_rate };
    s->path = path;
    s->keys = 0;
    if (path != NULL) {
        canim_need(bly_create(&s->filter, path, "buffered", &spec), path);
        canim_need(bly_sync(s->filter), path);
        s->bytes = canim_length(path);
    } else {
        s->filter = lab_new(n, canim_rate, "standard");
        bly_raw(s->filter, &s->bytes);
    }
    s->before = lab_allocate(s->bytes);
    s->after = lab_allocate(s->bytes);
}

static void canim_end(canim_side *s)
{
    bly_free(s->filter);
    free(s->before);
    free(s->after);
}

/* ---- Counting ----------------------------------------------------------- */

/* Returns the batch sizes: one key, then from P/64 on, doubled each step. */
static uint64_t canim_batch(uint64_t pages, size_t step)
{
    double keys = ldexp((double)pages, CANIM_LEAST + (int)step - 1);
    return step == 0 || keys < 1 ? 1 : (uint64_t)keys;
}

/* Each round fills the filter further, up to n keys, using each batch size
 * once. */
static void canim_rounds(canim_side *s, uint64_t n, uint64_t pages,
                         size_t rounds)
{
    for (size_t r = 0; r < rounds; r++) {
        uint64_t full = (uint64_t)((double)n * (double)r / (double)rounds);
        if (full > s->keys)
            canim_add(s, full - s->keys);
        canim_look(s);
        for (size_t i = 0; i < CANIM_STEPS; i++) {
            uint64_t b = canim_batch(pages, i);
            canim_add(s, b);
            canim_look(s);
            s->writes[i][r] = (double)canim_changed(s) / (double)b;
        }
    }
}

/* Returns the pages hit by b keys, per key. */
static double canim_formula(double pages, double b)
{
    return -pages * expm1(b * log1p(-1 / pages)) / b;
}

/* Returns the standard deviation of that number. */
static double canim_spread(double pages, double b)
{
    double empty = exp(b * log1p(-1 / pages));
    double two = exp(b * log1p(-2 / pages));
    return sqrt(fmax(0, pages * (pages - 1) * two + pages * empty
                        - pages * pages * empty * empty));
}

/* Returns the writes if the memory is a page cache: it holds a page with the
 * chance of its share, and each miss evicts another. */
static double canim_cache(double pages, double b)
{
    return 1 - fmin(1, CANIM_ENTRY * b / (CANIM_PAGE * pages));
}

/* Returns writes per key, in a steady state, under another rule: when b keys
 * wait, the page with the most of them is written. */
static double canim_fullest(uint64_t pages, uint64_t b)
{
    uint64_t *waits = lab_allocate(pages * sizeof *waits), waiting = 0;
    uint64_t warm = 10 * (pages + b), all = 2 * warm, writes = 0;
    memset(waits, 0, pages * sizeof *waits);
    for (uint64_t i = 0; i < all; i++) {
        waits[lab_key(CANIM_SIMULATED, i) % pages]++;
        if (++waiting < b)
            continue;
        uint64_t most = 0;
        for (uint64_t p = 1; p < pages; p++)
            most = waits[p] > waits[most] ? p : most;
        waiting -= waits[most];
        waits[most] = 0;
        writes += i >= warm;
    }
    free(waits);
    return (double)writes / (double)(all - warm);
}

/* ---- The figure --------------------------------------------------------- */

typedef struct {
    double      b[CANIM_STEPS];         /* keys per page */
    lab_measure paged[CANIM_STEPS], row[CANIM_STEPS];
    double      formula[CANIM_STEPS], by_chance[CANIM_STEPS];
    double      cache[CANIM_STEPS];
    double      fullest[CANIM_STEPS];
} canim_result;

static void canim_claims(lab *l, const canim_result *c)
{
    unsigned met = 0;
    bool better = true;
    size_t half = 0, one = 1 - CANIM_LEAST, last = CANIM_STEPS - 1;
    for (size_t i = 1; i < CANIM_STEPS; i++) {
        met += fabs(c->paged[i].value - c->formula[i]) <= c->by_chance[i];
        better = better && (i < one || c->paged[i].high < c->cache[i]);
        half = half == 0 && c->paged[i].value <= 0.5 ? i : half;
    }
    lab_says(l, "all bits of a key in one page: a page to write instead of one "
                "for each bit (Debnath et al.)",
             c->paged[0].value <= 1 && 1 < c->row[0].low,
             "%.2f pages a key without gathering, %.2f (%.2f … %.2f) in one "
             "row of bits", c->paged[0].value, c->row[0].value, c->row[0].low,
             c->row[0].high);
    lab_says(l, "keys gathered in memory take fewer writes (Canim et al.; "
                "Debnath et al.): P(1 - (1 - 1/P)^b) for b keys",
             met == CANIM_STEPS - 1 && c->paged[last].high < 1,
             "so in %u of %d cases, but for chance; %.3f pages a key with %g "
             "keys for each page, %.4f with %g", met, CANIM_STEPS - 1,
             c->paged[one].value, c->b[one], c->paged[last].value, c->b[last]);
    lab_says(l, "ours: half of the writes are saved only by gathering more "
                "keys than there are pages", half > one,
             "first with %g keys for each page: %.3f; these take %.2f %% of "
             "the file's size in memory", c->b[half], c->paged[half].value,
             100 * CANIM_ENTRY * c->b[half] / CANIM_PAGE);
    lab_says(l, "ours: from as many keys as pages on memory is better used for "
                "keys than as a cache of pages", better,
             "with %g keys for each page %.3f pages a key, the cache %.3f; "
             "with %g %.4f and %.3f", c->b[one], c->paged[one].value,
             c->cache[one], c->b[last], c->paged[last].value, c->cache[last]);
    lab_says(l, "ours: to write the fullest page alone, when memory is full, "
                "takes fewer writes than a pass over all",
             c->fullest[last] < c->paged[last].low,
             "%.3f a key with %g keys for each page and %.4f with %g: %.2f and "
             "%.2f of those of a pass (simulated)", c->fullest[one], c->b[one],
             c->fullest[last], c->b[last], c->fullest[one]
             / c->paged[one].value, c->fullest[last] / c->paged[last].value);
}

static void canim_figure(lab *l, const canim_side *paged, const canim_side *row,
                         uint64_t pages, size_t rounds)
{
    canim_result c;
    uint64_t few = lab_pick(l, 64, 1024, 2048);
    lab_figure(l, "writes", "keys gathered,keys a page,buffered,low,high,"
               "formula,standard,low,high,cache,fullest");
    for (size_t i = 0; i < CANIM_STEPS; i++) {
        uint64_t b = canim_batch(pages, i);
        c.b[i] = (double)b / (double)pages;
        c.paged[i] = lab_mean(paged->writes[i], rounds);
        c.row[i] = lab_mean(row->writes[i], rounds);
        c.formula[i] = canim_formula((double)pages, (double)b);
        c.by_chance[i] = lab_z * canim_spread((double)pages, (double)b)
                       / (sqrt((double)rounds) * (double)b);
        c.cache[i] = canim_cache((double)pages, (double)b);
        c.fullest[i] = canim_fullest(few, canim_batch(few, i));
        lab_row(l, "%.0f,%.5g,%.5g,%.5g,%.5g,%.5g,%.5g,%.5g,%.5g,%.5g,%.5g",
                (double)b, c.b[i], c.paged[i].value, c.paged[i].low,
                c.paged[i].high, c.formula[i], c.row[i].value, c.row[i].low,
                c.row[i].high, c.cache[i], c.fullest[i]);
    }
    canim_claims(l, &c);
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    canim_side *paged = lab_allocate(2 * sizeof *paged), *row = paged + 1;
    uint64_t n = lab_pick(&l, 40000, 1100000, 9000000);
    size_t rounds = lab_pick(&l, 2, 20, CANIM_ROUNDS);
    char path[CANIM_PATH];
    if (snprintf(path, sizeof path, "%s/pages.bly", l.folder) >= CANIM_PATH)
        lab_stop(l.folder, "its name is too long");
    canim_start(paged, path, n);
    canim_start(row, NULL, n);
    uint64_t pages = paged->bytes / CANIM_PAGE - 1;
    canim_rounds(paged, n, pages, rounds);
    canim_rounds(row, n, pages, rounds);
    canim_figure(&l, paged, row, pages, rounds);
    canim_end(paged);
    canim_end(row);
    remove(path);
    free(paged);
    return lab_close(&l);
}
