/* egh_list.c - lists the integers that a filter of kind `egh` holds.
 *
 * While the promise holds, the members are exactly the integers that a lookup
 * finds. Looking up all of U takes U lookups, but fewer will do. A key sets its
 * residue r_i modulo q_i in each block i. Choose some blocks, the "levels",
 * with the product M of their moduli: one residue from each level determines a
 * number modulo M (the Chinese remainder theorem). So the keys are among
 *
 *      T = (product of s_i over the levels) * ceil(U / M)
 *
 * candidates, where s_i is the number of bits set in block i, and each
 * candidate is looked up. With no level T is U; with the largest modulus alone
 * it is s_1 U / q_1. Blocks with the least ln s / ln q are taken, as many as
 * make T least: 100 keys below 2^32 take 9 * 10^5 lookups. No fast way is known
 * for keys of 64 bits, of which a dozen take 10^8 lookups. If T is too large,
 * the call refuses at once.
 *
 * A bit for each integer (k = 1) is read directly.
 */
#include "kinds/exact/egh/egh.h"

#include <math.h>

enum {
    EGH_LEVELS = 64,            /* moduli are 2 or more: 2^64 are enough     */
    EGH_FOUND = 1 << 17         /* keys found at most; plans end before      */
};

/* Questions that are too many; and blocks that are, where a table was forged
 * so that each question goes through many: about a second. */
static const double EGH_TRIALS = 1 << 26;
#define EGH_LOOKS (UINT64_C(1) << 28)

/* A block that may be a level: the `set` residues of `q` that are set; how good
 * it is, less being better. */
typedef struct {
    egh_block block;
    uint64_t  set;
    double    worth;
} egh_level;

typedef struct {
    egh_level level[EGH_LEVELS];
    uint32_t  n;
    bool      empty;            /* a block has no bit set: there is no key   */
    double    trials;           /* T                                         */
} egh_route;

static double egh_last(const void *image)
{
    uint64_t universe = image_geometry(image, EGH_UNIVERSE);
    return (double)(universe - 1);      /* of 0 it is 2^64 - 1, nearly       */
}

/* Inserts a block into the list of the best. */
static void egh_consider(egh_route *r, const egh_level *one)
{
    uint32_t i = r->n;
    if (i == EGH_LEVELS && one->worth >= r->level[i - 1].worth)
        return;
    i -= i == EGH_LEVELS;
    for (; i > 0 && r->level[i - 1].worth > one->worth; i--)
        r->level[i] = r->level[i - 1];
    r->level[i] = *one;
    r->n += r->n < EGH_LEVELS;
}

/* Chooses the number of levels with the fewest tests. */
static void egh_cut(egh_route *r, double last)
{
    double chosen = 1, product = 1;
    uint32_t best = 0;
    r->trials = last + 1;
    for (uint32_t i = 0; i < r->n && product <= last; i++) {
        product *= (double)r->level[i].block.q;
        chosen *= (double)r->level[i].set;
        double trials = chosen * ceil((last + 1) / product);
        if (trials < r->trials) {
            r->trials = trials;
            best = i + 1;
        }
    }
    r->n = best;
}

/* The greatest common divisor; *inverse of a modulo q where that is 1. */
static uint64_t egh_divisor(uint64_t a, uint64_t q, uint64_t *inverse)
{
    int64_t x = 0, next_x = 1;
    uint64_t r = q, next = a % q;
    while (next != 0) {
        uint64_t times = r / next, rest = r % next;
        int64_t rest_x = x - (int64_t)times * next_x;
        r = next, next = rest;
        x = next_x, next_x = rest_x;
    }
    *inverse = x < 0 ? q - (uint64_t)-x : (uint64_t)x;
    return r;
}

/* Returns whether this modulus has a factor in common with an earlier one, as
 * in a forged table. */
static bool egh_common(const egh_route *r, uint32_t n, uint64_t q)
{
    uint64_t inverse;
    for (uint32_t i = 0; i < n; i++)
        if (egh_divisor(r->level[i].block.q, q, &inverse) != 1)
            return true;
    return false;
}

