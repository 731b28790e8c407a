/* putze.c - one cache line per key: its cost in rate and its gain in time; and
 * the smallest filter with removal [Putze, Sanders & Singler 2007].
 *
 * See lab.h and essay.html beside this file.
 */
#include "lab.h"

#include <stdlib.h>

enum { PUTZE_KEYS = 1 << 17, PUTZE_ROUNDS = 101, PUTZE_BATCH = 1 << 16,
       PUTZE_IN = 1, PUTZE_OUT = 2 };

/* Bits per key, the best k, and the rate: exact, and with the usual
 * approximation within a line. */
static const struct { unsigned bits, k; double exact, brief; } putze_table[] = {
    { 4, 3, 0.148116, 0.147863 },     { 6, 4, 0.057742, 0.057535 },
    { 8, 5, 0.023263, 0.023121 },     { 10, 7, 9.6860e-3, 9.5712e-3 },
    { 12, 8, 4.1349e-3, 4.0690e-3 },  { 16, 10, 8.4612e-4, 8.2457e-4 },
    { 20, 11, 1.9783e-4, 1.9147e-4 },
};
enum { PUTZE_ROWS = sizeof putze_table / sizeof *putze_table };

/* The extra bits of a blocked filter at equal rate. */
static const struct { double bits, more; } putze_space[] = {
    { 8, 0.020 }, { 10, 0.035 }, { 16, 0.097 }, { 20, 0.157 }, { 24, 0.231 },
};
enum { PUTZE_SPACES = sizeof putze_space / sizeof *putze_space };

/* ---- Rate -------------------------------------------------------------- */

static lab_measure putze_rate(lab *l, const char *kind, unsigned bits,
                              unsigned k)
{
    char text[64];
    snprintf(text, sizeof text, "%s:m=%u,k=%u", kind, bits * PUTZE_KEYS, k);
    return lab_rate(text, 0, PUTZE_KEYS, (unsigned)lab_pick(l, 2, 12, 60),
                    lab_pick(l, 100, 1000000, 10000000));
}

static void putze_rates(lab *l)
{
    lab_figure(l, "rate", "bits a key,k,rate,low,high,short form,standard,"
                          "standard low,standard high,standard formula");
    for (size_t i = 0; i < PUTZE_ROWS; i++) {
        unsigned bits = putze_table[i].bits, k = putze_table[i].k;
        unsigned standard_k = (unsigned)lround(bits * log(2));
        lab_measure rate = putze_rate(l, "blocked", bits, k);
        lab_measure plain = putze_rate(l, "standard", bits, standard_k);
        lab_row(l, "%u,%u,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g", bits, k,
                rate.value, rate.low, rate.high, putze_table[i].brief,
                plain.value, plain.low, plain.high,
                lab_classic(1e6 * bits, 1e6, standard_k));
        char what[96];
        snprintf(what, sizeof what, "rate with %u bits a key, k = %u, lines of "
                 "512 bits", bits, k);
        lab_number(l, what, putze_table[i].exact, 1e-3 * putze_table[i].exact,
                   rate);
    }
}

/* Returns the extra share of bits that a blocked filter takes. */
static double putze_more(double rate)
{
    bly_spec spec = { .capacity = 10000000, .rate = rate };
    bly_plan_t plain, blocked;
    if (bly_plan(&plain, "standard", &spec) < 0
        || bly_plan(&blocked, "blocked", &spec) < 0)
        lab_stop("plan", bly_why());
    return blocked.bits_per_key / plain.bits_per_key - 1;
}

/* An encyclopaedia gives a single number for all rates. */
static void putze_one_number(lab *l)
{
    double rate = 0.01, common = putze_more(0.01), low = putze_more(1e-4);
    while (rate > 1e-9 && putze_more(rate) < 0.32)
        rate /= 1.05;
    lab_says(l, "a blocked filter takes about 32 % more space (Hungarian "
                "encyclopaedia)", common > 0.22,
             "%.1f %% at a rate of 1 %%, %.1f %% at 0.01 %%, and 32 %% at %.1g "
             "only", 100 * common, 100 * low, rate);
}

