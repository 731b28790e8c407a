/* laufer.c - a field in a packet to which each router adds itself: a filter
 * that also resets bits [Laufer, Velloso & Duarte 2011].
 *
 * See lab.h and essay.html beside this file.
 */
#include "lab.h"

#include <string.h>

enum { LAUFER_WORDS = 64, LAUFER_HOPS = 20 };

/* A router's bits: `set` become 1, `reset` become 0; a bit in both is reset.
 * The field has a router if all of its bits are as it left them. */
typedef struct { uint64_t set[LAUFER_WORDS], reset[LAUFER_WORDS]; } laufer_mark;

typedef struct {
    unsigned    bits, set, reset;
    size_t      words;
    bly_filter *sets, *resets;          /* resets is NULL for a plain filter */
    uint64_t    drawn;                  /* routers so far */
} laufer_field;

static laufer_field laufer_open(unsigned bits, unsigned set, unsigned reset)
{
    laufer_field f = { bits, set, reset, bits / 64, NULL, NULL, 0 };
    f.sets = lab_new(1, 0, "standard:m=%u,k=%u,index=seeds", bits, set);
    if (reset > 0)
        f.resets = lab_new(1, 0, "standard:m=%u,k=%u,index=seeds", bits,
                           reset);
    return f;
}

static void laufer_close(laufer_field *f)
{
    bly_free(f->sets);
    bly_free(f->resets);
}

/* Copies the bits of a key in an otherwise empty filter. */
static void laufer_bits(uint64_t *words, bly_filter *one, uint64_t key)
{
    size_t bytes;
    if (bly_clear(one) < 0 || bly_add_hash(one, key) < 0)
        lab_stop("add", bly_why());
    const unsigned char *image = bly_image(one, &bytes);
    memcpy(words, image + BLY_HEADER_BYTES, bytes - BLY_HEADER_BYTES);
}

/* Makes the mark of a new router. */
static laufer_mark laufer_router(laufer_field *f)
{
    laufer_mark m = { .reset = { 0 } };
    laufer_bits(m.set, f->sets, lab_key(0, f->drawn));
    if (f->reset > 0)
        laufer_bits(m.reset, f->resets, lab_key(1, f->drawn));
    f->drawn++;
    for (size_t i = 0; i < f->words; i++)
        m.set[i] &= ~m.reset[i];
    return m;
}

static void laufer_pass(const laufer_field *f, uint64_t *field,
                        const laufer_mark *m)
{
    for (size_t i = 0; i < f->words; i++)
        field[i] = (field[i] & ~m->reset[i]) | m->set[i];
}

static bool laufer_has(const laufer_field *f, const uint64_t *field,
                       const laufer_mark *m)
{
    bool has = true;
    for (size_t i = 0; i < f->words; i++)
        has = has && (field[i] & m->set[i]) == m->set[i]
            && (field[i] & m->reset[i]) == 0;
    return has;
}

/* ---- Strangers ---------------------------------------------------------- */

/* Fills a field: a share of its bits, at random. */
static void laufer_fill(const laufer_field *f, uint64_t *field, double share,
                        uint64_t series)
{
    memset(field, 0, f->words * sizeof *field);
    for (unsigned i = 0; i < f->bits; i++)
        if ((double)lab_key(series, i) < share * ldexp(1, 64))
            field[i / 64] |= (uint64_t)1 << i % 64;
}

/* Returns the share of strangers that a field of the sender's choice has, after
 * a number of routers. */
static lab_measure laufer_strangers(laufer_field *f, double share,
                                    unsigned hops, size_t packets,
                                    uint64_t asked)
{
    enum { MOST = 100 };
    double found[MOST];
    for (size_t i = 0; i < packets; i++) {
        uint64_t field[LAUFER_WORDS], hits = 0;
        laufer_fill(f, field, share, 2 + i);
        for (unsigned hop = 0; hop < hops; hop++) {
            laufer_mark m = laufer_router(f);
            laufer_pass(f, field, &m);
        }
        for (uint64_t j = 0; j < asked; j++) {
            laufer_mark m = laufer_router(f);
            hits += laufer_has(f, field, &m);
        }
        found[i] = (double)hits / (double)asked;
    }
    return lab_shares(found, packets, asked);
}

/* The paper's bound for any field: (a / (a + b))^a (b / (a + b))^b, if a router
 * sets a bits and resets b. */
static double laufer_bound(double a, double b)
{
    return pow(a / (a + b), a) * (b > 0 ? pow(b / (a + b), b) : 1);
}