static void egh_drop_common(egh_route *r)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->n; i++)
        if (!egh_common(r, kept, r->level[i].block.q))
            r->level[kept++] = r->level[i];
    r->n = kept;
}

static egh_route egh_plan_route(const void *image)
{
    egh_route r = { .n = 0 };
    egh_block b = egh_start();
    for (uint64_t i = 0; i < egh_k(image) && egh_next(&b, image, i); i++) {
        egh_level one = { .block = b };
        one.set = egh_set_between(egh_row(image), b.at, b.at + b.q,
                                  egh_width(image));
        r.empty |= one.set == 0;
        one.worth = log((double)one.set + 1) / log((double)b.q);
        if (b.q <= UINT32_MAX)
            egh_consider(&r, &one);
    }
    egh_drop_common(&r);
    egh_cut(&r, egh_last(image));
    return r;
}

/* Returns how many keys may be found before there are certainly too many. */
static uint64_t egh_room(const void *image)
{
    uint64_t capacity = image_u64(image, IMAGE_CAPACITY);
    return capacity < EGH_FOUND ? capacity : EGH_FOUND;
}

static uint64_t egh_residues(const egh_route *r)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < r->n; i++)
        n += r->level[i].set;
    return n;
}

/* Returns whether there is nothing to search, or too much. */
static bool egh_idle(const void *image, const egh_route *r)
{
    return egh_k(image) == 1 || r->empty || r->trials > EGH_TRIALS;
}

uint64_t egh_list_scratch(const void *image)
{
    egh_route r = egh_plan_route(image);
    uint64_t words = egh_idle(image, &r) ? 0 : egh_room(image)
                                               + egh_residues(&r);
    return 64 + words * sizeof(uint64_t);
}

/* ---- The search -------------------------------------------------------- */

/* A level on the way: the product of the moduli before it, its inverse modulo
 * q, and the residues that are set. */
typedef struct {
    uint64_t        q, before, inverse, set;
    const uint64_t *residue;
} egh_step;

typedef struct {
    const void *image;
    egh_step    step[EGH_LEVELS];
    uint32_t    steps;
    uint64_t    last, product;          /* the largest integer; of all moduli,
                                           or 0 if that is larger            */
    uint64_t    looks;                  /* blocks that were asked            */
    uint64_t   *found, n, room;
} egh_search;

/* Takes the residues of a block, at most `most`, which is their number when the
 * scratch size was computed. Returns how many. */
static uint64_t egh_take_residues(const void *image, const egh_block *b,
                                  uint64_t *out, uint64_t most)
{
    uint64_t n = 0;
    for (uint64_t r = 0; r < b->q && n < most; r++)
        if (egh_held(egh_row(image), b->at + r, egh_width(image)))
            out[n++] = r;
    return n;
}

/* A product, or 0 where it is above any integer. */
static uint64_t egh_product(uint64_t a, uint64_t b)
{
    uint64_t product = 0;
    return sizes_mul(&product, a, b) ? product : 0;
}

/* Once the product is above any integer nothing is left to be told apart. */
static void egh_begin(egh_search *s, const egh_route *r, uint64_t *scratch)
{
    s->product = 1;
    for (; s->steps < r->n && s->product != 0; s->steps++) {
        const egh_level *level = &r->level[s->steps];
        egh_step *step = &s->step[s->steps];
        *step = (egh_step){ .q = level->block.q, .before = s->product,
                            .residue = scratch };
        step->set = egh_take_residues(s->image, &level->block, scratch,
                                      level->set);
        scratch += level->set;
        (void)egh_divisor(s->product, step->q, &step->inverse);
        s->product = egh_product(s->product, step->q);
    }
    s->found = scratch;
}

/* egh_contains(), with an eye on how many blocks it takes. */
static bool egh_query(egh_search *s, uint64_t x)
{
    const uint8_t *row = egh_row(s->image);
    egh_block b = egh_start();
    uint64_t i = 0;
    bool held = true;
    for (; i < egh_k(s->image) && held; i++)
        held = egh_next(&b, s->image, i)
            && egh_held(row, egh_bit(&b, x), egh_width(s->image));
    s->looks += i;
    return held;
}

