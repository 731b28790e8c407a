/* runs.c - rows of sorted fingerprints, each near where it would like to be.
 */
#include "bodies/runs.h"
#include "base/task.h"

#define RUNS_FIELDS(r)                                                         \
    (((UINT64_C(1) << ((r) * (57 / (r)))) - 1) / ((UINT64_C(1) << (r)) - 1))
#define RUNS_FIELDS_8(r)                                                       \
    RUNS_FIELDS(r), RUNS_FIELDS((r) + 1), RUNS_FIELDS((r) + 2),                \
    RUNS_FIELDS((r) + 3), RUNS_FIELDS((r) + 4),                                \
    RUNS_FIELDS((r) + 5), RUNS_FIELDS((r) + 6), RUNS_FIELDS((r) + 7)

const uint64_t runs_fields[RUNS_R_MAX + 1] = {
    0, RUNS_FIELDS_8(1), RUNS_FIELDS_8(9), RUNS_FIELDS_8(17),
    RUNS_FIELDS_8(25), RUNS_FIELDS_8(33), RUNS_FIELDS_8(41),
    RUNS_FIELDS_8(49),
};

/* ---- Where runs are ---------------------------------------------------- */

static uint64_t runs_end(const runs_view *v, uint64_t from, uint64_t k)
{
    return runs_end_by(v, from, k, false);
}

/* Returns the end of the runs of this block's quotients, which is at least the
 * next block's start, if those of earlier quotients end at `at`. */
static uint64_t runs_pass(const runs_view *v, uint64_t block, uint64_t at)
{
    uint64_t runs = platform_popcount(
        image_u64(runs_block(v, block), RUNS_OCCUPIED));
    if (runs > 0)
        at = runs_end(v, at, runs) + 1;
    if (at < (block + 1) * RUNS_BLOCK)
        at = (block + 1) * RUNS_BLOCK;
    return at < v->space ? at : v->space;
}

uint64_t runs_begin(const runs_view *v, uint64_t block)
{
    uint64_t from = block, at;
    while (from > 0 && runs_block(v, from)[RUNS_SPILL] == RUNS_SPILL_MORE)
        from--;
    at = from * RUNS_BLOCK;
    if (from > 0)
        at += runs_block(v, from)[RUNS_SPILL];
    for (; from < block && at < v->space; from++)
        at = runs_pass(v, from, at);
    return at < v->space ? at : v->space;
}

/* Counts for all blocks in one walk, so that removals from a long row take
 * linear and not quadratic time. */
void runs_spills_less_far(const runs_view *v, uint64_t from, uint64_t to)
{
    uint64_t counted = from, at;
    while (runs_block(v, counted)[RUNS_SPILL] != RUNS_SPILL_MORE)
        counted++;                      /* `to` is one */
    at = runs_begin(v, counted);
    for (uint64_t block = from; block <= to; block++) {
        uint8_t *spill = &runs_block(v, block)[RUNS_SPILL];
        bool more = *spill == RUNS_SPILL_MORE
                 && at > block * RUNS_BLOCK + RUNS_SPILL_MORE;
        if (block >= counted)
            at = runs_pass(v, block, at);
        *spill = (uint8_t)(*spill - (*spill > 0 && !more));
    }
}

/* ---- The contents of a run --------------------------------------------- */

/* The number in the digits from slot `from` to `to`; what no filter writes may
 * be more than 64 bits hold, and is then the largest that will do. */
static uint64_t runs_digits(const runs_view *v, uint64_t from,
                            uint64_t to, uint64_t x)
{
    const uint64_t most = UINT64_MAX - RUNS_COPIES;
    uint64_t value = 0;
    for (uint64_t at = from; at < to; at++) {
        uint64_t digit = runs_get(v, at);
        if (at == from && digit == 0)
            digit = x;
        value = value > most >> v->r ? most : value << v->r | digit;
    }
    return value < most ? value : most;
}

runs_item runs_read(const runs_view *v, uint64_t at, uint64_t stop)
{
    uint64_t x = runs_get(v, at), next = at + 1;
    while (next < stop && runs_get(v, next) == x)
        next++;
    uint64_t copies = next - at;
    if (copies <= RUNS_COPIES)
        return (runs_item){ at, next, x, copies };
    uint64_t digits = copies - RUNS_COPIES, from = next;
    next = digits < stop - from ? from + digits : stop;
    return (runs_item){ at, next, x,
                        RUNS_COPIES + runs_digits(v, from, next, x) };
}

void runs_write(const runs_view *v, uint64_t at, uint64_t x, uint64_t count)
{
    uint64_t length = runs_length(count, v->r), digits = 0;
    if (count > RUNS_COPIES)
        digits = (length - RUNS_COPIES) / 2;
    for (uint64_t i = 0; i < length - digits; i++)
        runs_set(v, at + i, x);
    at += length - digits;
    uint64_t value = count - RUNS_COPIES;
    for (uint64_t d = digits; d-- > 0; value >>= v->r) {
        uint64_t digit = value & runs_low(v);
        runs_set(v, at + d, d == 0 && digit == x ? 0 : digit);
    }
}

runs_item runs_seek(const runs_view *v, const runs_run *run, uint64_t x)
{
    uint64_t at = run->start;
    while (at < run->stop) {
        runs_item item = runs_read(v, at, run->stop);
        if (item.remainder == x)
            return item;
        if (item.remainder > x)
            break;
        at = item.next;
    }
    return (runs_item){ at, at, x, 0 };
}

/* ---- All fingerprints in rising order ---------------------------------- */

/* The next occupied quotient's run; false at the end. */
static bool runs_next_run(runs_cursor *c)
{
    const runs_view *v = c->view;
    for (; c->quotient < v->slots; c->quotient |= RUNS_BLOCK - 1,
                                   c->quotient++) {
        uint64_t i = c->quotient % RUNS_BLOCK;
        const uint8_t *head = runs_block(v, c->quotient / RUNS_BLOCK);
        uint64_t occupied = image_u64(head, RUNS_OCCUPIED) >> i;
        if (occupied == 0)
            continue;
        c->quotient += runs_number(occupied & (~occupied + 1));
        break;
    }
    if (c->quotient >= v->slots)
        return false;
    c->at = c->at > c->quotient ? c->at : c->quotient;
    c->stop = runs_end(v, c->at, 1) + 1;
    c->sound &= c->stop <= v->space;
    return c->stop <= v->space;
}

bool runs_next(runs_cursor *c)
{
    const runs_view *v = c->view;
    for (;;) {
        bool first = c->at >= c->stop;
        if (first && c->visited++ % TASK_KEYS == 0 && task_step(TASK_KEYS))
            return false;
        if (first && !runs_next_run(c))
            return false;
        runs_item item = runs_read(v, c->at, c->stop);
        uint64_t quotient = first ? c->quotient++ : c->quotient - 1;
        uint64_t f = quotient << v->r | item.remainder;
        c->at = item.next;
        if (first || f > c->f) {
            c->f = f;
            c->count = item.count;
            return true;
        }
        c->sound = false;
    }
}