/* Strangers against the share of bits that the sender sets. */
static void laufer_chosen(lab *l)
{
    static const unsigned reset[] = { 0, 2 };
    enum { BITS = 64 * LAUFER_WORDS, SET = 2, STEPS = 10 };
    size_t packets = lab_pick(l, 2, 20, 100);
    uint64_t asked = lab_pick(l, 100, 20000, 100000);
    lab_figure(l, "chosen", "reset,share,strangers,low,high,formula");
    for (size_t i = 0; i < sizeof reset / sizeof *reset; i++) {
        laufer_field f = laufer_open(BITS, SET, reset[i]);
        lab_measure most = { 0, 0, 0 };
        for (unsigned step = 0; step <= STEPS; step++) {
            double p = (double)step / STEPS;
            lab_measure s = laufer_strangers(&f, p, 0, packets, asked);
            lab_row(l, "%u,%.2f,%.6g,%.6g,%.6g,%.6g", reset[i], p, s.value,
                    s.low, s.high, pow(p, SET) * pow(1 - p, reset[i]));
            most = s.value > most.value ? s : most;
        }
        if (reset[i] == 0)
            lab_says(l, "if routers only set bits, a field that is full has "
                        "every stranger", most.value >= 1,
                     "%.6g of the strangers", most.value);
        else
            lab_says(l, "if routers set and reset two bits each, no field has "
                        "more than 1/16 of the strangers",
                     most.low <= laufer_bound(SET, reset[i]),
                     "at most %.4g (%.4g … %.4g)", most.value, most.low,
                     most.high);
        laufer_close(&f);
    }
}

/* ---- Routers of the path ------------------------------------------------ */

/* Returns the chance that a field still has a router after `later` others: each
 * of its bits is a chain of two states. */
static double laufer_kept(const laufer_field *f, unsigned later)
{
    double m = f->bits;
    double reset = 1 - pow(1 - 1 / m, f->reset);
    double set = (1 - reset) * (1 - pow(1 - 1 / m, f->set));
    double one = 1, zero = 1;
    for (unsigned i = 0; i < later; i++) {
        one = one * (1 - reset) + (1 - one) * set;
        zero = zero * (1 - set) + (1 - zero) * reset;
    }
    return pow(one, f->set) * pow(zero, f->reset);
}

/* Sends packets with full fields through LAUFER_HOPS routers; counts for each
 * distance from the victim how often that router is in the field. */
static void laufer_send(laufer_field *f, uint64_t packets, uint64_t *kept)
{
    for (uint64_t i = 0; i < packets; i++) {
        laufer_mark path[LAUFER_HOPS];
        uint64_t field[LAUFER_WORDS];
        memset(field, 0xFF, sizeof field);
        for (unsigned hop = 0; hop < LAUFER_HOPS; hop++) {
            path[hop] = laufer_router(f);
            laufer_pass(f, field, &path[hop]);
        }
        for (unsigned hop = 0; hop < LAUFER_HOPS; hop++)
            kept[LAUFER_HOPS - 1 - hop] += laufer_has(f, field, &path[hop]);
    }
}

static void laufer_path(lab *l)
{
    static const struct { unsigned bits, set, reset; } fields[] = {
        { 256, 6, 0 }, { 256, 2, 2 }, { 256, 4, 4 }, { 4096, 2, 2 },
    };
    uint64_t packets = lab_pick(l, 100, 5000, 100000);
    lab_figure(l, "path", "row,distance,found,low,high,formula");
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        laufer_field f = laufer_open(fields[i].bits, fields[i].set,
                                     fields[i].reset);
        uint64_t kept[LAUFER_HOPS] = { 0 };
        bool fewer = true;
        laufer_send(&f, packets, kept);
        for (unsigned d = 0; d < LAUFER_HOPS; d++) {
            lab_measure s = lab_wilson(kept[d], packets);
            lab_row(l, "%zu,%u,%.6g,%.6g,%.6g,%.6g", i, d + 1, s.value, s.low,
                    s.high, laufer_kept(&f, d));
            fewer = fewer && (d == 0 || s.low <= (double)kept[d - 1]
                                                 / (double)packets);
        }
        if (fields[i].reset == 0)
            lab_says(l, "if routers only set bits, none of a path is missed",
                     kept[LAUFER_HOPS - 1] == packets, "%.0f of %.0f found at "
                     "distance %d", (double)kept[LAUFER_HOPS - 1],
                     (double)packets, LAUFER_HOPS);
        else if (fields[i].bits == 256 && fields[i].set == 2)
            lab_says(l, "later routers undo the marks of earlier ones: the "
                        "farther a router is, the more often it is missed",
                     fewer && kept[0] == packets
                     && kept[LAUFER_HOPS - 1] < packets,
                     "256 bits, two set and two reset: %.3g are missed at "
                     "distance %d, none at distance 1",
                     1 - (double)kept[LAUFER_HOPS - 1] / (double)packets,
                     LAUFER_HOPS);
        laufer_close(&f);
    }
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    laufer_chosen(&l);
    laufer_path(&l);
    return lab_close(&l);
}