static void putze_spaces(lab *l)
{
    lab_figure(l, "space", "bits a key,rate,blocked,more,split more");
    for (double bits = 4; bits <= 24; bits += 1) {
        bly_spec spec = { .capacity = 10000000,
                          .rate = pow(0.5, bits * log(2)) };
        bly_plan_t plain, blocked, split;
        if (bly_plan(&plain, "standard", &spec) < 0
            || bly_plan(&blocked, "blocked", &spec) < 0
            || bly_plan(&split, "split", &spec) < 0)
            lab_stop("plan", bly_why());
        double more = blocked.bits_per_key / plain.bits_per_key - 1;
        lab_row(l, "%g,%.6g,%.6g,%.6g,%.6g", bits, spec.rate,
                blocked.bits_per_key, more,
                split.bits_per_key / plain.bits_per_key - 1);
        for (size_t i = 0; i < PUTZE_SPACES; i++) {
            char what[96];
            if (fabs(putze_space[i].bits - bits) > 0.5)
                continue;
            snprintf(what, sizeof what, "share of bits more for the rate of a "
                     "standard filter of %g bits a key", bits);
            lab_size(l, what, putze_space[i].more, 5e-4, more);
        }
    }
    putze_one_number(l);
}

/* ---- The paper's kinds -------------------------------------------------- */

/* Blocks of that many bits, of which a key has `blocks`; k bits in all, each
 * independent, or in `patterns` from a table of `table`. */
typedef struct {
    const char *name;
    unsigned bits, k, blocks, table, patterns;
    double   named;                     /* the rate at 10 bits per key       */
} putze_variant;

static const putze_variant putze_variants[] = {
    { "a line",                512, 6, 1, 0,     0, 9.63e-3 },
    { "two lines",             512, 6, 2, 0,     0, 8.669e-3 },
    { "a word",                64,  5, 1, 0,     0, 1.763e-2 },
    { "a pattern of 64",       64,  5, 1, 64,    1, 0.10767 },
    { "a pattern of 1024",     64,  5, 1, 1024,  1, 0.022798 },
    { "a pattern of 16384",    64,  5, 1, 16384, 1, 0.017233 },
    { "two patterns of 64",    64,  6, 1, 64,    2, 0.07322 },
    { "two patterns of 1024",  64,  6, 1, 1024,  2, 0.020964 },
    { "two patterns of 16384", 64,  6, 1, 16384, 2, 0.018649 },
};
enum { PUTZE_VARIANTS = sizeof putze_variants / sizeof *putze_variants,
       PUTZE_TWO_LINES = 1, PUTZE_WORD = 2, PUTZE_SMALL_TABLE = 3,
       PUTZE_LARGE_TABLE = 5, PUTZE_WORDS = 8, PUTZE_SIMULATED = 100,
       PUTZE_PER_KEY = 10 };

/* A filter: its blocks, in 64-bit words, and the table of words. */
typedef struct {
    const putze_variant *is;
    uint64_t *row, *table, blocks, seed;
} putze_simulated;

/* Returns a word with that many bits set. */
static uint64_t putze_pattern(uint64_t *state, unsigned ones)
{
    uint64_t word = 0;
    for (unsigned set = 0; set < ones; ) {
        uint64_t bit = UINT64_C(1) << bly_mix64((*state)++) % 64;
        set += (word & bit) == 0;
        word |= bit;
    }
    return word;
}

static putze_simulated putze_start(const putze_variant *v, uint64_t n,
                                   uint64_t seed)
{
    putze_simulated s = { .is = v, .seed = seed,
                          .blocks = n * PUTZE_PER_KEY / v->bits };
    size_t words = (size_t)s.blocks * v->bits / 64;
    uint64_t state = lab_key(seed, 1);
    s.row = lab_allocate(words * sizeof *s.row);
    s.table = lab_allocate((v->table + 1) * sizeof *s.table);
    for (size_t i = 0; i < words; i++)
        s.row[i] = 0;
    for (unsigned i = 0; i < v->table; i++)
        s.table[i] = putze_pattern(&state, v->k / v->patterns);
    return s;
}