/* Looks up x, x + M, x + 2M … and keeps those that are there. False: there are
 * too many, or it takes too long. */
static bool egh_query_all(egh_search *s, uint64_t x)
{
    for (;; x += s->product) {
        if (egh_query(s, x)) {
            if (s->n == s->room)
                return false;
            s->found[s->n++] = x;
        }
        if (s->looks > EGH_LOOKS)
            return false;
        if (s->product == 0 || s->last - x < s->product)
            return true;
    }
}

/* All numbers that are x modulo the product of the steps before this one. */
static bool egh_walk(egh_search *s, uint32_t at, uint64_t x)
{
    if (at == s->steps)
        return egh_query_all(s, x);
    const egh_step *step = &s->step[at];
    uint64_t here = x % step->q, most = (s->last - x) / step->before;
    for (uint64_t i = 0; i < step->set; i++) {
        uint64_t ahead = step->residue[i] + step->q - here;
        uint64_t times = ahead % step->q * step->inverse % step->q;
        if (times <= most && !egh_walk(s, at + 1, x + times * step->before))
            return false;
    }
    return true;
}

/* ---- The slot ---------------------------------------------------------- */

static bool egh_tell(uint64_t x, bly_visit_key *visit, void *context)
{
    bly_listed one = { .hash = x, .side = 1 };
    return visit(context, &one);
}

/* A bit for each integer. */
static bly_status egh_list_row(const void *image, bly_visit_key *visit,
                               void *context)
{
    const uint8_t *row = egh_row(image);
    for (uint64_t x = 0; x < egh_m(image); x++)
        if (egh_held(row, x, egh_width(image)) && !egh_tell(x, visit, context))
            break;
    return BLY_OK;
}

/* Returns whether a counter is saturated. Remains of removed keys in it may
 * make other keys appear. */
static bool egh_stuck(const void *image)
{
    uint32_t width = egh_width(image);
    if (width == 1 || egh_keys_in(image) != EGH_KEYS_UNKNOWN)
        return false;
    for (uint64_t i = 0; i < egh_m(image); i++)
        if (counters_get(egh_row(image), i, width) == counters_max(width))
            return true;
    return false;
}

static bly_status egh_too_far(double trials)
{
    return status_fail(BLY_EFULL, "listing the keys would take %.3g queries, "
                       "which is too many: store the keys elsewhere, or build "
                       "for a smaller universe= or fewer keys", trials);
}

static bly_status egh_crowded(const void *image)
{
    return status_fail(BLY_EFULL, "the filter matches more integers than the "
                       "%llu up to which it is exact, so keys cannot be "
                       "distinguished from false positives: build it for more "
                       "keys", (unsigned long long)egh_room(image));
}

bly_status egh_list(const void *image, void *scratch, const kind_hasher *hasher,
                    bly_visit_key *visit, void *context)
{
    egh_route r = egh_plan_route(image);
    egh_search s = { .image = image, .room = egh_room(image),
                     .last = image_geometry(image, EGH_UNIVERSE) - 1 };
    (void)hasher;
    if (egh_k(image) == 1)
        return egh_list_row(image, visit, context);
    if (r.empty)
        return BLY_OK;
    if (r.trials > EGH_TRIALS)
        return egh_too_far(r.trials);
    egh_begin(&s, &r, scratch);
    bool all = egh_walk(&s, 0, 0);
    if (s.looks > EGH_LOOKS)
        return egh_too_far(r.trials);
    if (egh_stuck(image))
        return status_fail(BLY_EFULL, "counters are at their largest value, so "
                           "removed keys cannot be distinguished from keys: "
                           "build it with larger counters (bits=)");
    if (!all)
        return egh_crowded(image);
    for (uint64_t i = 0; i < s.n && egh_tell(s.found[i], visit, context); )
        i++;
    return BLY_OK;
}
