/* formats.c - the speed of other systems' formats, each beside the kind of ours
 * with the same shape: `bench --formats`.
 *
 * A pair is one filter of the format and one of ours, with the same keys and,
 * if they have these, as many bits and probes. Both are queried through
 * bly_contains_many, in batches of 4096 keys of 12 to 20 bytes, in random
 * order. The key's hash is part of the time, because a format prescribes it.
 * What it costs shows in the column "empty": absent keys in an empty filter
 * for the smallest number of keys, which take the hash and a probe or two in
 * the first-level cache. Kinds that are built from all keys have no such
 * number.
 *
 * A round measures both filters of a pair, the format first in every other
 * round. Ratios are computed within rounds; their median is taken last.
 */
#include "bench.h"

#include <bloomery.h>
#include <bloomery/foreign.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FORMATS_BATCH = 4096, FORMATS_ASKED = 1 << 16, FORMATS_LEAST = 12,
       FORMATS_LENGTHS = 9, FORMATS_GROUPS = 256, FORMATS_NAME = 32,
       FORMATS_OTHERS = 7, FORMATS_SPEC = 96 };

static const double FORMATS_SAMPLE = 2e7;       /* ns, about                 */
static const uint64_t FORMATS_ABSENT = UINT64_C(1) << 40;

/* Which numbers of the format's filter ours has: none, bits and probes, or
 * bits. */
typedef enum { FORMATS_PLAIN, FORMATS_ROW, FORMATS_BITS } formats_shape;

typedef struct {
    const char   *format, *own;
    formats_shape shape;
    uint64_t    most;                   /* keys, if there is a limit         */
    double      rate;                   /* of both; 0: 1 %                   */
} formats_pair;

/* A Bitcoin block's hash. */
#define FORMATS_BLOCK                                                          \
    "000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f"

static const formats_pair formats_pairs[] = {
    { "dcso", "standard", FORMATS_ROW, 0, 0 },
    { "parquet", "split", FORMATS_BITS, 0, 0 },
    { "datasketches", "standard", FORMATS_ROW, 0, 0 },
    { "bitsandblooms", "standard", FORMATS_ROW, 0, 0 },
    { "guava", "standard", FORMATS_ROW, 0, 0 },
    { "spark", "standard", FORMATS_ROW, 0, 0 },
    { "cassandra", "standard", FORMATS_ROW, 0, 0 },
    { "fastbloom", "standard", FORMATS_ROW, 0, 0 },
    { "rustbloom", "standard", FORMATS_ROW, 0, 0 },
    { "pyprobables", "standard", FORMATS_ROW, 0, 0 },
    { "leveldb", "standard", FORMATS_ROW, 0, 0 },
    { "bip37", "standard", FORMATS_ROW, 20000, 0 },
    { "rocksdb", "blocked", FORMATS_ROW, 0, 0 },
    { "ethereum", "standard", FORMATS_ROW, 100, 0 },
    { "squid", "standard", FORMATS_ROW, 0, 0 },
    { "venti", "standard", FORMATS_ROW, 0, 0 },
    { "exim", "standard", FORMATS_ROW, 0, 0 },
    { "redisbloom", "standard", FORMATS_ROW, 0, 0 },
    { "rediscuckoo", "cuckoo:f=8", FORMATS_PLAIN, 0, 0 },
    { "bip158:block=" FORMATS_BLOCK, "gcs", FORMATS_PLAIN, 10000,
      1.0 / 784931 },
    { "xorfilter:type=xor8", "xor:bits=8", FORMATS_PLAIN, 0, 0 },
    { "xorfilter:type=fuse8", "fuse:bits=8", FORMATS_PLAIN, 0, 0 },
    { "xorfilter:type=fuse16", "fuse:bits=16", FORMATS_PLAIN, 0, 0 },
    { "rocksribbon", "ribbon", FORMATS_PLAIN, 0, 0 },
    { "clubcard", "ribbon:bits=3", FORMATS_PLAIN, 1000000, 0 },
    { "orc", "standard", FORMATS_ROW, 0, 0 },
    { "poppy", "standard", FORMATS_ROW, 0, 0 },
    { "npmbloom", "standard", FORMATS_ROW, 0, 0 },
    { "valkey", "standard", FORMATS_ROW, 0, 0 },
};

