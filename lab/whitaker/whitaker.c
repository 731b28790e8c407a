/* whitaker.c - packets that carry a filter of the interfaces they have entered
 * [Whitaker & Wetherall 2002].
 *
 * See lab.h and essay.html beside this file.
 */
#include "lab.h"

#include <stdlib.h>
#include <string.h>

enum { WHITAKER_HOPS = 30, WHITAKER_MOST = 256, WHITAKER_PATHS = 10000 };

/* A field of the packet, the bits of an interface, and the reported share of
 * packets that have stopped by mistake after 8, 16 and 30 hops. */
static const unsigned whitaker_at[] = { 8, 16, WHITAKER_HOPS };
enum { WHITAKER_TOLD = sizeof whitaker_at / sizeof *whitaker_at };

static const struct {
    unsigned bits, each;
    double   stopped[WHITAKER_TOLD];
} whitaker_table[] = {
    { 32, 3, { .271, .980, 1 } },      { 64, 2, { .108, .606, .997 } },
    { 64, 4, { .031, .504, 1 } },      { 64, 6, { .021, .609, 1 } },
    { 128, 3, { .0076, .113, .707 } }, { 128, 4, { .0023, .075, .680 } },
    { 128, 6, { .0007, .054, .754 } }, { 256, 4, { .0003, .0073, .122 } },
    { 256, 6, { 0, .002, .078 } },     { 256, 8, { 0, .001, .081 } },
};
enum { WHITAKER_FIELDS = sizeof whitaker_table / sizeof *whitaker_table };

/* ---- Packets ------------------------------------------------------------ */

typedef struct {
    bly_filter *packet, *one;           /* the field, and a lone interface */
    unsigned    each;
    uint64_t    drawn;                  /* keys so far */
} whitaker_field;

static uint64_t whitaker_ones(const bly_filter *f)
{
    size_t bytes;
    const unsigned char *image = bly_image(f, &bytes);
    uint64_t words[WHITAKER_MOST / 64] = { 0 };
    memcpy(words, image + BLY_HEADER_BYTES, bytes - BLY_HEADER_BYTES
           < sizeof words ? bytes - BLY_HEADER_BYTES : sizeof words);
    return lab_ones(words, WHITAKER_MOST / 64);
}

/* Draws an interface: a key that has as many different bits as it must. */
static uint64_t whitaker_interface(whitaker_field *field)
{
    uint64_t key;
    do {
        key = lab_key(field->each, field->drawn++);
        if (bly_clear(field->one) < 0 || bly_add_hash(field->one, key) < 0)
            lab_stop("add", bly_why());
    } while (whitaker_ones(field->one) != field->each);
    return key;
}

/* Sends a packet on a path of new interfaces. Returns the hop at which it is
 * stopped, or one more than all. If it passes, then entering any interface
 * again must stop it; *missed counts those that do not. */
static unsigned whitaker_send(whitaker_field *field, uint64_t *missed)
{
    uint64_t keys[WHITAKER_HOPS];
    if (bly_clear(field->packet) < 0)
        lab_stop("clear", bly_why());
    for (unsigned hop = 0; hop < WHITAKER_HOPS; hop++) {
        keys[hop] = whitaker_interface(field);
        if (bly_add_hash(field->packet, keys[hop]) == BLY_SEEN)
            return hop + 1;
    }
    for (unsigned hop = 0; hop < WHITAKER_HOPS; hop++)
        *missed += bly_add_hash(field->packet, keys[hop]) != BLY_SEEN;
    return WHITAKER_HOPS + 1;
}

/* ---- The chain ---------------------------------------------------------- */

/* Fills stopped[t], the chance that a packet is stopped within t hops: a Markov
 * chain of the number of set bits. */
static void whitaker_chain(double *stopped, unsigned bits, unsigned each)
{
    double at[WHITAKER_MOST + 1] = { 1 }, all = exp2(lab_choose(bits, each));
    stopped[0] = 0;
    for (unsigned hop = 1; hop <= WHITAKER_HOPS; hop++) {
        double next[WHITAKER_MOST + 1] = { 0 };
        stopped[hop] = stopped[hop - 1];
        for (unsigned z = 0; z <= bits; z++)
            for (unsigned j = 0; at[z] > 0 && j <= each; j++) {
                if (each - j > z || j > bits - z)
                    continue;
                double chance = at[z] / all * exp2(lab_choose(bits - z, j)
                                                   + lab_choose(z, each - j));
                if (j == 0)
                    stopped[hop] += chance;
                else
                    next[z + j] += chance;
            }
        memcpy(at, next, sizeof at);
    }
}

/* ---- The figure --------------------------------------------------------- */

/* The reported numbers come from a simulation: they are as precise as their
 * digits and the shares of some thousand packets. */
static void whitaker_claim(lab *l, size_t row, const lab_measure *share)
{
    for (size_t i = 0; i < WHITAKER_TOLD; i++) {
        double p = whitaker_table[row].stopped[i];
        char what[96];
        snprintf(what, sizeof what, "stopped by mistake within %u hops, %u "
                 "bits with %u for each", whitaker_at[i],
                 whitaker_table[row].bits, whitaker_table[row].each);
        lab_number(l, what, p,
                   .0005 + lab_z * sqrt(p * (1 - p) / WHITAKER_PATHS),
                   share[whitaker_at[i]]);
    }
}

static uint64_t whitaker_row(lab *l, size_t row, uint64_t packets)
{
    unsigned bits = whitaker_table[row].bits, each = whitaker_table[row].each;
    whitaker_field field = { .each = each, .drawn = (uint64_t)bits << 28 };
    double chain[WHITAKER_HOPS + 1];
    uint64_t ended[WHITAKER_HOPS + 2] = { 0 }, missed = 0, stopped = 0;
    lab_measure share[WHITAKER_HOPS + 1];
    field.packet = lab_new(1, 0, "standard:m=%u,k=%u,index=seeds", bits, each);
    field.one = lab_new(1, 0, "standard:m=%u,k=%u,index=seeds", bits, each);
    for (uint64_t i = 0; i < packets; i++)
        ended[whitaker_send(&field, &missed)]++;
    whitaker_chain(chain, bits, each);
    for (unsigned hop = 1; hop <= WHITAKER_HOPS; hop++) {
        stopped += ended[hop];
        share[hop] = lab_wilson(stopped, packets);
        lab_row(l, "%zu,%u,%u,%u,%.6g,%.6g,%.6g,%.6g", row, bits, each, hop,
                share[hop].value, share[hop].low, share[hop].high, chain[hop]);
    }
    whitaker_claim(l, row, share);
    bly_free(field.packet);
    bly_free(field.one);
    return missed;
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    uint64_t packets = lab_pick(&l, 20, 10000, 50000), missed = 0;
    lab_figure(&l, "mistakes", "row,bits,each,hops,stopped,low,high,formula");
    for (size_t row = 0; row < WHITAKER_FIELDS; row++)
        missed += whitaker_row(&l, row, packets);
    lab_says(&l, "a packet that enters an interface again is always stopped "
             "there", missed == 0, "%.0f were not", (double)missed);
    return lab_close(&l);
}