/* Returns a key's bits in one of its blocks. */
static void putze_mask(uint64_t mask[PUTZE_WORDS], const putze_simulated *s,
                       uint64_t hash)
{
    const putze_variant *v = s->is;
    for (unsigned i = 0; i < PUTZE_WORDS; i++)
        mask[i] = 0;
    for (unsigned i = 0; i < v->patterns; i++)
        mask[0] |= s->table[bly_mix64(hash + i) % v->table];
    for (unsigned i = 0; v->patterns == 0 && i < v->k / v->blocks; i++) {
        uint64_t at = bly_mix64(hash + i) % v->bits;
        mask[at / 64] |= UINT64_C(1) << at % 64;
    }
}

/* Adds a key, or looks it up. */
static bool putze_touch(putze_simulated *s, uint64_t key, bool add)
{
    const putze_variant *v = s->is;
    bool there = true;
    for (unsigned b = 0; b < v->blocks; b++) {
        uint64_t mask[PUTZE_WORDS], hash = bly_mix64(key + b);
        uint64_t *block = s->row + hash % s->blocks * (v->bits / 64);
        putze_mask(mask, s, hash * UINT64_C(0xD1342543DE82EF95));
        for (unsigned i = 0; i < v->bits / 64; i++) {
            there = there && (block[i] & mask[i]) == mask[i];
            block[i] |= add ? mask[i] : 0;
        }
    }
    return there;
}

static lab_measure putze_simulate(lab *l, const putze_variant *v)
{
    double share[PUTZE_SIMULATED];
    size_t filters = lab_pick(l, 2, 20, PUTZE_SIMULATED);
    uint64_t n = lab_pick(l, 1024, 20480, 40960);
    uint64_t asked = lab_pick(l, 100, 50000, 200000);
    for (size_t i = 0; i < filters; i++) {
        putze_simulated s = putze_start(v, n, i);
        uint64_t hits = 0;
        for (uint64_t j = 0; j < n; j++)
            putze_touch(&s, lab_key(2 * i + 2, j), true);
        for (uint64_t j = 0; j < asked; j++)
            hits += putze_touch(&s, lab_key(2 * i + 3, j), false);
        share[i] = (double)hits / (double)asked;
        free(s.row);
        free(s.table);
    }
    return lab_shares(share, filters, asked);
}

static void putze_all_variants(lab *l)
{
    lab_measure rate[PUTZE_VARIANTS];
    lab_figure(l, "variants", "variant,rate,low,high,named");
    for (size_t i = 0; i < PUTZE_VARIANTS; i++) {
        const putze_variant *v = &putze_variants[i];
        char what[96];
        rate[i] = putze_simulate(l, v);
        lab_row(l, "%s,%.5g,%.5g,%.5g,%.5g", v->name, rate[i].value,
                rate[i].low, rate[i].high, v->named);
        snprintf(what, sizeof what, "rate at 10 bits a key, k = %u: %s", v->k,
                 v->name);
        lab_number(l, what, v->named, 0.01 * v->named, rate[i]);
    }
    lab_says(l, "two lines for a key bring the rate nearer to that of a "
                "standard filter", rate[PUTZE_TWO_LINES].high
             < rate[0].low, "%.3f %% against %.3f %% with one",
             100 * rate[PUTZE_TWO_LINES].value, 100 * rate[0].value);
    lab_says(l, "a table of patterns saves computing k positions and costs "
                "little if it is large", rate[PUTZE_LARGE_TABLE].value
             < 1.05 * rate[PUTZE_WORD].value && rate[PUTZE_SMALL_TABLE].value
             > 3 * rate[PUTZE_WORD].value,
             "in words of 64 bits %.2f %% with 16384 patterns (128 KiB), "
             "%.2f %% with 64, and %.2f %% with any",
             100 * rate[PUTZE_LARGE_TABLE].value,
             100 * rate[PUTZE_SMALL_TABLE].value, 100 * rate[PUTZE_WORD].value);
}

/* ---- Time -------------------------------------------------------------- */

typedef struct { lab_measure present, absent; } putze_cost;

/* Draws different keys for each round, as repeated ones would find their lines
 * in the cache whatever the filter's size. Members are spread over the filter's
 * n by a multiplier, a prime. */
