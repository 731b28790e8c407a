/* fan.c - how full a cuckoo filter gets, and the rate from which it is smaller
 * [Fan et al. 2014].
 *
 * See lab.h and essay.html beside this file.
 */
#include "lab.h"

#include <stdlib.h>
#include <string.h>

enum { FAN_FILTERS = 50, FAN_SLOTS = 8 };  /* slots available to a key */

/* ---- Load -------------------------------------------------------------- */

/* Returns the mean of shares, which cannot exceed 1. */
static lab_measure fan_mean(const double *share, size_t n)
{
    lab_measure m = lab_mean(share, n);
    return (lab_measure){ m.value, fmax(0, m.low), fmin(1, m.high) };
}

/* Returns the share of slots in use when a key first finds no room. */
static double fan_full(uint64_t series, uint64_t capacity, unsigned bits)
{
    bly_filter *f = lab_new(capacity, 0, "cuckoo:f=%u", bits);
    bly_info_t stat;
    for (uint64_t i = 0; bly_add_hash(f, lab_key(series, i)) >= 0; i++)
        continue;
    bly_info(&stat, f);
    bly_free(f);
    return stat.fill;
}

static void fan_loads(lab *l)
{
    lab_figure(l, "load", "keys,f,load,low,high");
    size_t filters = lab_pick(l, 2, 10, FAN_FILTERS);
    uint64_t most = lab_pick(l, 1000, 300000, 3000000);
    lab_measure least = { 1, 1, 1 };
    for (unsigned bits = 6; bits <= 16; bits += 5)
        for (uint64_t n = 100; n <= most; n *= 3) {
            double load[FAN_FILTERS];
            for (size_t i = 0; i < filters; i++)
                load[i] = fan_full(i, n, bits);
            lab_measure m = fan_mean(load, filters);
            lab_row(l, "%.0f,%u,%.5g,%.5g,%.5g", (double)n, bits, m.value,
                    m.low, m.high);
            if (n >= 1000 && m.low < least.low)
                least = m;
        }
    lab_says(l, "buckets of four slots can be filled to 95 %",
             least.low >= 0.95, "first key without room at %.4f (%.4f … %.4f) "
             "in the worst case of a thousand keys or more", least.value,
             least.low, least.high);
}

/* ---- Buckets of other sizes -------------------------------------------- */

enum { FAN_KICKS = 500, FAN_LONGEST = 20, FAN_SIZES = 4, FAN_TABLES = 100 };

/* Series of keys in no filter: for walks, and for the other bucket. */
enum { FAN_WALK = 1 << 20, FAN_OTHER = 1 << 21 };

/* The paper's table, with buckets of any size; their number is a power of
 * two. */
typedef struct {
    uint32_t *slot;             /* fingerprints; 0 is a free slot */
    uint64_t  buckets, walk, steps;
    unsigned  size, bits;
} fan_simulated;

static bool fan_settles(fan_simulated *t, uint64_t bucket, uint32_t print)
{
    uint32_t *slot = t->slot + bucket * t->size;
    for (unsigned i = 0; i < t->size; i++)
        if (slot[i] == 0) {
            slot[i] = print;
            return true;
        }
    return false;
}

static uint64_t fan_other(const fan_simulated *t, uint64_t bucket,
                          uint32_t print)
{
    return (bucket ^ lab_key(FAN_OTHER, print)) & (t->buckets - 1);
}

/* A key takes a free slot of its two buckets, or that of a random resident,
 * which moves to its own other bucket, and so on. */
static bool fan_inserts(fan_simulated *t, uint64_t key)
{
    uint64_t bucket = key & (t->buckets - 1);
    uint32_t print = 1 + (uint32_t)((key >> 32)
                                    * ((UINT64_C(1) << t->bits) - 1) >> 32);
    uint64_t other = fan_other(t, bucket, print);
    if (fan_settles(t, bucket, print) || fan_settles(t, other, print))
        return true;
    if (lab_key(t->walk, t->steps++) % 2 == 0)
        bucket = other;
    for (unsigned i = 0; i < FAN_KICKS; i++) {
        uint64_t turn = lab_key(t->walk, t->steps++) % t->size;
        uint32_t *slot = t->slot + bucket * t->size + turn, out = *slot;
        *slot = print;
        print = out;
        bucket = fan_other(t, bucket, print);
        if (fan_settles(t, bucket, print))
            return true;
    }
    return false;
}

/* Returns the load of such tables when a key first finds no room. */
static lab_measure fan_simulate(uint64_t slots, unsigned size, unsigned bits,
                                size_t tables)
{
    double load[FAN_TABLES];
    fan_simulated t = { .slot = lab_allocate(slots * sizeof *t.slot),
                        .buckets = slots / size, .size = size, .bits = bits };
    for (size_t i = 0; i < tables; i++) {
        uint64_t keys = 0;
        memset(t.slot, 0, slots * sizeof *t.slot);
        t.walk = FAN_WALK + i;
        while (fan_inserts(&t, lab_key(i, keys)))
            keys++;
        load[i] = (double)keys / (double)slots;
    }
    free(t.slot);
    return fan_mean(load, tables);
}

