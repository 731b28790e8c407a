/* volume.c - what rounds of `dedup` cost and leave over, by formula.
 *
 * n elements are on P ranks; a share d of them comes more than once. A round
 * cuts their hashes to n / f positions, f < 1, and leaves over
 *
 *      q = d + (1 - d) (1 - e^-f)                                        (1)
 *
 * of them: a hash's position is free of others with chance (1 - f/n)^(n-1). A
 * rank's values take a share f / P of all positions, and so each one
 *
 *      log2(P / f) + 1.47 bits in Golomb's code (src/verbs/gaps.c),         (2)
 *
 * and its answer, one bit, min(1, q (log2(1/q) + 1.47)). In the end each
 * element that is left costs its key, k bits. So r rounds cost
 *
 *      C(r, n, d) = min over f of                                        (3)
 *                   (2) + answer + 32 P^2 / n + q C(r - 1, q n, d / q)
 *      C(0, n, d) = k
 *
 * an element, where the third term is for the heads and ends of P^2 lists and
 * as many answers: four bytes for both. What stays with its own rank, a share
 * 1/P of everything, is free. The best f is looked for among powers of the root
 * of 2. The first round comes out coarse, the last one fine; and there is one
 * only for keys that are short or mostly repeated. The plan is made anew before
 * each round, with the share d that the last one has shown.
 *
 * Where no key is sent in the end, and a share e of errors is allowed instead,
 * the last round has the load that keeps it, and (3) becomes
 *
 *      C(n, d, e) = min of (2) + answer + 32 P^2 / n at f = -ln(1 - e),
 *                   and over f above that of                             (4)
 *                   (2) + answer + 32 P^2 / n + q C(q n, d / q, e / c)
 *
 * where c = 1 - e^-f is the share of unique keys that a round leaves, so that
 * the next ones may leave 1/c times as many of theirs; or c = 1, where the last
 * round has to keep e by itself (rounds.c).
 *
 *   [Sanders 2013]  Sanders, Schlag & Mueller, Communication efficient
 *                   algorithms for fundamental big data problems, IEEE Big
 *                   Data: rounds of distributed single-shot Bloom filters
 *   [Schlag 2013]   Distributed duplicate removal, KIT
 */
#include "mpi/dedup.h"

#include <math.h>

enum { VOLUME_ROUNDS = 3, VOLUME_STEPS = 24 };

/* Maximum load of the last round; gaps would hardly get shorter. */
#define VOLUME_FULL 0.5

/* In dense lists Golomb's code takes less than (2): fitted to measurements of
 * verbs/gaps.c, within 0.01 bits for p up to 0.19. */
double volume_gap(double p)
{
    return p > 0 ? log2(1 / p) + 1.47 - 0.7 * p : 0;
}

double volume_answer(double c)
{
    return fmin(1, c * volume_gap(c));
}

double volume_left(double repeated, double f)
{
    return repeated - (1 - repeated) * expm1(-f);
}

/* Returns (3), and the f of the first of these rounds; 0 if no round pays. */
static double volume_cost(double ranks, double elements, double repeated,
                          double key_bits, unsigned depth, double *f)
{
    double best = key_bits, heads = 32 * ranks * ranks / elements;

    *f = 0;
    for (unsigned i = 1; depth > 0 && i <= VOLUME_STEPS; i++) {
        double load = exp2(-0.5 * i), rest, cost;
        double left = volume_left(repeated, load);

        cost = volume_gap(load / ranks) + volume_answer(left) + heads;
        if (cost >= best)
            break;                      /* finer ones cost even more */
        cost += left * volume_cost(ranks, left * elements,
                                   fmin(1, repeated / left), key_bits,
                                   depth - 1, &rest);
        if (cost < best) {
            best = cost;
            *f = load;
        }
    }
    return best;
}

double volume_plan(double ranks, double elements, double repeated,
                   double key_bits)
{
    double f;

    volume_cost(ranks, elements, repeated, key_bits, VOLUME_ROUNDS, &f);
    return f;
}

/* ==== With a rate of errors ============================================= */

/* Returns the cost of one round: sending values and answers. */
static double volume_round(double ranks, double elements, double repeated,
                           double f)
{
    return volume_gap(f / ranks) + volume_answer(volume_left(repeated, f))
         + 32 * ranks * ranks / elements;
}

/* Returns (4). */
static double volume_cost_rate(double ranks, double elements, double repeated,
                               double rate, bool alone, unsigned more,
                               volume_next *next)
{
    double final = fmin(VOLUME_FULL, -log1p(-fmin(rate, 0.5))), best;

    *next = (volume_next){ final, true };
    best = volume_round(ranks, elements, repeated, final);
    for (unsigned i = 1; more > 0 && i <= VOLUME_STEPS; i++) {
        double load = exp2(-0.5 * i), left = volume_left(repeated, load);
        double cost = volume_round(ranks, elements, repeated, load);
        volume_next rest;

        if (load <= final || cost >= best)
            break;
        cost += left * volume_cost_rate(ranks, left * elements,
                                        fmin(1, repeated / left),
                                        alone ? rate : rate / -expm1(-load),
                                        alone, more - 1, &rest);
        if (cost < best) {
            best = cost;
            *next = (volume_next){ load, false };
        }
    }
    return best;
}

volume_next volume_plan_rate(double ranks, double elements, double repeated,
                             double rate, bool alone, unsigned more)
{
    volume_next next;

    volume_cost_rate(ranks, elements, repeated, rate, alone,
                     more < VOLUME_ROUNDS - 1 ? more : VOLUME_ROUNDS - 1,
                     &next);
    return next;
}
