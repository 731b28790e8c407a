/* similar.c - the most similar rows of bits, beside a plain read of them.
 *
 *      similar [ROWS [THREADS]]
 *
 * Makes ROWS (default 10^6) rows
 * of 2048 random bits, and asks for the ten that are most similar to each of
 * some queries, in turns with adding up all words of the same memory, as quick
 * as one loop can. Three times:
 *
 *      equal    all rows have as many bits as the queries: the bounds exclude
 *               none, and each row is read
 *      unlike   numbers of bits as of molecules, 20 to 200 about 60; each query
 *               is a row, of which a tenth of the bits were changed
 *      near     the same, and only those of a similarity of 0.7 at least, so
 *               that the bounds exclude more
 *
 * What is printed is the time of each, the medians of the rounds, and of how
 * many times a plain read a search takes.
 */
#include "bench.h"
#include "machine.h"

#include <bloomery.h>
#include <bloomery/similar.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SIMILAR_BITS = 2048, SIMILAR_WORDS = SIMILAR_BITS / 64,
       SIMILAR_BYTES = SIMILAR_BITS / 8, SIMILAR_QUERIES = 8,
       SIMILAR_ROUNDS = 9, SIMILAR_FOUND = 10, SIMILAR_EQUAL = 60 };

typedef struct {
    bly_rows       *rows, *queries;
    const uint64_t *words;              /* of all rows, one behind the other */
    uint64_t        n;
    size_t          query;
    bly_similar_spec spec;
} similar_bench;

static void similar_need(bly_status status, const char *doing)
{
    if (status < 0)
        bench_stop(doing, bly_why());
}

/* ---- Rows -------------------------------------------------------------- */

/* Set so many more bits. */
static void similar_set(uint8_t *row, uint64_t seed, unsigned bits)
{
    for (uint64_t i = 0; bits > 0; i++) {
        uint64_t bit = bench_hash(bench_hash(seed) + i) % SIMILAR_BITS;
        uint8_t mask = (uint8_t)(1u << bit % 8);
        bits -= (row[bit / 8] & mask) == 0;
        row[bit / 8] |= mask;
    }
}

/* About 60: the sum of some numbers, with a long tail upwards. */
static unsigned similar_unlike(uint64_t i)
{
    uint64_t random = bench_hash(i + UINT64_C(0x5D5D5D5D));
    unsigned bits = 20;
    for (unsigned j = 0; j < 4; j++)
        bits += (unsigned)(random >> (16 * j) & 0xFFFF) * 20 / 0xFFFF;
    return random % 8 == 0 ? bits + (unsigned)(random >> 40) % 100 : bits;
}

static void similar_make(similar_bench *b, bool unlike)
{
    uint8_t row[SIMILAR_BYTES];
    similar_need(bly_rows_new(&b->rows, SIMILAR_BITS, NULL), "rows");
    similar_need(bly_rows_new(&b->queries, SIMILAR_BITS, NULL), "rows");
    for (uint64_t i = 0; i < b->n; i++) {
        memset(row, 0, sizeof row);
        similar_set(row, i, unlike ? similar_unlike(i) : SIMILAR_EQUAL);
        similar_need(bly_rows_add(b->rows, row, "row"), "rows");
    }
    for (uint64_t i = 0; i < SIMILAR_QUERIES; i++) {
        uint64_t of = bench_hash(i + 1) % b->n;
        unsigned bits = unlike ? similar_unlike(of) : SIMILAR_EQUAL;
        memset(row, 0, sizeof row);
        if (unlike)
            similar_set(row, of, bits - bits / 10);
        similar_set(row, b->n + i, unlike ? bits / 10 : bits);
        similar_need(bly_rows_add(b->queries, row, "query"), "rows");
    }
    similar_need(bly_rows_sort(b->rows), "rows");
}

/* Where the first of the sorted rows lies. */
static void similar_find_words(similar_bench *b)
{
    const uint64_t *first = bly_rows_at(b->rows, 0);
    for (uint64_t i = 1; i < b->n; i++) {
        const uint64_t *at = bly_rows_at(b->rows, i);
        first = at < first ? at : first;
    }
    b->words = first;
}

