/* fan.c - how full a cuckoo filter can get, and from which rate on it is the
 * smaller one [Fan et al. 2014].
 *
 * Floor 7: a program of the lab; see lab.h and essay.html beside this file.
 */
#include "lab.h"

enum { FAN_FILTERS = 50, FAN_SLOTS = 8 };  /* slots that a key may be in */

/* The mean of shares: there is no more than all. */
static lab_measure fan_mean(const double *share, size_t n)
{
    lab_measure m = lab_mean(share, n);
    return (lab_measure){ m.value, fmax(0, m.low), fmin(1, m.high) };
}

/* The share of slots in use when a key first finds no room. */
static double fan_full(uint64_t series, uint64_t capacity, unsigned bits)
{
    bly_filter *f = lab_new(capacity, 0, "cuckoo:f=%u", bits);
    bly_stat_t stat;
    for (uint64_t i = 0; bly_add_hash(f, lab_key(series, i)) >= 0; i++)
        continue;
    bly_stat(&stat, f);
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

/* The rate of one filter when so much of its slots is in use: half full it
 * tells how many slots there are. */
static double fan_rate(lab *l, unsigned bits, double load, uint64_t series)
{
    uint64_t half = lab_pick(l, 500, 100000, 500000);
    uint64_t asked = lab_pick(l, 1000, 500000, 5000000);
    bly_filter *f = lab_new(2 * half, 0, "cuckoo:f=%u", bits);
    bly_stat_t stat;
    lab_fill(f, 2 * series, 0, half);
    bly_stat(&stat, f);
    lab_fill(f, 2 * series, half,
             (uint64_t)((double)half * (load / stat.fill - 1)));
    double rate = (double)lab_hits(f, 2 * series + 1, asked) / (double)asked;
    bly_free(f);
    return rate;
}

/* `reported` is 0 for what the literature has no number for. */
static const struct { unsigned bits; double load, reported, within; }
fan_table[] = {
    { 6, 0.95, 0, 0 },  { 8, 0.90, 2.824e-2, 5e-6 }, { 8, 0.95, 0, 0 },
    { 10, 0.95, 0, 0 }, { 12, 0.95, 1.856e-3, 5e-7 }, { 14, 0.95, 0, 0 },
};
enum { FAN_ROWS = sizeof fan_table / sizeof *fan_table };

/* The chance that one of so many fingerprints, of `values`, is the one. */
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

static double fan_bits(const char *kind, double rate)
{
    bly_plan_t plan;
    bly_spec spec = { .capacity = 10000000, .rate = rate };
    if (bly_plan(&plan, kind, &spec) < 0)
        lab_stop(kind, bly_why());
    return plan.bits_per_key;
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
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    fan_loads(&l);
    fan_rates(&l);
    fan_space(&l);
    return lab_close(&l);
}