static void putze_keys(uint64_t *in, uint64_t *out, uint64_t n, size_t round)
{
    uint64_t from = round * (uint64_t)PUTZE_BATCH;
    for (uint64_t i = 0; i < PUTZE_BATCH; i++)
        in[i] = lab_key(PUTZE_IN, (from + i) * UINT64_C(2654435761) % n);
    lab_keys(out, PUTZE_BATCH, PUTZE_OUT, from);
}

static putze_cost putze_time(lab *l, const char *kind, uint64_t n)
{
    double present[PUTZE_ROUNDS], absent[PUTZE_ROUNDS];
    size_t rounds = lab_pick(l, 1, 31, PUTZE_ROUNDS);
    uint64_t *in = lab_allocate(2 * PUTZE_BATCH * sizeof *in);
    uint64_t *out = in + PUTZE_BATCH;
    bly_filter *f = lab_new(n, 0.01, "%s", kind);
    lab_fill(f, PUTZE_IN, 0, n);
    for (size_t i = 0; i < rounds; i++) {
        putze_keys(in, out, n, i);
        present[i] = lab_look(f, in, PUTZE_BATCH, false);
        absent[i] = lab_look(f, out, PUTZE_BATCH, false);
    }
    bly_free(f);
    free(in);
    return (putze_cost){ lab_median(present, rounds),
                         lab_median(absent, rounds) };
}

static void putze_time_claims(lab *l, putze_cost plain, putze_cost blocked,
                              uint64_t n)
{
    double members = plain.present.value / blocked.present.value;
    double strangers = plain.absent.value / blocked.absent.value;
    lab_says(l, "a member costs one cache miss instead of one for each probe: "
                "out of cache a blocked filter is quicker",
             blocked.present.high < plain.present.low,
             "%.1f (%.1f … %.1f) against %.1f (%.1f … %.1f) ns, %.1f times as "
             "quick, with %.0f million keys", blocked.present.value,
             blocked.present.low, blocked.present.high, plain.present.value,
             plain.present.low, plain.present.high, members, (double)n / 1e6);
    lab_says(l, "a stranger costs about two misses instead of one: quicker, by "
                "less",
             blocked.absent.high < plain.absent.low && strangers < members,
             "%.1f (%.1f … %.1f) against %.1f (%.1f … %.1f) ns, %.1f times as "
             "quick", blocked.absent.value, blocked.absent.low,
             blocked.absent.high, plain.absent.value, plain.absent.low,
             plain.absent.high, strangers);
}

static void putze_times(lab *l)
{
    uint64_t most = lab_pick(l, 10000, 100000000, 316000000), last = 0;
    putze_cost plain = { .present.value = 0 }, blocked = plain;
    lab_figure(l, "time", "keys,standard present,low,high,standard absent,low,"
               "high,blocked present,low,high,blocked absent,low,high");
    for (uint64_t n = most / 3160; n <= most; n = n * 316 / 100) {
        plain = putze_time(l, "standard", n);
        blocked = putze_time(l, "blocked", n);
        last = n;
        lab_row(l, "%.0f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,"
                "%.2f,%.2f", (double)n, plain.present.value, plain.present.low,
                plain.present.high, plain.absent.value, plain.absent.low,
                plain.absent.high, blocked.present.value, blocked.present.low,
                blocked.present.high, blocked.absent.value, blocked.absent.low,
                blocked.absent.high);
    }
    putze_time_claims(l, plain, blocked, last);
}

/* ---- Removable --------------------------------------------------------- */

static const char *const putze_kinds[] = {
    "golomb", "golomb:page=64", "quotient", "cuckoo:sorted=yes", "cuckoo",
    "dleft", "counting", "gcs",
};
enum { PUTZE_KINDS = sizeof putze_kinds / sizeof *putze_kinds,
       PUTZE_GOLOMB = 0, PUTZE_LARGE = 1, PUTZE_FROZEN = PUTZE_KINDS - 1 };

/* Bits per key for 10^7 keys at rates from 10 % to 10^-6, and the excess over
 * the minimum of any filter, log2(1/rate). */
typedef struct {
    double least[PUTZE_KINDS], most[PUTZE_KINDS];
    double saved_least, saved_most;     /* against the next smallest         */
    double frozen_most;                 /* against gcs                       */
} putze_sizes;

