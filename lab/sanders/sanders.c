/* sanders.c - finding duplicates on many computers by a hash of each key
 * [Sanders, Schlag & Mueller 2013].
 *
 * See lab.h and essay.html beside this file.
 */
#include "lab.h"

#include <bloomery/gaps.h>

#include <stdlib.h>
#include <string.h>

enum { SANDERS_KEYS = 20000, SANDERS_ROUNDS = 16 };  /* keys of a computer   */

static int sanders_order(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Computes the hashes of the keys of computer `rank`, below `range`, sorted. */
static void sanders_hashes(uint64_t *h, uint64_t n, uint64_t range,
                           uint64_t rank)
{
    for (uint64_t i = 0; i < n; i++)
        h[i] = lab_key(rank, i) % range;
    qsort(h, n, sizeof *h, sanders_order);
}

/* Returns what a computer sends with its n sorted hashes, of which `share` go
 * to each: bytes of all lists, and values in them. Overwrites the hashes. */
static uint64_t sanders_lists(uint64_t *h, uint64_t n, uint64_t ranks,
                              uint64_t share, uint64_t *sent)
{
    size_t room = bly_gaps_room(n, share, 0);
    unsigned char *list = lab_allocate(room);
    uint64_t bytes = 0;
    for (uint64_t rank = 0, i = 0; rank < ranks; rank++) {
        uint64_t *first = h + i, m = 0;
        for (; i < n && h[i] < (rank + 1) * share; i++) {
            uint64_t offset = h[i] - rank * share;
            if (m == 0 || first[m - 1] != offset)
                first[m++] = offset;
        }
        size_t used;
        if (bly_gaps_pack(list, room, &used, first, m, share, 0) < 0)
            lab_stop("gaps", bly_why());
        bytes += used;
        *sent += m;
    }
    free(list);
    return bytes;
}

/* Returns bits per hash that a computer sends: the list of its hashes for each
 * other one, and for itself, for measuring. */
static double sanders_sent(uint64_t ranks, double load, uint64_t series)
{
    uint64_t share = (uint64_t)ceil(SANDERS_KEYS / load);
    uint64_t *h = lab_allocate(SANDERS_KEYS * sizeof *h), sent = 0;
    sanders_hashes(h, SANDERS_KEYS, share * ranks, series);
    uint64_t bytes = sanders_lists(h, SANDERS_KEYS, ranks, share, &sent);
    free(h);
    return 8 * (double)bytes / (double)sent;
}

static lab_measure sanders_bits(uint64_t ranks, double load, size_t rounds)
{
    double bits[SANDERS_ROUNDS];
    for (uint64_t i = 0; i < rounds; i++)
        bits[i] = sanders_sent(ranks, load, i);
    return lab_mean(bits, rounds);
}

/* Returns the share of keys, all different, whose hash another key shares. */
static double sanders_survivors(uint64_t n, double load, uint64_t series)
{
    uint64_t *h = lab_allocate(n * sizeof *h), alike = 0;
    sanders_hashes(h, n, (uint64_t)((double)n / load), series);
    for (uint64_t i = 0; i < n; i++)
        alike += (i > 0 && h[i] == h[i - 1]) || (i + 1 < n && h[i] == h[i + 1]);
    free(h);
    return (double)alike / (double)n;
}

static void sanders_volume(lab *l)
{
    double off = 0;
    lab_figure(l, "volume", "computers,an eighth,low,high,a 64th,low,high,"
                            "formula,formula");
    for (uint64_t ranks = 1; ranks <= 256; ranks *= 2) {
        lab_measure coarse = sanders_bits(ranks, 0.125, SANDERS_ROUNDS);
        lab_measure fine = sanders_bits(ranks, 1.0 / 64, SANDERS_ROUNDS);
        double a = log2((double)ranks * 8) + 1.4715;
        double b = log2((double)ranks * 64) + 1.4715;
        lab_row(l, "%.0f,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g",
                (double)ranks, coarse.value, coarse.low, coarse.high,
                fine.value, fine.low, fine.high, a, b);
        off = fmax(off, fmax(fabs(coarse.value / a - 1),
                             fabs(fine.value / b - 1)));
        if (ranks == 8)
            lab_says(l, "8 computers: log2(P/f) + 1.47 bits a hash, within "
                        "half a per cent", coarse.high < 1.005 * a
                     && coarse.low > 0.995 * a && fine.high < 1.005 * b
                     && fine.low > 0.995 * b, "%.3f (%.3f … %.3f) for %.3f "
                     "with 8 places for each key, %.3f (%.3f … %.3f) for %.3f "
                     "with 64", coarse.value, coarse.low, coarse.high, a,
                     fine.value, fine.low, fine.high, b);
    }
    lab_says(l, "and within 3 % for up to 256 computers",
             off < 0.03, "%.2f %% off at most", off * 100);
}

static void sanders_left(lab *l)
{
    uint64_t n = lab_pick(l, 10000, 100000, 1000000);
    lab_figure(l, "left", "load,left,low,high,formula");
    for (double load = 0.5; load > 0.01; load /= 2) {
        double left[SANDERS_ROUNDS];
        for (uint64_t i = 0; i < SANDERS_ROUNDS; i++)
            left[i] = sanders_survivors(n, load, i);
        lab_measure m = lab_mean(left, SANDERS_ROUNDS);
        lab_row(l, "%g,%.5g,%.5g,%.5g,%.5g", load, m.value, m.low, m.high,
                -expm1(-load));
        char what[96];
        snprintf(what, sizeof what, "share of single keys that stay in the "
                 "game, %.0f places for each key", 1 / load);
        lab_number(l, what, -expm1(-load), 5e-6, m);
    }
}

/* ---- Rounds ------------------------------------------------------------ */

enum { SANDERS_HALVES = 28, SANDERS_MOST = 3, SANDERS_LONGEST = 5 };

typedef struct {
    double ranks, repeated, key;        /* bits of a key */
} sanders_case;

static double sanders_list_bits(double ranks, double load)
{
    return log2(ranks / load) + 1.4715 + 1;
}

/* Returns bits per element in all, for that many rounds with the best loads
 * among powers of 2, or of its root (step 1), and these loads. With a rate
 * above 0 no key is sent, and that share of the single ones remains: the last
 * load determines it. */
static double sanders_cost(sanders_case c, double rate, unsigned rounds,
                           unsigned step, double *loads)
{
    double best = INFINITY;
    if (rounds == 0)
        return rate > 0 ? 0 : c.key;
    for (unsigned i = 0; i <= SANDERS_HALVES; i += step) {
        double load = exp2(-0.5 * i), rest[SANDERS_LONGEST] = { 0 };
        if (rate > 0 && rounds == 1)
            load = -log1p(-rate);
        double single = -expm1(-load);
        double left = c.repeated + (1 - c.repeated) * single;
        if (rate > 0 && rounds > 1 && single <= rate)
            break;
        sanders_case next = { c.ranks, c.repeated / left, c.key };
        double cost = sanders_list_bits(c.ranks, load)
                    + left * sanders_cost(next, rate / single, rounds - 1, step,
                                          rest);
        if (cost < best) {
            best = cost;
            loads[0] = load;
            for (unsigned j = 1; j < rounds; j++)
                loads[j] = rest[j - 1];
        }
    }
    return best;
}

/* Returns another hash of a key for each round. */
static uint64_t sanders_mix(uint64_t key, uint64_t round)
{
    key = (key ^ round) * UINT64_C(0x9E3779B97F4A7C15);
    key = (key ^ key >> 32) * UINT64_C(0xD6E8FEB86659FD93);
    return key ^ key >> 32;
}

/* Keys on computers, one computer's after another's. */
typedef struct {
    uint64_t *keys, *begin;             /* begin[ranks] is their number      */
    uint64_t  ranks, bits;              /* sent so far                       */
} sanders_game;

/* Returns how many of n keys occur twice; twice as many elements are
 * repeated. */
static uint64_t sanders_pairs(sanders_case c, uint64_t n)
{
    return (uint64_t)(c.repeated * (double)n / 2);
}

/* Deals n elements to all computers, in random order. */
static void sanders_deal(sanders_game *g, sanders_case c, uint64_t n,
                         uint64_t series)
{
    uint64_t pairs = sanders_pairs(c, n);
    g->ranks = (uint64_t)c.ranks;
    g->keys = lab_allocate(n * sizeof *g->keys);
    g->begin = lab_allocate((g->ranks + 1) * sizeof *g->begin);
    for (uint64_t i = 0; i < n; i++)
        g->keys[i * 1000003 % n] = lab_key(series, i >= n - pairs
                                                   ? i - (n - pairs) : i);
    for (uint64_t r = 0; r <= g->ranks; r++)
        g->begin[r] = n * r / g->ranks;
}

/* Marks the positions of keys, and those of several keys. */
static void sanders_mark(const sanders_game *g, uint64_t range, uint64_t round,
                         unsigned char *seen, unsigned char *twice)
{
    for (uint64_t i = 0; i < g->begin[g->ranks]; i++) {
        uint64_t h = sanders_mix(g->keys[i], round) % range;
        unsigned char bit = (unsigned char)(1 << h % 8);
        twice[h / 8] |= seen[h / 8] & bit;
        seen[h / 8] |= bit;
    }
}

static void sanders_drop(sanders_game *g, uint64_t range, uint64_t round,
                         const unsigned char *twice)
{
    uint64_t kept = 0, i = 0;
    for (uint64_t r = 0; r < g->ranks; r++) {
        for (; i < g->begin[r + 1]; i++) {
            uint64_t h = sanders_mix(g->keys[i], round) % range;
            if (twice[h / 8] >> h % 8 & 1)
                g->keys[kept++] = g->keys[i];
        }
        g->begin[r + 1] = kept;
    }
}

/* Plays a round: lists, a bit for each value, and the keys that remain. */
static void sanders_round(sanders_game *g, double load, uint64_t round)
{
    uint64_t n = g->begin[g->ranks];
    if (n == 0)
        return;
    uint64_t share = (uint64_t)ceil((double)n / load / (double)g->ranks);
    uint64_t range = share * g->ranks, sent = 0;
    uint64_t *h = lab_allocate((n + 1) * sizeof *h);
    for (uint64_t r = 0; r < g->ranks; r++) {
        uint64_t m = g->begin[r + 1] - g->begin[r];
        for (uint64_t i = 0; i < m; i++)
            h[i] = sanders_mix(g->keys[g->begin[r] + i], round) % range;
        qsort(h, m, sizeof *h, sanders_order);
        g->bits += 8 * sanders_lists(h, m, g->ranks, share, &sent);
    }
    g->bits += sent;
    unsigned char *seen = lab_allocate(range / 8 + 1);
    unsigned char *twice = lab_allocate(range / 8 + 1);
    memset(seen, 0, range / 8 + 1);
    memset(twice, 0, range / 8 + 1);
    sanders_mark(g, range, round, seen, twice);
    sanders_drop(g, range, round, twice);
    free(seen);
    free(twice);
    free(h);
}

/* Returns bits per element of a game, excluding the remaining keys, and the
 * remaining shares of all elements and of single ones. */
static double sanders_play(sanders_case c, const double *loads, unsigned rounds,
                           uint64_t n, uint64_t series, double *left,
                           double *single)
{
    sanders_game g = { .bits = 0 };
    uint64_t pairs = sanders_pairs(c, n);
    sanders_deal(&g, c, n, series);
    for (unsigned i = 0; i < rounds; i++)
        sanders_round(&g, loads[i], i);
    uint64_t kept = g.begin[g.ranks];
    *left = (double)kept / (double)n;
    *single = ((double)kept - 2 * (double)pairs) / (double)(n - 2 * pairs);
    free(g.keys);
    free(g.begin);
    return (double)g.bits / (double)n;
}

/* Claims the largest gain of a third round, and the smallest of a second. */
static void sanders_gains(lab *l)
{
    static const double ranks[] = { 16, 256, 4096 }, keys[] = { 64, 128, 800 };
    static const double shares[] = { 0, 0.01, 0.1 };
    double third = -1, fine = -1, second = 1, loads[SANDERS_MOST];
    unsigned loses = 0;
    for (unsigned i = 0; i < 27; i++) {
        sanders_case c = { ranks[i % 3], shares[i / 3 % 3], keys[i / 9] };
        double one = sanders_cost(c, 0, 1, 1, loads);
        double two = sanders_cost(c, 0, 2, 1, loads);
        double three = sanders_cost(c, 0, 3, 2, loads);
        third = fmax(third, 1 - three / two);
        fine = fmax(fine, 1 - sanders_cost(c, 0, 3, 1, loads) / two);
        second = fmin(second, 1 - two / one);
        loses += three > two;
    }
    lab_says(l, "ours: two rounds are nearly always enough: of 16 to 4096 "
                "computers, none to a tenth repeated, keys of 64 to 800 bits, "
                "a third gains at most 5.2 %", third < 0.0525,
             "%.1f %% at most (%.1f %% with loads by the root of 2), and it "
             "loses in %u of 27 cases", third * 100, fine * 100, loses);
    lab_says(l, "ours: one is enough where a tenth is repeated and keys are "
                "short", second < 0, "a second one gains %.1f %% in the worst "
             "case", second * 100);
}

static void sanders_rounds(lab *l)
{
    static const struct {
        sanders_case c;
        double bits[SANDERS_MOST];      /* from the catalogue */
    } rows[] = {
        { { 16, 0, 64 }, { 13.37, 11.04, 10.77 } },
        { { 16, 0.01, 800 }, { 25.02, 19.55, 19.05 } },
        { { 16, 0.1, 128 }, { 27.04, 25.03, 25.47 } },
        { { 256, 0, 800 }, { 21.03, 15.75, 15.32 } },
        { { 256, 0.01, 128 }, { 19.64, 16.96, 16.87 } },
        { { 4096, 0.1, 64 }, { 27.63, 27.92, 29.35 } },
    };
    uint64_t each = lab_pick(l, 500, 20000, 100000);
    double off = 0, bits[6][SANDERS_MOST], played[6][SANDERS_MOST] = { { 0 } };
    lab_figure(l, "rounds", "rounds,16 none 64,played,16 1% 800,played,"
                            "16 10% 128,played,256 none 800,256 1% 128,"
                            "4096 10% 64");
    for (unsigned i = 0; i < 6; i++)
        for (unsigned r = 1; r <= SANDERS_MOST; r++) {
            double loads[SANDERS_MOST];
            char what[128];
            double left, single;
            bits[i][r - 1] = sanders_cost(rows[i].c, 0, r, r < 3 ? 1 : 2,
                                          loads);
            snprintf(what, sizeof what, "ours: %.0f computers, %.0f %% "
                     "repeated, keys of %.0f bits: bits an element, %u round%s",
                     rows[i].c.ranks, 100 * rows[i].c.repeated, rows[i].c.key,
                     r, r == 1 ? "" : "s");
            lab_size(l, what, rows[i].bits[r - 1], 0.005, bits[i][r - 1]);
            if (rows[i].c.ranks > 16)
                continue;
            played[i][r - 1] = sanders_play(rows[i].c, loads, r, 16 * each, 1,
                                            &left, &single);
            played[i][r - 1] += left * rows[i].c.key;
            off = fmax(off, fabs(played[i][r - 1] / bits[i][r - 1] - 1));
        }
    for (unsigned r = 0; r < SANDERS_MOST; r++)
        lab_row(l, "%u,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g", r + 1,
                bits[0][r], played[0][r], bits[1][r], played[1][r], bits[2][r],
                played[2][r], bits[3][r], bits[4][r], bits[5][r]);
    lab_says(l, "ours: and games of 16 computers send that, within 3 %",
             off < 0.03, "%.2f %% off at most", off * 100);
    sanders_gains(l);
}

/* ---- More rounds than two ----------------------------------------------- */

enum { SANDERS_PLAYED = 6, SANDERS_GAMES = 16 };

/* Savings of further rounds on the volume of two: of a third one, and of the
 * best of three to five. */
typedef struct { lab_measure third, best; } sanders_saving;

/* Plays games of that many rounds with the best loads; the remaining keys are
 * sent. */
static void sanders_games(const lab *l, sanders_case c, unsigned rounds,
                          double *bits, size_t games)
{
    double loads[SANDERS_LONGEST], left, single;
    uint64_t n = lab_pick(l, 1600, 40000, 400000);
    unsigned step = (unsigned)lab_pick(l, 4, 2, 2);
    sanders_cost(c, 0, rounds, rounds <= SANDERS_MOST ? 1 : step, loads);
    for (size_t g = 0; g < games; g++) {
        bits[g] = sanders_play(c, loads, rounds, n, g + 1, &left, &single);
        bits[g] += left * c.key;
    }
}

/* Writes a row for each number of rounds: its volume, and that relative to
 * two. */
static sanders_saving sanders_further(lab *l, sanders_case c)
{
    double bits[SANDERS_LONGEST + 1][SANDERS_GAMES];
    double share[SANDERS_GAMES], third[SANDERS_GAMES], best[SANDERS_GAMES];
    size_t games = lab_pick(l, 2, 8, SANDERS_GAMES);
    for (unsigned r = 1; r <= SANDERS_LONGEST; r++)
        sanders_games(l, c, r, bits[r], games);
    for (unsigned r = 1; r <= SANDERS_LONGEST; r++) {
        lab_measure all = lab_mean(bits[r], games);
        for (size_t g = 0; g < games; g++)
            share[g] = bits[r][g] / bits[2][g];
        lab_measure m = lab_mean(share, games);
        lab_row(l, "%.0f,%g,%u,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g", c.key,
                c.repeated, r, all.value, all.low, all.high, m.value, m.low,
                m.high);
    }
    for (size_t g = 0; g < games; g++) {
        third[g] = 1 - bits[3][g] / bits[2][g];
        best[g] = fmax(third[g], 1 - fmin(bits[4][g], bits[5][g]) / bits[2][g]);
    }
    return (sanders_saving){ lab_mean(third, games), lab_mean(best, games) };
}

/* "Negligible" means less than a twentieth of the volume. */
static void sanders_beyond(lab *l)
{
    static const double keys[] = { 64, 800 }, shares[] = { 0, 0.01, 0.1 };
    sanders_saving most = { .third.value = -1, .best.value = -1 }, s;
    double least = 1;
    lab_figure(l, "beyond", "key,repeated,rounds,bits,low,high,share,low,high");
    for (unsigned i = 0; i < SANDERS_PLAYED; i++) {
        s = sanders_further(l, (sanders_case){ 16, shares[i % 3],
                                               keys[i / 3] });
        most.third = s.third.value > most.third.value ? s.third : most.third;
        most.best = s.best.value > most.best.value ? s.best : most.best;
        least = fmin(least, s.third.value);
    }
    lab_says(l, "to repeat the filtering more than twice is negligible "
                "(encyclopaedia)", most.third.value < 0.05,
             "a third round saves %.1f %% (%.1f … %.1f) of the volume at most, "
             "to be below 5, and %.1f %% at the least",
             100 * most.third.value, 100 * most.third.low,
             100 * most.third.high, 100 * least);
    lab_says(l, "ours: the same of any number of rounds up to five",
             most.best.value < 0.05, "%.1f %% (%.1f … %.1f) of the volume of "
             "two at most, to be below 5", 100 * most.best.value,
             100 * most.best.low, 100 * most.best.high);
}

/* Returns the share of single elements that remain. Both elements of a repeated
 * key have one position, so it is slightly less than by the loads. */
static double sanders_single(sanders_case c, const double *loads,
                             unsigned rounds)
{
    double share = 1;
    for (unsigned i = 0; i < rounds; i++) {
        double hit = -expm1(-loads[i] * (1 - c.repeated / 2));
        c.repeated /= c.repeated + (1 - c.repeated) * hit;
        share *= hit;
    }
    return share;
}

/* Plots volume by error if no key is sent in the end. */
static void sanders_rates(lab *l)
{
    const sanders_case c = { 16, 0.01, 0 };
    uint64_t each = lab_pick(l, 100, 5000, 50000);
    double third = 0, off = 0;
    lab_figure(l, "rates", "rate,1 round,played,2 rounds,played,3 rounds,"
                           "played");
    for (unsigned i = 3; i <= 15; i += 2) {
        double rate = exp2(-(double)i), bits[SANDERS_MOST];
        double played[SANDERS_MOST];
        for (unsigned r = 1; r <= SANDERS_MOST; r++) {
            double loads[SANDERS_MOST], left, single[4];
            char what[96];
            played[r - 1] = 0;
            bits[r - 1] = sanders_cost(c, rate, r, 1, loads);
            if (!isfinite(bits[r - 1])) {
                bits[r - 1] = played[r - 1] = NAN;
                continue;
            }
            for (uint64_t g = 0; g < 4; g++)
                played[r - 1] += sanders_play(c, loads, r, 16 * each, g, &left,
                                              &single[g]) / 4;
            off = fmax(off, fabs(played[r - 1] / bits[r - 1] - 1));
            if (i != 7)
                continue;
            snprintf(what, sizeof what, "ours: share of single keys that are "
                     "taken for repeated, 1/128, %u round%s", r,
                     r == 1 ? "" : "s");
            lab_number(l, what, sanders_single(c, loads, r), 5e-6,
                       lab_shares(single, 4, 16 * each));
        }
        lab_row(l, "%g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g", rate, bits[0],
                played[0], bits[1], played[1], bits[2], played[2]);
        third = fmax(third, 1 - bits[2] / bits[1]);
    }
    lab_says(l, "ours: games send what the formulas say, within 3 %",
             off < 0.03, "%.2f %% off at most", off * 100);
    lab_says(l, "ours: a third round gains less than 6 % down to errors of "
                "1/32768", third < 0.06, "%.1f %% at most", third * 100);
}

/* ---- A distributed filter ----------------------------------------------- */

/* Returns the strangers that hit a position of n keys. */
static double sanders_errors(uint64_t n, double load, uint64_t series)
{
    uint64_t range = (uint64_t)ceil((double)n / load), hits = 0;
    unsigned char *bits = lab_allocate(range / 8 + 1);
    memset(bits, 0, range / 8 + 1);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t h = lab_key(series, i) % range;
        bits[h / 8] |= (unsigned char)(1 << h % 8);
    }
    for (uint64_t i = 0; i < n; i++) {
        uint64_t h = lab_key(series + SANDERS_ROUNDS, i) % range;
        hits += bits[h / 8] >> h % 8 & 1;
    }
    free(bits);
    return (double)hits / (double)n;
}