/* ---- Measurements ------------------------------------------------------ */

static uint64_t similar_read(void *context, unsigned part, unsigned parts)
{
    const similar_bench *b = context;
    const uint64_t *at = b->words + b->n * part / parts * SIMILAR_WORDS;
    const uint64_t *end = b->words + b->n * (part + 1) / parts * SIMILAR_WORDS;
    uint64_t sum[8] = { 0 };
    for (; at < end; at += 8)
        for (unsigned i = 0; i < 8; i++)
            sum[i] += at[i];
    return sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6]
         + sum[7];
}

static uint64_t similar_search(void *context, unsigned part, unsigned parts)
{
    const similar_bench *b = context;
    bly_similar out[SIMILAR_FOUND];
    size_t found;
    (void)part, (void)parts;
    similar_need(bly_similar_find(out, &found, b->rows, b->queries, b->query, 1,
                                  &b->spec), "search");
    return found > 0 ? out[0].row : 0;
}

static int similar_by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double similar_median(double times[SIMILAR_ROUNDS])
{
    qsort(times, SIMILAR_ROUNDS, sizeof *times, similar_by_size);
    return times[SIMILAR_ROUNDS / 2];
}

static void similar_measure(similar_bench *b, const char *name,
                            double least, unsigned threads)
{
    double read[SIMILAR_ROUNDS], search[SIMILAR_ROUNDS];
    double bytes = (double)b->n * SIMILAR_BYTES;
    b->spec = (bly_similar_spec){ .most = SIMILAR_FOUND, .least = least,
                                  .threads = threads };
    for (unsigned round = 0; round < SIMILAR_ROUNDS; round++) {
        search[round] = 0;
        for (b->query = 0; b->query < SIMILAR_QUERIES; b->query++)
            search[round] += bench_time(similar_search, b, 1)
                           / SIMILAR_QUERIES;
        read[round] = bench_time(similar_read, b, threads);
    }
    double slow = similar_median(search), plain = similar_median(read);
    printf("%-7s %2u thread%s  read %7.2f ms (%5.1f GB/s)   search %7.2f ms   "
           "%5.2f times\n", name, threads, threads == 1 ? " " : "s",
           plain / 1e6, bytes / plain, slow / 1e6, slow / plain);
    fflush(stdout);
}

static void similar_both(similar_bench *b, const char *name, double least,
                         unsigned threads)
{
    similar_measure(b, name, least, 1);
    if (threads > 1)
        similar_measure(b, name, least, threads);
}

static void similar_case(uint64_t n, unsigned threads, bool unlike)
{
    similar_bench b = { .n = n };
    similar_make(&b, unlike);
    similar_find_words(&b);
    similar_both(&b, unlike ? "unlike" : "equal", 0, threads);
    if (unlike)
        similar_both(&b, "near", 0.7, threads);
    bly_rows_free(b.rows);
    bly_rows_free(b.queries);
}

int main(int argc, char **argv)
{
    double rows = argc > 1 ? strtod(argv[1], NULL) : 1e6;
    unsigned long threads = argc > 2 ? strtoul(argv[2], NULL, 10) : 2;
    bly_processor_t used;
    if (argc > 3 || !(rows >= 1000 && rows <= 1e9) || threads < 1
        || threads > BENCH_THREADS_MAX) {
        fprintf(stderr, "usage: similar [ROWS [THREADS]]\n");
        return 2;
    }
    bly_processor(&used);
    machine_print(&used);
    printf("top %d of %.0f rows of %d bits by Tanimoto, medians of %d "
           "rounds\n", SIMILAR_FOUND, rows, SIMILAR_BITS, SIMILAR_ROUNDS);
    similar_case((uint64_t)rows, (unsigned)threads, false);
    similar_case((uint64_t)rows, (unsigned)threads, true);
    return 0;
}