static double putze_bits(const char *kind, double rate)
{
    bly_spec spec = { .capacity = 10000000, .rate = rate };
    bly_plan_t plan;
    if (bly_plan(&plan, kind, &spec) < 0)
        lab_stop("plan", bly_why());
    return plan.bits_per_key;
}

static void putze_size_row(lab *l, putze_sizes *s, double rate)
{
    double bits[PUTZE_KINDS], next = INFINITY;
    for (size_t i = 0; i < PUTZE_KINDS; i++) {
        bits[i] = putze_bits(putze_kinds[i], rate);
        double over = bits[i] + log2(rate);
        s->least[i] = fmin(s->least[i], over);
        s->most[i] = fmax(s->most[i], over);
        if (i > PUTZE_LARGE && i < PUTZE_FROZEN)
            next = fmin(next, bits[i]);
    }
    double saved = 1 - bits[PUTZE_GOLOMB] / next;
    s->saved_least = fmin(s->saved_least, saved);
    s->saved_most = fmax(s->saved_most, saved);
    s->frozen_most = fmax(s->frozen_most,
                          bits[PUTZE_LARGE] / bits[PUTZE_FROZEN] - 1);
    lab_row(l, "%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g", rate, bits[0],
            bits[1], bits[2], bits[3], bits[4], bits[5], bits[6], bits[7]);
}

/* Adds the planned number of keys to each of some filters and removes them: the
 * result is an empty filter, byte for byte. */
static bool putze_comes_and_goes(lab *l)
{
    uint64_t n = lab_pick(l, 500, 20000, 200000);
    uint64_t rounds = lab_pick(l, 2, 20, 100);
    bool holds = true;
    for (uint64_t i = 0; i < rounds; i++) {
        bly_filter *f = lab_new(n, 0.01, "golomb");
        bly_info_t stat;
        lab_fill(f, PUTZE_IN, i * n, n);
        for (uint64_t j = n; j-- > 0; )
            holds = holds
                 && bly_remove_hash(f, lab_key(PUTZE_IN, i * n + j)) == BLY_OK;
        bly_info(&stat, f);
        holds = holds && stat.fill <= 0 && stat.distinct <= 0;
        bly_free(f);
    }
    return holds;
}

static void putze_removable(lab *l)
{
    putze_sizes s = { .saved_least = INFINITY, .saved_most = -INFINITY };
    for (size_t i = 0; i < PUTZE_KINDS; i++) {
        s.least[i] = INFINITY;
        s.most[i] = -INFINITY;
    }
    lab_figure(l, "removable", "rate,golomb,golomb of 64 KiB,quotient,cuckoo "
               "sorted,cuckoo,dleft,counting,gcs");
    for (double power = 1; power <= 6; power += 0.125)
        putze_size_row(l, &s, pow(10, -power));
    lab_says(l, "ours: as a counting filter it is the smallest from which keys "
                "can be removed, at any rate", s.saved_least > 0,
             "%.1f to %.1f %% less than the next smallest of quotient, cuckoo, "
             "dleft and counting", 100 * s.saved_least, 100 * s.saved_most);
    lab_says(l, "ours: it takes less than three bits over log2(1/rate), for "
                "rates down to 10^-6", s.most[PUTZE_GOLOMB] < 3,
             "%.2f to %.2f bits, with pages of 64 KiB %.2f to %.2f; quotient "
             "%.2f to %.2f", s.least[PUTZE_GOLOMB], s.most[PUTZE_GOLOMB],
             s.least[PUTZE_LARGE], s.most[PUTZE_LARGE], s.least[2], s.most[2]);
    lab_says(l, "ours: that keys can come and go costs an eighth of the space, "
                "at most", s.frozen_most < 0.125, "at most %.1f %% more than "
             "gcs, which is built once, with pages of 64 KiB",
             100 * s.frozen_most);
    lab_says(l, "supports counting filters with insertion and deletion",
             putze_comes_and_goes(l), "when all keys have gone, filled filters "
             "are empty ones");
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    putze_rates(&l);
    putze_spaces(&l);
    putze_all_variants(&l);
    putze_times(&l);
    putze_removable(&l);
    return lab_close(&l);
}