enum { FORMATS_PAIRS = sizeof formats_pairs / sizeof *formats_pairs };

/* ---- Keys -------------------------------------------------------------- */

/* Some keys, with the bytes of all. */
typedef struct {
    bly_keys keys;
    bly_key *key;
    char    *text;
} formats_keys;

/* Writes key i: hexadecimal digits, after the name of a group if the format
 * has those. Returns its bytes. */
static size_t formats_write(char *to, uint64_t i, bool groups)
{
    uint64_t name = bench_hash(i), more = bench_hash(~i), lead = 0;
    if (groups) {
        uint64_t group = bench_hash(more % FORMATS_GROUPS);
        for (; lead < FORMATS_NAME; lead += sizeof group)
            memcpy(to + lead, &group, sizeof group);
    }
    size_t length = FORMATS_LEAST + (size_t)(more >> 32) % FORMATS_LENGTHS;
    for (size_t j = 0; j < length; j++) {
        uint64_t digits = j < 16 ? name >> 4 * j : more >> 4 * (j - 16);
        to[lead + j] = "0123456789abcdef"[digits & 15];
    }
    return (size_t)lead + length;
}

static formats_keys formats_new(size_t n, bool groups)
{
    size_t room = FORMATS_LEAST + FORMATS_LENGTHS + (groups ? FORMATS_NAME : 0);
    formats_keys k = { .key = bench_allocate(n * sizeof *k.key),
                       .text = bench_allocate(n * room) };
    k.keys = (bly_keys){ .keys = k.key };
    return k;
}

static void formats_put(formats_keys *k, uint64_t i, bool groups)
{
    size_t n = k->keys.n++;
    char *to = n == 0 ? k->text
             : k->text + ((const char *)k->key[n - 1].data - k->text)
               + k->key[n - 1].length;
    k->key[n] = (bly_key){ to, formats_write(to, i, groups) };
}

static void formats_drop(formats_keys *k)
{
    free(k->key);
    free(k->text);
}

static formats_keys formats_from(uint64_t first, uint64_t n, bool groups)
{
    formats_keys k = formats_new((size_t)n, groups);
    for (uint64_t i = 0; i < n; i++)
        formats_put(&k, first + i, groups);
    return k;
}

/* Present and absent keys, in random order. */
typedef struct { formats_keys keys[2]; } formats_questions;

static formats_questions formats_ask(uint64_t n, bool groups)
{
    formats_questions q;
    for (size_t s = 0; s < 2; s++) {
        q.keys[s] = formats_new(FORMATS_ASKED, groups);
        for (uint64_t i = 0; i < FORMATS_ASKED; i++)
            formats_put(&q.keys[s], s == 0 ? bench_hash(~i) % n
                                           : FORMATS_ABSENT + i, groups);
    }
    return q;
}

/* ---- Filters ------------------------------------------------------------ */

/* A source of the keys of a clubcard: n from the first one on. */
typedef struct { uint64_t first, n; } formats_source;

static bly_status formats_each(void *context, bly_take_keys *take, void *into)
{
    const formats_source *from = context;
    bly_status status = BLY_OK;
    for (uint64_t i = 0, some; i < from->n && status >= 0; i += some) {
        some = from->n - i < FORMATS_BATCH ? from->n - i : FORMATS_BATCH;
        formats_keys k = formats_from(from->first + i, some, true);
        status = take(into, &k.keys);
        formats_drop(&k);
    }
    return status;
}

static bool formats_is(const char *spec, const char *kind)
{
    size_t n = strlen(kind);
    return strncmp(spec, kind, n) == 0 && (spec[n] == '\0' || spec[n] == ':');
}

static bly_status formats_build(bly_filter **out, const char *kind,
                                const bly_spec *want, const formats_keys *keys)
{
    if (!formats_is(kind, "clubcard"))
        return bly_build(out, kind, want, &keys->keys);
    formats_source in = { 0, want->capacity };
    formats_source others = { UINT64_C(1) << 32,
                              FORMATS_OTHERS * want->capacity };
    bly_clubcard_spec spec = { .kind = kind, .members = { formats_each, &in },
                               .others = { formats_each, &others } };
    return bly_build_clubcard(out, &spec);
}

