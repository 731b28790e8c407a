/* kiss.c - a zone free of false positives [Kiss et al. 2018].
 *
 * See lab.h and essay.html beside this file.
 */
#include "lab.h"

enum { KISS_UNIVERSE = 1000000, KISS_CAPACITY = 10,
       KISS_LARGEST = 157 };

/* Sizes in bits of filters with the first primes. */
static const struct { uint64_t universe; unsigned n; uint64_t bits; }
kiss_table[] = {
    { 1000, 3, 129 },          { 65536, 5, 568 },
    { 1000000, 10, 2584 },     { 1000000, 100, 148827 },
    { UINT64_C(1) << 32, 5, 1720 }, { UINT64_C(1) << 32, 50, 99685 },
};
enum { KISS_ROWS = sizeof kiss_table / sizeof *kiss_table };

enum { KISS_BITS = 2 };         /* index of the number of bits in a plan */

static double kiss_bits(uint64_t universe, uint64_t n, const char *moduli)
{
    char kind[96];
    snprintf(kind, sizeof kind, "egh:universe=%llu,moduli=%s",
             (unsigned long long)universe, moduli);
    bly_plan_t plan;
    bly_spec spec = { .capacity = n };
    if (bly_plan(&plan, kind, &spec) < 0)
        lab_stop(kind, bly_why());
    return (double)plan.geometry[KISS_BITS];
}

static void kiss_sizes(lab *l)
{
    lab_figure(l, "sizes", "keys,primes,powers,limit,bloom");
    double most = 0;
    for (uint64_t n = 1; n <= 100; n += n < 10 ? 1 : 10) {
        double primes = kiss_bits(KISS_UNIVERSE, n, "primes");
        double powers = kiss_bits(KISS_UNIVERSE, n, "powers");
        lab_row(l, "%.0f,%.0f,%.0f,%.1f,%.1f", (double)n, primes, powers,
                lab_choose(KISS_UNIVERSE, (double)n),
                (double)n * log2(KISS_UNIVERSE / 0.01) / log(2));
        most = fmax(most, powers / primes);
    }
    for (size_t i = 0; i < KISS_ROWS; i++) {
        char what[96];
        double bits = kiss_bits(kiss_table[i].universe, kiss_table[i].n,
                                "primes");
        snprintf(what, sizeof what, "bits for %u keys below %llu",
                 kiss_table[i].n, (unsigned long long)kiss_table[i].universe);
        lab_size(l, what, (double)kiss_table[i].bits, 0, bits);
    }
    lab_says(l, "ours: powers of primes take fewer bits than the first primes",
             most <= 1, "at most %.3f times as many", most);
}

/* Counts the strangers in the whole universe that a filter of n keys
 * accepts. */
static uint64_t kiss_wrong(uint64_t series, uint64_t n)
{
    bly_filter *f = lab_new(KISS_CAPACITY, 0,
                            "egh:universe=%d,moduli=primes", KISS_UNIVERSE);
    uint64_t in = 0, yes = 0;
    for (uint64_t i = 0; in < n; i++)
        in += bly_add_hash(f, lab_key(series, i) % KISS_UNIVERSE) == BLY_OK;
    for (uint64_t x = 0; x < KISS_UNIVERSE; x++)
        yes += bly_contains_hash(f, x);
    bly_free(f);
    return yes - in;
}

/* Returns the chance that n random keys cover another: for each prime up to
 * 157, which 10 keys below 10^6 need, one of them has the same remainder. */
static double kiss_expected(double n)
{
    double all = 1;
    for (unsigned p = 2; p <= KISS_LARGEST; p++) {
        bool prime = true;
        for (unsigned d = 2; d * d <= p; d++)
            prime = prime && p % d != 0;
        if (prime)
            all *= -expm1(n * log1p(-1.0 / p));
    }
    return all;
}

static void kiss_rates(lab *l)
{
    /* Entries without a number are for the figure, where the rate is
     * visible. */
    static const struct { uint64_t n; double rate, within; } row[] = {
        { 60, 6.7e-9, 5e-11 }, { 80, 9.5e-7, 5e-9 }, { 100, 2.6e-5, 5e-7 },
        { 130, 0, 0 }, { 160, 0, 0 }, { 200, 0, 0 },
    };
    size_t filters = lab_pick(l, 2, 8, 100);
    lab_figure(l, "beyond", "keys,rate,low,high,expected");
    uint64_t zone = 0;
    for (size_t i = 0; i < filters; i++)
        zone += kiss_wrong(i, KISS_CAPACITY);
    lab_says(l, "up to the capacity nothing is wrong", zone == 0,
             "%.0f wrong answers for %zu sets of %d keys, each asked for all "
             "of %d numbers", (double)zone, filters, KISS_CAPACITY,
             KISS_UNIVERSE);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        double rate[100];
        for (size_t j = 0; j < filters; j++)
            rate[j] = (double)kiss_wrong(j, row[i].n) / KISS_UNIVERSE;
        lab_measure r = lab_shares(rate, filters, KISS_UNIVERSE);
        lab_row(l, "%.0f,%.5g,%.5g,%.5g,%.5g", (double)row[i].n, r.value,
                r.low, r.high, kiss_expected((double)row[i].n));
        char what[96];
        snprintf(what, sizeof what, "rate with %.0f keys where 10 were planned",
                 (double)row[i].n);
        if (row[i].rate > 0)
            lab_number(l, what, row[i].rate, row[i].within, r);
    }
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    kiss_sizes(&l);
    kiss_rates(&l);
    return lab_close(&l);
}
