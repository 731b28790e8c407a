/* expandable_layout.c - the layouts of kind `expandable`, the lengths of its
 * fingerprints, and walks through a segment.
 */
#include "kinds/removable/expandable/expandable.h"

#include <math.h>

#include "bits/bits.h"

/* ---- Lengths of fingerprints ------------------------------------------- */

enum {
    EXPANDABLE_NEAR = 4,                /* generations of the estimate        */
    EXPANDABLE_FAR = 40,                /* 2^40 keys                          */
    EXPANDABLE_REST = 12                /* generations, always, for the rest  */
};

uint32_t expandable_bits(const expandable_rule *rule, uint32_t address)
{
    double left = rule->rate, near = rule->rate * 14 / 15 / 5;
    uint32_t bits = EXPANDABLE_BITS_MIN;
    for (uint32_t a = rule->first; a <= address; a++) {
        uint32_t rest = a + EXPANDABLE_REST < EXPANDABLE_FAR
                      ? EXPANDABLE_FAR - a : EXPANDABLE_REST;
        double keys = 0.9375 * (a == rule->first ? 2 : 1);
        double share = left * 3 / rest;
        if (rule->known && a < rule->first + EXPANDABLE_NEAR)
            share = a == rule->first ? 2 * near : near;
        double part = ldexp(keys, -(int)bits);
        for (; part > share && bits <= RUNS_R_MAX; part /= 2)
            bits++;
        left -= part;
    }
    return bits;
}

/* ---- Layouts ----------------------------------------------------------- */

/* Sets the bits of remainders. False: a hash has too few. */
static bool expandable_widen(expandable_layout *l, const expandable_rule *rule)
{
    if (l->address > EXPANDABLE_ADDRESS_MAX)
        return false;
    l->r = expandable_bits(rule, l->address) + 1;
    return l->r <= RUNS_R_MAX && l->address + l->r - 1 <= 64;
}

bool expandable_next(expandable_layout *next, const expandable_layout *now,
                     const expandable_rule *rule)
{
    uint32_t more = now->blocks + (now->blocks + 15) / 16;
    *next = *now;
    next->blocks = more;
    if (more <= expandable_blocks_most(now->address))
        return true;
    next->address++;
    if (next->address > EXPANDABLE_SEGMENT)
        next->blocks = (more + 1) / 2;
    uint32_t least = expandable_blocks_least(next->address);
    next->blocks = next->blocks > least ? next->blocks : least;
    return expandable_widen(next, rule);
}

bool expandable_layout_for(expandable_layout *out, expandable_rule *rule,
                           uint64_t keys)
{
    uint32_t least = rule->first != 0 ? rule->first
                   : rule->known ? EXPANDABLE_FIRST_MIN : EXPANDABLE_FIRST_NONE;
    expandable_layout l = { .address = least,
                            .blocks = expandable_blocks_least(least) };
    while (l.address <= EXPANDABLE_ADDRESS_MAX
           && 2 * expandable_due(&l) <= keys)
        l.blocks = expandable_blocks_least(++l.address);
    if (rule->first == 0)
        rule->first = l.address;
    bool sound = expandable_widen(&l, rule);
    while (sound && expandable_due(&l) < keys) {
        expandable_layout now = l;
        sound = expandable_next(&l, &now, rule);
    }
    *out = l;
    return sound;
}

/* ---- Walks ------------------------------------------------------------- */

expandable_walk expandable_walk_of(const expandable_side *side,
                                   uint8_t *blocks)
{
    expandable_walk w = {
        .side = side, .v = expandable_table(side, blocks),
        .inverse = ((UINT64_C(1) << 42) + side->slots - 1) / side->slots,
        .sound = true,
    };
    w.occupied = image_u64(runs_block(&w.v, 0), RUNS_OCCUPIED);
    w.ends = image_u64(runs_block(&w.v, 0), RUNS_ENDS);
    return w;
}

/* Finds where the next run ends. */
PLATFORM_INLINE bool expandable_walk_stop(expandable_walk *w, uint64_t *stop)
{
    while (w->ends == 0) {
        if (++w->end_block >= w->v.count)
            return false;
        w->ends = image_u64(runs_block(&w->v, w->end_block), RUNS_ENDS);
    }
    *stop = w->end_block * RUNS_BLOCK
          + platform_trailing_zeros(w->ends) + 1;
    w->ends &= w->ends - 1;
    return true;
}

bool expandable_walk_next(expandable_walk *w)
{
    const expandable_side *s = w->side;
    while (w->occupied == 0) {
        if (++w->block >= w->v.count)
            return false;
        w->occupied = image_u64(runs_block(&w->v, w->block), RUNS_OCCUPIED);
    }
    uint64_t i = platform_trailing_zeros(w->occupied), stop;
    uint64_t home = w->block * RUNS_BLOCK + i;
    w->occupied &= w->occupied - 1;
    w->quotient = ((home << s->within) + s->slots - 1) * w->inverse >> 42;
    uint64_t start = w->run.stop > home ? w->run.stop : home;
    w->sound = expandable_home(s, w->quotient) == home
            && w->quotient >> s->within == 0 && expandable_walk_stop(w, &stop)
            && stop > start;
    if (w->sound)
        w->run = (runs_run){ start, stop, true };
    return w->sound;
}