static const struct { unsigned size; double reported; }
fan_sizes[FAN_SIZES] = { { 1, 0.50 }, { 2, 0.84 }, { 4, 0.95 }, { 8, 0.98 } };

/* Adds a row for each fingerprint length with this bucket size, and a claim
 * about the longest, whose load goes to `last`. Returns the smallest length
 * that reaches 99 % of it. */
static unsigned fan_bucket(lab *l, unsigned size, double reported,
                           lab_measure *last)
{
    size_t tables = lab_pick(l, 2, 30, FAN_TABLES);
    uint64_t slots = lab_pick(l, 1 << 10, 1 << 16, 1 << 18);
    lab_measure all[FAN_LONGEST + 1];
    for (unsigned f = 1; f <= FAN_LONGEST; f++) {
        all[f] = fan_simulate(slots, size, f, tables);
        lab_row(l, "%u,%u,%.5g,%.5g,%.5g,0", size, f, all[f].value, all[f].low,
                all[f].high);
    }
    *last = all[FAN_LONGEST];
    char what[96];
    snprintf(what, sizeof what, "buckets of %u: %.0f %% of the slots can be "
             "used", size, reported * 100);
    lab_says(l, what, last->low >= reported - 0.005, "first key without room "
             "at %.4f (%.4f … %.4f), to be no less when rounded to per cents",
             last->value, last->low, last->high);
    unsigned least = FAN_LONGEST;
    while (least > 1 && all[least - 1].value >= 0.99 * last->value)
        least--;
    return least;
}

/* Measures our kind with about as many slots. Returns the lowest load. */
static lab_measure fan_ours(lab *l)
{
    size_t filters = lab_pick(l, 2, 10, FAN_FILTERS);
    uint64_t keys = lab_pick(l, 900, 61000, 247000);
    lab_measure least = { 1, 1, 1 };
    for (unsigned f = 6; f <= FAN_LONGEST; f++) {
        double load[FAN_FILTERS];
        for (size_t i = 0; i < filters; i++)
            load[i] = fan_full(i, keys, f);
        lab_measure m = fan_mean(load, filters);
        lab_row(l, "4,%u,%.5g,%.5g,%.5g,1", f, m.value, m.low, m.high);
        if (m.low < least.low)
            least = m;
    }
    return least;
}

static void fan_buckets(lab *l)
{
    unsigned bits[FAN_SIZES];
    lab_measure load[FAN_SIZES];
    bool falls = true;
    lab_figure(l, "buckets", "bucket,f,load,low,high,ours");
    for (size_t i = 0; i < FAN_SIZES; i++) {
        bits[i] = fan_bucket(l, fan_sizes[i].size, fan_sizes[i].reported,
                             &load[i]);
        falls = falls && (i == 0 || bits[i] < bits[i - 1]);
    }
    lab_says(l, "the larger the buckets, the shorter the fingerprints that do",
             falls, "99 %% of the load with %d bits is reached from %u, %u, "
             "%u, %u bits on in buckets of 1, 2, 4, 8", FAN_LONGEST, bits[0],
             bits[1], bits[2], bits[3]);
    lab_measure ours = fan_ours(l), walk = load[2];
    lab_says(l, "ours: our kind fills buckets of 4 further than the paper's "
                "walk does", ours.low > walk.high, "%.4f (%.4f … %.4f) for the "
             "worst f of 6 to %d, the walk %.4f (%.4f … %.4f)", ours.value,
             ours.low, ours.high, FAN_LONGEST, walk.value, walk.low, walk.high);
}

/* ---- Rates ------------------------------------------------------------- */

/* Returns a filter's rate at this load; half full, it tells the number of
 * slots. */
static double fan_rate(lab *l, unsigned bits, double load, uint64_t series)
{
    uint64_t half = lab_pick(l, 500, 100000, 500000);
    uint64_t asked = lab_pick(l, 1000, 500000, 5000000);
    bly_filter *f = lab_new(2 * half, 0, "cuckoo:f=%u", bits);
    bly_info_t stat;
    lab_fill(f, 2 * series, 0, half);
    bly_info(&stat, f);
    lab_fill(f, 2 * series, half,
             (uint64_t)((double)half * (load / stat.fill - 1)));
    double rate = (double)lab_hits(f, 2 * series + 1, asked) / (double)asked;
    bly_free(f);
    return rate;
}

