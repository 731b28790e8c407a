/* proof.c - demonstrates two claims by counting: no false negatives, and the
 * promised rate.
 *
 *      proof memberships [KEYS [ROUNDS [FIRST]]]
 *                                 every key of filters of KEYS keys (default
 *                                 2 million) in each kind is asked for after
 *                                 a save, a read, a map, a wrap, a unite and
 *                                 an intersect; prints how many answers were
 *                                 checked and how many were wrong. Each round,
 *                                 from number FIRST (0) on, has other keys and
 *                                 another seed. A kind that ends at fewer keys
 *                                 has so many, and one that may forget them
 *                                 none
 *      proof rates [MAX [MIN [KIND]]]
 *                                 the measured rate of every kind (or of one)
 *                                 at 10 %, 1 %, 0.1 % and 0.01 %, for 100,
 *                                 10^4, 10^6, 10^8 keys (MIN to MAX, default
 *                                 100 to 10^6), with
 *                                 sequential, random and word keys; z is the
 *                                 distance from the plan in standard
 *                                 deviations and must stay within 5
 *
 * Exit status 1 if a claim fails.
 */
#include <bloomery.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROOF_BATCH = 4096, PROOF_KEY = 256 };

static void proof_stop(const char *doing)
{
    fprintf(stderr, "proof: %s: %s\n", doing, bly_why());
    exit(2);
}

static void proof_must(bly_status status, const char *doing)
{
    if (status < 0)
        proof_stop(doing);
}

static void *proof_allocate(size_t bytes)
{
    void *memory = malloc(bytes);
    if (memory == NULL) {
        fputs("proof: out of memory\n", stderr);
        exit(2);
    }
    return memory;
}

/* ---- Keys -------------------------------------------------------------- */

static char  *proof_text;               /* the word list, NUL for newline    */
static char **proof_words;
static size_t proof_word_count;

static void proof_read_words(void)
{
    const char *path = "/usr/share/dict/american-english";
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        fprintf(stderr, "proof: %s is missing: install the package wamerican\n",
                path);
        exit(2);
    }
    const size_t room = 8 << 20;
    proof_text = proof_allocate(room);
    size_t bytes = fread(proof_text, 1, room - 1, file);
    fclose(file);
    proof_text[bytes] = '\0';
    proof_words = proof_allocate(bytes * sizeof *proof_words);
    for (char *w = strtok(proof_text, "\n"); w != NULL; w = strtok(NULL, "\n"))
        proof_words[proof_word_count++] = w;
}