/* Writes the spec of our kind, with the bits and probes of a filter. */
static void formats_own(char spec[FORMATS_SPEC], const formats_pair *pair,
                        const bly_filter *filter)
{
    bly_info_t info;
    if (bly_info(&info, filter) < 0)
        bench_stop(pair->format, bly_why());
    uint64_t bits = 8 * (info.bytes - BLY_HEADER_BYTES);
    int n = snprintf(spec, FORMATS_SPEC, "%s", pair->own);
    if (pair->shape != FORMATS_PLAIN)
        n += snprintf(spec + n, FORMATS_SPEC - (size_t)n, ":m=%" PRIu64, bits);
    if (pair->shape == FORMATS_ROW)
        snprintf(spec + n, FORMATS_SPEC - (size_t)n, ",k=%" PRIu32,
                 info.probes);
}

/* ---- Measurement --------------------------------------------------------- */

typedef struct {
    const bly_filter *filter;
    const bly_keys   *keys;
    size_t            batches, absent;  /* absent: keys that were not found  */
} formats_job;

static uint64_t formats_work(void *context, unsigned part, unsigned parts)
{
    formats_job *job = context;
    bool present[FORMATS_BATCH];
    uint64_t sum = 0;
    (void)part, (void)parts;
    for (size_t b = 0; b < job->batches; b++) {
        bly_keys some = { .n = FORMATS_BATCH };
        some.keys = job->keys->keys + b * FORMATS_BATCH % FORMATS_ASKED;
        if (bly_contains_many(job->filter, &some, present) < 0)
            bench_stop("query", bly_why());
        for (size_t i = 0; i < FORMATS_BATCH; i++)
            sum += present[i];
    }
    job->absent = job->batches * FORMATS_BATCH - (size_t)sum;
    return sum;
}

/* Returns nanoseconds a key, of about as many batches as a sample takes. */
static double formats_time(const bly_filter *filter, const formats_keys *keys,
                           bool present)
{
    formats_job job = { filter, &keys->keys, 1, 0 };
    double one = bench_cost(formats_work, &job);
    job.batches = (size_t)fmin(fmax(FORMATS_SAMPLE / one, 1), 256);
    double taken = bench_cost(formats_work, &job);
    if (present && job.absent > 0)
        bench_stop(bly_kind_of(filter), "a key that was added is not found");
    return taken / (double)(job.batches * FORMATS_BATCH);
}

/* The filters of a pair. */
typedef struct { bly_filter *filter[2]; } formats_filters;

static const char *const formats_sides[] = { "format", "own" };
static const char *const formats_shares[] = { "present", "absent" };

static void formats_sample(const bench_case *of, const formats_filters *f,
                           const formats_questions *q, size_t round)
{
    char what[24];
    for (size_t i = 0; i < 4; i++) {
        size_t side = (i + round) % 2, share = i / 2;
        snprintf(what, sizeof what, "%s %s", formats_sides[side],
                 formats_shares[share]);
        table_add(of, what, formats_time(f->filter[side], &q->keys[share],
                                         share == 0));
    }
}

/* Measures empty filters, of kinds that can be empty. */
static void formats_empty(const bench_case *of, const char *const kinds[2],
                          const formats_questions *q, size_t rounds)
{
    formats_filters f = { { NULL, NULL } };
    bly_spec want = { .capacity = of->keys, .rate = of->rate };
    for (size_t side = 0; side < 2; side++)
        if (bly_new(&f.filter[side], kinds[side], &want) < 0)
            f.filter[side] = NULL;
    for (size_t round = 0; round < rounds; round++)
        for (size_t i = 0; i < 2; i++) {
            size_t side = (i + round) % 2;
            if (f.filter[0] != NULL && f.filter[1] != NULL)
                table_add(of, side == 0 ? "format empty" : "own empty",
                          formats_time(f.filter[side], &q->keys[1], false));
        }
    bly_free(f.filter[0]);
    bly_free(f.filter[1]);
}