/* `reported` is 0 if the literature gives no number. */
static const struct { unsigned bits; double load, reported, within; }
fan_table[] = {
    { 6, 0.95, 0, 0 },  { 8, 0.90, 2.824e-2, 5e-6 }, { 8, 0.95, 0, 0 },
    { 10, 0.95, 0, 0 }, { 12, 0.95, 1.856e-3, 5e-7 }, { 14, 0.95, 0, 0 },
};
enum { FAN_ROWS = sizeof fan_table / sizeof *fan_table };

/* Returns the chance that one of that many fingerprints, of `values`,
 * matches. */
static double fan_chance(double fingerprints, double values)
{
    return -expm1(fingerprints * log1p(-1 / values));
}

static void fan_rates(lab *l)
{
    size_t filters = lab_pick(l, 2, 8, 20);
    double highest = 0;
    lab_figure(l, "rate", "f,load,rate,low,high,expected,bound");
    for (size_t i = 0; i < FAN_ROWS; i++) {
        double rate[FAN_FILTERS], load = fan_table[i].load;
        unsigned bits = fan_table[i].bits;
        for (size_t j = 0; j < filters; j++)
            rate[j] = fan_rate(l, bits, load, j);
        lab_measure r = lab_shares(rate, filters,
                                   lab_pick(l, 1000, 500000, 5000000));
        double bound = fan_chance(FAN_SLOTS, ldexp(1, (int)bits));
        highest = fmax(highest, r.low / bound);
        lab_row(l, "%u,%g,%.5g,%.5g,%.5g,%.5g,%.5g", bits, load, r.value,
                r.low, r.high,
                fan_chance(FAN_SLOTS * load, ldexp(1, (int)bits) - 1), bound);
        char what[96];
        snprintf(what, sizeof what, "rate of fingerprints of %u bits with "
                 "%.2f of the slots in use", bits, load);
        if (fan_table[i].reported > 0)
            lab_number(l, what, fan_table[i].reported, fan_table[i].within, r);
    }
    lab_says(l, "the rate is below 1 - (1 - 1/2^f)^8, that of eight full slots",
             highest <= 1, "at most %.3f of it (beginning of the interval), "
             "for all f", highest);
}

/* ---- Space ------------------------------------------------------------- */

static double fan_bits(const char *kind, double rate)
{
    bly_plan_t plan;
    bly_spec spec = { .capacity = 10000000, .rate = rate };
    if (bly_plan(&plan, kind, &spec) < 0)
        lab_stop(kind, bly_why());
    return plan.bits_per_key;
}

/* Returns the rate, in steps of a hundredth, below which a kind always takes
 * fewer bits than a Bloom filter. */
static double fan_smaller_from(const char *kind)
{
    double rate = 1e-5;
    while (rate < 0.5 && fan_bits(kind, rate) < fan_bits("standard", rate))
        rate *= 1.01;
    return rate;
}

/* "Takes less space than a Bloom filter" is claimed for the optimal replacement
 * [Pagh, Pagh & Rao 2005], whose practical forms are `quotient` and `golomb`,
 * and for cuckoo filters. */
static void fan_replacements(lab *l)
{
    double quotient = fan_smaller_from("quotient");
    double golomb = fan_smaller_from("golomb");
    double cuckoo = fan_smaller_from("cuckoo:sorted=yes");
    lab_says(l, "replacements of the Bloom filter take less space (Pagh, Pagh "
                "& Rao 2005; Fan et al.), at any rate", quotient >= 0.5
             && cuckoo >= 0.5, "quotient from %.2g %% down, cuckoo with sorted "
             "buckets from %.2g %%", 100 * quotient, 100 * cuckoo);
    lab_says(l, "ours: golomb does from higher rates on than those",
             golomb > quotient && golomb > cuckoo, "from %.2g %% down",
             100 * golomb);
}

static void fan_space(lab *l)
{
    lab_figure(l, "space", "rate,standard,cuckoo,cuckoo sorted,limit");
    double first = 0, always = 1;
    for (double rate = 0.1; rate > 1e-5; rate /= 1.02) {
        double standard = fan_bits("standard", rate);
        double sorted = fan_bits("cuckoo:sorted=yes", rate);
        lab_row(l, "%.6g,%.5g,%.5g,%.5g,%.5g", rate, standard,
                fan_bits("cuckoo", rate), sorted, log2(1 / rate));
        if (sorted < standard)
            first = fmax(first, rate);
        else
            always = rate;
    }
    double at = 0.0299;
    lab_says(l, "with sorted fingerprints it is smaller than a Bloom filter "
                "for rates below 3 %", always > 0.029,
             "smaller for some rates from %.2f %% down, for all below %.2f %%; "
             "at %.2f %% it takes %.3f bits a key, a Bloom filter %.3f",
             first * 100, always * 100, at * 100,
             fan_bits("cuckoo:sorted=yes", at), fan_bits("standard", at));
    fan_replacements(l);
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    fan_loads(&l);
    fan_buckets(&l);
    fan_rates(&l);
    fan_space(&l);
    return lab_close(&l);
}