static uint64_t proof_mix(uint64_t v)
{
    v = (v ^ v >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    v = (v ^ v >> 27) * UINT64_C(0x94D049BB133111EB);
    return v ^ v >> 31;
}

/* Writes key i, different for different i; returns its length. */
typedef size_t proof_key(char *out, uint64_t i);

static size_t proof_sequential(char *out, uint64_t i)
{
    memcpy(out, &i, sizeof i);
    return sizeof i;
}

static size_t proof_random(char *out, uint64_t i)
{
    i = proof_mix(i + 1);
    memcpy(out, &i, sizeof i);
    return sizeof i;
}

/* A word, then pairs of words: as many keys as needed. */
static size_t proof_word(char *out, uint64_t i)
{
    const char *first = proof_words[i % proof_word_count];
    const char *second = proof_words[i / proof_word_count % proof_word_count];
    int length = i < proof_word_count
               ? snprintf(out, PROOF_KEY, "%s", first)
               : snprintf(out, PROOF_KEY, "%s-%s", first, second);
    return (size_t)length;
}

static const struct { const char *name; proof_key *make; } proof_keys[] = {
    { "sequential", proof_sequential },
    { "random", proof_random },
    { "words", proof_word },
};

/* Computes the hashes of keys i … i + n-1. */
static void proof_hashes(uint64_t *out, const bly_filter *filter,
                         proof_key *make, uint64_t i, size_t n)
{
    char key[PROOF_KEY];
    for (size_t j = 0; j < n; j++)
        out[j] = bly_hash(filter, key, make(key, i + j));
}

static void proof_add(bly_filter *filter, proof_key *make, uint64_t from,
                      uint64_t n)
{
    uint64_t hashes[PROOF_BATCH];
    for (uint64_t i = 0; i < n; i += PROOF_BATCH) {
        size_t batch = n - i < PROOF_BATCH ? (size_t)(n - i) : PROOF_BATCH;
        proof_hashes(hashes, filter, make, from + i, batch);
        proof_must(bly_add_hashes(filter, hashes, batch, NULL, NULL), "add");
    }
}

static bool proof_can(const char *kind, uint64_t ability)
{
    return (bly_kind_find(kind)->can & ability) != 0;
}

/* Builds a filter from all keys at once, taking the hashes from a small filter
 * of another kind. */
static bly_filter *proof_build(const char *kind, const bly_spec *want,
                               proof_key *make, uint64_t from, uint64_t n)
{
    bly_spec any = { .capacity = 1, .seed = want->seed };
    uint64_t *hashes = proof_allocate(n * sizeof *hashes);
    bly_filter *hasher, *filter;
    proof_must(bly_new(&hasher, "standard", &any), "new");
    proof_hashes(hashes, hasher, make, from, n);
    proof_must(bly_build(&filter, kind, want,
                         &(bly_keys){ .n = n, .hashes = hashes }), "build");
    bly_free(hasher);
    free(hashes);
    return filter;
}

/* Returns a filter of n keys. */
static bly_filter *proof_of(const char *kind, const bly_spec *want,
                            proof_key *make, uint64_t from, uint64_t n)
{
    if (!proof_can(kind, BLY_CAN_ADD))
        return proof_build(kind, want, make, from, n);
    bly_filter *filter;
    proof_must(bly_new(&filter, kind, want), "new");
    proof_add(filter, make, from, n);
    return filter;
}

/* Counts the keys, of n, that are reported present. */
static uint64_t proof_count(const bly_filter *filter, proof_key *make,
                            uint64_t from, uint64_t n)
{
    uint64_t hashes[PROOF_BATCH], present = 0;
    bool answers[PROOF_BATCH];
    for (uint64_t i = 0; i < n; i += PROOF_BATCH) {
        size_t batch = n - i < PROOF_BATCH ? (size_t)(n - i) : PROOF_BATCH;
        proof_hashes(hashes, filter, make, from + i, batch);
        bly_contains_hashes(filter, hashes, batch, answers);
        for (size_t j = 0; j < batch; j++)
            present += answers[j];
    }
    return present;
}

/* ---- Memberships ------------------------------------------------------- */

static uint64_t proof_asked, proof_wrong;

/* Queries in batches and singly. */
static void proof_all_there(const bly_filter *filter, uint64_t from,
                            uint64_t n)
{
    uint64_t hashes[PROOF_BATCH], alone = 0;
    for (uint64_t i = 0; i < n; i += PROOF_BATCH) {
        size_t batch = n - i < PROOF_BATCH ? (size_t)(n - i) : PROOF_BATCH;
        proof_hashes(hashes, filter, proof_random, from + i, batch);
        for (size_t j = 0; j < batch; j++)
            alone += bly_contains_hash(filter, hashes[j]);
    }
    proof_asked += 2 * n;
    proof_wrong += n - proof_count(filter, proof_random, from, n) + n - alone;
}

static void proof_reopened(const char *path, int flags, uint64_t from,
                           uint64_t n)
{
    bly_filter *filter;
    proof_must(bly_open(&filter, path, flags, NULL), "open");
    proof_all_there(filter, from, n);
    bly_free(filter);
}

static void proof_wrapped(const bly_filter *filter, uint64_t from, uint64_t n)
{
    size_t bytes;
    const void *image = bly_image(filter, &bytes);
    bly_filter *borrowed;
    proof_must(bly_wrap(&borrowed, image, bytes, NULL), "wrap");
    proof_all_there(borrowed, from, n);
    bly_free(borrowed);
}

/* Unites the other filter with the file, unless it is packed and cannot be
 * changed in place. (A counting kind then has the keys of both twice, and may
 * be full.) */
static void proof_united(const char *kind, const char *path,
                         const bly_filter *other, uint64_t first, uint64_t n)
{
    bly_filter *both;
    bool packs = proof_can(kind, BLY_CAN_PACK);
    proof_must(bly_open(&both, path, packs ? 0 : BLY_MAP | BLY_WRITE, NULL),
               "open");
    bly_status status = bly_unite(both, other);
    if (status != BLY_EFULL)
        proof_must(status, "unite");
    uint64_t there = status != BLY_EFULL ? n + n / 2 : n;
    proof_all_there(both, first, there);
    if (packs)
        proof_must(bly_save(both, path), "save");
    bly_free(both);
    proof_reopened(path, BLY_MAP | BLY_VERIFY, first, there);
}

/* Puts keys first … first+n-1 into one filter, the upper half and n more into
 * the other. */
static void proof_members_of(const char *kind, const bly_spec *want,
                             const char *path, uint64_t first, uint64_t n)
{
    bly_filter *a = proof_of(kind, want, proof_random, first, n);
    proof_all_there(a, first, n);

    proof_must(bly_save(a, path), "save");
    proof_reopened(path, 0, first, n);
    proof_reopened(path, BLY_MAP, first, n);
    proof_wrapped(a, first, n);

    bly_filter *b = proof_of(kind, want, proof_random, first + n / 2, n);
    bly_filter *both;
    if (proof_can(kind, BLY_CAN_INTERSECT)) {
        proof_must(bly_copy(&both, a, NULL), "copy");
        proof_must(bly_intersect(both, b), "intersect");
        proof_all_there(both, first + n / 2, n - n / 2);
        bly_free(both);
    }
    if (proof_can(kind, BLY_CAN_UNITE))
        proof_united(kind, path, b, first, n);
    bly_free(a);
    bly_free(b);
}

/* Returns half again as many keys as n, or as many as the kind supports; 0 if
 * it may forget some of n. */
static uint64_t proof_capacity(const char *kind, uint64_t n, uint64_t seed)
{
    bly_spec want = { .capacity = n + n / 2, .rate = 0.01, .seed = seed };
    bly_plan_t plan;
    while (bly_plan(&plan, kind, &want) == BLY_ETOOBIG && want.capacity > 1)
        want.capacity /= 2;
    proof_must(bly_plan(&plan, kind, &want), "plan");
    return plan.window < want.capacity ? 0 : want.capacity;
}

static void proof_round(const char *path, uint64_t n, uint64_t round)
{
    size_t count;
    const bly_kind_info *const *kinds = bly_kinds(&count);
    for (size_t i = 0; i < count; i++) {
        uint64_t before = proof_asked;
        bly_spec want = { .rate = 0.01, .seed = round };
        want.capacity = proof_capacity(kinds[i]->name, n, round);
        if (want.capacity > 0)
            proof_members_of(kinds[i]->name, &want, path, round << 40,
                             want.capacity - want.capacity / 3);
        if (round == 0)                 /* all later rounds are alike */
            printf("%-12s %12" PRIu64 " memberships checked in a round\n",
                   kinds[i]->name, proof_asked - before);
    }
}

static int proof_memberships(uint64_t n, uint64_t rounds, uint64_t first)
{
    char path[64];
    snprintf(path, sizeof path, "proof-%ld.bly", (long)getpid());
    for (uint64_t round = first; round < first + rounds; round++)
        proof_round(path, n, round);
    unlink(path);
    printf("%" PRIu64 " memberships checked, %" PRIu64 " false negatives\n",
           proof_asked, proof_wrong);
    return proof_wrong != 0;
}

/* ---- Rates ------------------------------------------------------------- */

/* Prints a line of the table, from several filters of n keys; returns its z. */
static double proof_rate_of(const char *kind, double rate, uint64_t n,
                            size_t keys)
{
    uint64_t filters = n < 1000 ? 500 : n < 100000 ? 40 : n < 10000000 ? 4 : 1;
    uint64_t asked = n < 1000 ? 20000 : n < 10000000 ? 2000000 : 20000000;
    uint64_t hits = 0, lost = 0;
    bly_spec want = { .capacity = n, .rate = rate };
    bly_plan_t plan;
    proof_must(bly_plan(&plan, kind, &want), "plan");

    for (uint64_t i = 0; i < filters; i++) {
        want.seed = i;
        bly_filter *filter = proof_of(kind, &want, proof_keys[keys].make, 0,
                                      n);
        lost += n < 10000000
              ? n - proof_count(filter, proof_keys[keys].make, 0, n) : 0;
        hits += proof_count(filter, proof_keys[keys].make, n, asked);
        bly_free(filter);
    }
    double total = (double)(asked * filters), measured = (double)hits / total;
    double sd = sqrt(plan.rate * (1 - plan.rate) / total
                     + plan.rate_sd * plan.rate_sd / (double)filters);
    double z = (measured - plan.rate) / sd;
    printf("%-12s %-11s %10" PRIu64 " %9g %11.4e %11.4e %8.4f %8.4f %7.2f\n",
           kind, proof_keys[keys].name, n, rate, plan.rate, measured,
           plan.rate / rate, measured / rate, z);
    fflush(stdout);
    return lost == 0 && plan.rate <= rate ? z : (double)INFINITY;
}

static int proof_rates(uint64_t least, uint64_t most, const char *only)
{
    static const double rates[] = { 0.1, 0.01, 0.001, 0.0001 };
    size_t count, wrong = 0, lines = 0;
    const bly_kind_info *const *kinds = bly_kinds(&count);

    printf("%-12s %-11s %10s %9s %11s %11s %8s %8s %7s\n", "kind", "keys", "n",
           "asked", "planned", "measured", "plan/ask", "meas/ask", "z");
    for (uint64_t n = 100; n <= most; n *= 100)
        for (size_t k = 0; n >= least && k < count; k++) {
            if (only != NULL && strcmp(only, kinds[k]->name) != 0)
                continue;
            for (size_t r = 0; r < sizeof rates / sizeof *rates; r++)
                for (size_t t = 0; t < 3; t++, lines++)
                    wrong += !(fabs(proof_rate_of(kinds[k]->name, rates[r], n,
                                                  t)) <= 5);
        }
    printf("%zu rates measured, %zu outside five sigma\n", lines, wrong);
    return wrong != 0;
}

int main(int argc, char **argv)
{
    uint64_t number = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    proof_read_words();
    if (argc > 1 && strcmp(argv[1], "memberships") == 0)
        return proof_memberships(number != 0 ? number : 2000000,
                                 argc > 3 ? strtoull(argv[3], NULL, 10) : 1,
                                 argc > 4 ? strtoull(argv[4], NULL, 10) : 0);
    if (argc > 1 && strcmp(argv[1], "rates") == 0)
        return proof_rates(argc > 3 ? strtoull(argv[3], NULL, 10) : 0,
                           number != 0 ? number : 1000000,
                           argc > 4 ? argv[4] : NULL);
    fputs("usage: proof memberships [KEYS [ROUNDS [FIRST]]]\n"
          "       proof rates [MAX [MIN [KIND]]]\n", stderr);
    return 2;
}