static lab_measure sanders_error(uint64_t n, double load)
{
    double errors[SANDERS_ROUNDS];
    for (uint64_t i = 0; i < SANDERS_ROUNDS; i++)
        errors[i] = sanders_errors(n, load, i);
    return lab_shares(errors, SANDERS_ROUNDS, n);
}

static void sanders_service(lab *l)
{
    uint64_t n = lab_pick(l, 5000, 50000, 500000);
    double most = 0, least = INFINITY;
    lab_figure(l, "service", "rate,single shot,blocked,sent,low,high,formula,"
                             "hashes");
    for (double load = 0.25; load > 0.0009; load /= 2) {
        bly_spec spec = { .capacity = 1000000, .rate = load };
        lab_measure sent = sanders_bits(16, load, 4);
        lab_measure error = sanders_error(n, load);
        double formula = log2(16 / load) + 1.4715;
        bly_plan_t plan;
        char what[96];
        if (bly_plan(&plan, "blocked", &spec) < 0)
            lab_stop("blocked", bly_why());
        double blocked = 8 * (double)plan.bytes / 1e6;
        lab_row(l, "%g,%g,%.6g,%.6g,%.6g,%.6g,%.6g,64", load, 1 / load,
                blocked, sent.value, sent.low, sent.high, formula);
        snprintf(what, sizeof what, "ours: errors of a single-shot filter with "
                 "%.0f bits a key", 1 / load);
        lab_number(l, what, -expm1(-load), 5e-6, error);
        most = fmax(most, sent.high / 64);
        if (load < 0.01)
            least = fmin(least, 1 / load / blocked);
    }
    lab_says(l, "ours: coded positions of 16 computers take a quarter of 64 "
                "bits, down to a rate of 1/1024", most < 0.25,
             "%.1f %% at most", most * 100);
    lab_says(l, "ours: but from 1 % on they fill ten times the memory of a "
                "blocked filter", least > 10, "%.1f times at least", least);
}