/* Measures a pair with that many keys. */
static void formats_size(const formats_pair *pair, const bench_plan *plan,
                         uint64_t keys, bool first)
{
    char own[FORMATS_SPEC] = "";
    formats_filters f = { { NULL, NULL } };
    bool groups = formats_is(pair->format, "clubcard");
    bench_case of = { .subject = pair->format, .keys = keys,
                      .rate = pair->rate > 0 ? pair->rate : 0.01 };
    bly_spec want = { .capacity = keys, .rate = of.rate };
    formats_keys all = formats_from(0, keys, groups);
    bly_status status = formats_build(&f.filter[0], pair->format, &want, &all);
    if (status == BLY_ETOOBIG || status == BLY_EUNSUPPORTED) {
        formats_drop(&all);
        return;
    }
    if (status < 0)
        bench_stop(pair->format, bly_why());
    formats_own(own, pair, f.filter[0]);
    if (formats_build(&f.filter[1], own, &want, &all) < 0)
        bench_stop(own, bly_why());
    formats_drop(&all);
    formats_questions q = formats_ask(keys, groups);
    for (size_t round = 0; round < plan->rounds; round++)
        formats_sample(&of, &f, &q, round);
    if (first)
        formats_empty(&of, (const char *const[]){ pair->format, own }, &q,
                      plan->rounds);
    bly_free(f.filter[0]);
    bly_free(f.filter[1]);
    formats_drop(&q.keys[0]);
    formats_drop(&q.keys[1]);
}

/* ---- The table ----------------------------------------------------------- */

static void formats_cells(const bench_case *of, const char *what)
{
    char name[2][24];
    for (size_t side = 0; side < 2; side++)
        snprintf(name[side], sizeof name[side], "%s %s", formats_sides[side],
                 what);
    const bench_series *theirs = table_find(of->subject, of->keys, of->rate,
                                            name[0]);
    const bench_series *own = table_find(of->subject, of->keys, of->rate,
                                         name[1]);
    if (theirs == NULL)
        printf("%8s%7s%6s", "-", "-", "-");
    else
        printf("%8.1f%7.1f%6.2f", table_median(theirs), table_median(own),
               table_ratio(theirs, own));
}

static void formats_row(const formats_pair *pair, uint64_t keys)
{
    bench_case of = { .subject = pair->format, .keys = keys,
                      .rate = pair->rate > 0 ? pair->rate : 0.01 };
    if (table_find(of.subject, keys, of.rate, "own absent") == NULL)
        return;
    printf("%-22.21s%-9.*s%6.0e", pair->format, (int)strcspn(pair->own, ":"),
           pair->own, (double)keys);
    formats_cells(&of, "present");
    formats_cells(&of, "absent");
    formats_cells(&of, "empty");
    printf("\n");
}

/* The number of keys that a pair has where the plan has so many; 0: none. */
static uint64_t formats_keys_of(const formats_pair *pair, uint64_t keys,
                                bool first)
{
    return pair->most == 0 || keys <= pair->most ? keys
         : first ? pair->most : 0;
}

void formats_measure(const bench_plan *plan)
{
    printf("Formats beside our kinds, ns a key, in batches, medians of %zu "
           "rounds\n\n%37s%21s%21s%21s\n%-22s%-9s%6s", plan->rounds, "",
           "present", "absent", "empty", "format", "ours", "keys");
    for (size_t i = 0; i < 3; i++)
        printf("%8s%7s%6s", "format", "ours", "ratio");
    printf("\n");
    for (size_t p = 0; p < FORMATS_PAIRS; p++) {
        const formats_pair *pair = &formats_pairs[p];
        bool wanted = false;
        for (size_t i = 0; i < plan->kind_count; i++)
            wanted |= formats_is(pair->format, plan->kinds[i]);
        for (size_t k = 0; wanted && k < plan->key_count; k++) {
            uint64_t keys = formats_keys_of(pair, plan->keys[k], k == 0);
            if (keys == 0)
                continue;
            formats_size(pair, plan, keys, k == 0);
            formats_row(pair, keys);
        }
    }
}
