/* clubcard_solve.c - sorts the keys of a clubcard, eliminates, and solves.
 *
 * Keys come in the order of their windows, so that elimination works on a few
 * hundred rows at a time. The rows that end up in use do not depend on the
 * order.
 */
#include "kinds/foreign/clubcard/clubcard_solve.h"

#include <string.h>

#include "base/platform.h"
#include "bits/hash.h"

/* ---- Sorting ----------------------------------------------------------- */

enum {
    CLUBCARD_FEW = 24,                  /* items that insertion sorts        */
    CLUBCARD_DIGITS = 256,
    CLUBCARD_PLACES = 8 * (1 + CLUBCARD_LIMBS)
};

/* Returns word i of the number that items are sorted by. */
static uint64_t clubcard_sort_word(const clubcard_item *item, unsigned i)
{
    return i == 0 ? item->key : item->a[i % CLUBCARD_LIMBS];
}

int clubcard_compare(const clubcard_item *x, const clubcard_item *y)
{
    for (unsigned i = 0; i <= CLUBCARD_LIMBS; i++) {
        uint64_t v = clubcard_sort_word(x, i), w = clubcard_sort_word(y, i);
        uint64_t bit = i == CLUBCARD_LIMBS;
        if ((v | bit) != (w | bit))
            return v < w ? -1 : 1;
    }
    return 0;
}

static bool clubcard_before(const clubcard_item *x, const clubcard_item *y)
{
    int order = clubcard_compare(x, y);
    return order != 0 ? order < 0 : (x->a[0] & 1) < (y->a[0] & 1);
}

static void clubcard_sort_few(clubcard_item *items, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        clubcard_item item = items[i];
        size_t j = i;
        for (; j > 0 && clubcard_before(&item, &items[j - 1]); j--)
            items[j] = items[j - 1];
        items[j] = item;
    }
}

/* Returns the digit at a place; 0 is the highest. */
static unsigned clubcard_sort_digit(const clubcard_item *item, unsigned place)
{
    return clubcard_sort_word(item, place / 8) >> (56 - 8 * (place % 8))
         & (CLUBCARD_DIGITS - 1);
}

/* Moves all items to the part of their digit, in place. */
static void clubcard_sort_move(clubcard_item *items, unsigned place,
                               size_t *next, const size_t *ends)
{
    for (unsigned d = 0; d < CLUBCARD_DIGITS; d++)
        while (next[d] < ends[d]) {
            clubcard_item item = items[next[d]];
            unsigned to = clubcard_sort_digit(&item, place);
            while (to != d) {
                clubcard_item other = items[next[to]];
                items[next[to]++] = item;
                item = other;
                to = clubcard_sort_digit(&item, place);
            }
            items[next[d]++] = item;
        }
}

/* Sorts items that agree in all digits before `place`. */
static void clubcard_sort_from(clubcard_item *items, size_t n, unsigned place)
{
    size_t ends[CLUBCARD_DIGITS], next[CLUBCARD_DIGITS], most = n, sum;
    for (; place < CLUBCARD_PLACES && most == n && n > CLUBCARD_FEW; place++) {
        memset(ends, 0, sizeof ends);
        for (size_t i = 0; i < n; i++)
            ends[clubcard_sort_digit(&items[i], place)]++;
        most = ends[clubcard_sort_digit(&items[0], place)];
    }
    if (n <= CLUBCARD_FEW || most == n) {
        if (n <= CLUBCARD_FEW)
            clubcard_sort_few(items, n);
        return;
    }
    sum = 0;
    for (unsigned d = 0; d < CLUBCARD_DIGITS; d++) {
        next[d] = sum;
        ends[d] = sum += ends[d];
    }
    clubcard_sort_move(items, place - 1, next, ends);
    for (unsigned d = 0; d < CLUBCARD_DIGITS; d++) {
        size_t from = d > 0 ? ends[d - 1] : 0;
        clubcard_sort_from(items + from, ends[d] - from, place);
    }
}

void clubcard_sort(clubcard_item *items, size_t n)
{
    clubcard_sort_from(items, n, 0);
}

/* ---- Elimination ------------------------------------------------------- */

void clubcard_band_begin(clubcard_band *band, uint64_t m)
{
    size_t rows = (size_t)clubcard_most_rows(m);
    memset(band->rows, 0, rows * sizeof *band->rows);
    memset(band->sums, 0, rows);
    band->n = m;
}

/* Divides by the power of 2 that makes the first coefficient 1. Returns its
 * exponent, or CLUBCARD_BAND if all coefficients are 0. */
static unsigned clubcard_normal(uint64_t a[CLUBCARD_LIMBS])
{
    unsigned words = 0;
    while (words < CLUBCARD_LIMBS && a[words] == 0)
        words++;
    if (words == CLUBCARD_LIMBS)
        return CLUBCARD_BAND;
    unsigned bits = platform_trailing_zeros(a[words]);
    for (unsigned i = 0; i < CLUBCARD_LIMBS; i++) {
        unsigned from = i + words;
        uint64_t low = from < CLUBCARD_LIMBS ? a[from] : 0;
        uint64_t high = from + 1 < CLUBCARD_LIMBS ? a[from + 1] : 0;
        a[i] = clubcard_shift(low, high, bits);
    }
    return 64 * words + bits;
}

bool clubcard_band_add(clubcard_band *band, uint64_t start, const uint64_t *a,
                       unsigned sum)
{
    uint64_t row[CLUBCARD_LIMBS];
    memcpy(row, a, sizeof row);
    row[0] |= 1;
    while (band->rows[start][0] != 0) {
        for (unsigned i = 0; i < CLUBCARD_LIMBS; i++)
            row[i] ^= band->rows[start][i];
        sum ^= band->sums[start];
        unsigned more = clubcard_normal(row);
        if (more == CLUBCARD_BAND)
            return sum == 0;
        start += more;
    }
    memcpy(band->rows[start], row, sizeof row);
    band->sums[start] = (uint8_t)sum;
    band->n = start >= band->n ? start + 1 : band->n;
    return true;
}

/* ---- Solutions --------------------------------------------------------- */

/* The window, one bit further to the front, whose first bit is 0. */
static void clubcard_window_move(uint64_t window[CLUBCARD_LIMBS])
{
    for (unsigned i = CLUBCARD_LIMBS - 1; i > 0; i--)
        window[i] = window[i] << 1 | window[i - 1] >> 63;
    window[0] <<= 1;
}

static void clubcard_solution_set(clubcard_solution *column, unsigned bit)
{
    column->at--;
    column->window[0] |= bit;
    column->words[column->at / 64] |= (uint64_t)bit << column->at % 64;
}

void clubcard_solution_put(clubcard_solution *column, unsigned bit)
{
    clubcard_window_move(column->window);
    clubcard_solution_set(column, bit);
}

unsigned clubcard_solution_noise(clubcard_solution *column)
{
    return (unsigned)(hash_mix(column->noise += HASH_STEP) >> 63);
}

void clubcard_solution_add(clubcard_solution *column,
                           const clubcard_band *band)
{
    for (uint64_t i = band->n; i-- > 0; ) {
        const uint64_t *row = band->rows[i];
        uint64_t sum = 0;
        clubcard_window_move(column->window);
        for (unsigned j = 0; j < CLUBCARD_LIMBS; j++)
            sum ^= row[j] & column->window[j];
        clubcard_solution_set(column, row[0] == 0
                              ? clubcard_solution_noise(column)
                              : (platform_popcount(sum) & 1) ^ band->sums[i]);
    }
}