/* ---- Replicated sparse filters ------------------------------------------- */

/* Returns bits per element, of n in all, that a computer sends in log2(ranks)
 * steps: what it has, as one list. */
static double sanders_sparse(uint64_t ranks, double load, uint64_t n)
{
    uint64_t range = (uint64_t)ceil((double)n / load);
    uint64_t *h = lab_allocate(n * sizeof *h), bytes = 0, sent = 0;
    for (uint64_t part = ranks; part > 1; part /= 2) {
        uint64_t m = n / part;
        sanders_hashes(h, m, range, part);
        bytes += sanders_lists(h, m, 1, range, &sent);
    }
    free(h);
    return 8 * (double)bytes / (double)n;
}

static double sanders_sparse_formula(double ranks, double load)
{
    double bits = 0;
    for (double part = ranks; part > 1; part /= 2)
        bits += (log2(part / load) + 1.4715) / part;
    return bits;
}

static void sanders_replicate(lab *l)
{
    static const double reported[] = { 9.23, 9.86, 10.10 };
    uint64_t n = lab_pick(l, 1 << 14, 1 << 19, 1 << 23);
    double off = 0;
    lab_figure(l, "replicate", "computers,sparse,formula,single shot as bits,"
                               "standard as bits");
    for (uint64_t ranks = 2; ranks <= 1024; ranks *= 2) {
        double steps = log2((double)ranks);
        double formula = sanders_sparse_formula((double)ranks, 0.01);
        double sent = sanders_sparse(ranks, 0.01, n);
        lab_row(l, "%.0f,%.6g,%.6g,%.6g,%.6g", (double)ranks, sent, formula,
                100 * steps, 9.585 * steps);
        off = fmax(off, fabs(sent / formula - 1));
        if (ranks == 16 || ranks == 64 || ranks == 1024) {
            char what[96];
            snprintf(what, sizeof what, "ours: %.0f computers, sparse, at "
                     "1 %%: bits an element that each sends", (double)ranks);
            lab_size(l, what, reported[(ranks > 16) + (ranks > 64)], 0.005,
                     formula);
        }
    }
    lab_says(l, "ours: lists as they are coded take that, within 1 %",
             off < 0.01, "%.2f %% off at most", off * 100);
    lab_says(l, "ours: less than a filter of the best size as bits, from 4 "
                "computers on", sanders_sparse_formula(4, 0.01) < 9.585 * 2
             && sanders_sparse_formula(1024, 0.01) < 9.585 * 10,
             "%.2f for %.2f bits with 4 computers, %.2f for %.2f with 1024",
             sanders_sparse_formula(4, 0.01), 9.585 * 2,
             sanders_sparse_formula(1024, 0.01), 9.585 * 10);
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    sanders_volume(&l);
    sanders_left(&l);
    sanders_rounds(&l);
    sanders_beyond(&l);
    sanders_rates(&l);
    sanders_service(&l);
    sanders_replicate(&l);
    return lab_close(&l);
}
