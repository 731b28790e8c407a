/* rounds.c - hashes that no other line can have drop out, round by round.
 *
 * WHAT IT IS
 *
 * Which of the keys on P ranks come more than once? All ranks together hold a
 * Bloom filter with one hash function, of which each owns a range of the
 * positions: a distributed single-shot filter. A key whose position nobody
 * else has hit is the only one of its kind and leaves the game; the others go
 * on to the next round, with another hash function and a filter of their size.
 *
 * THE PICTURE
 *
 *      positions     |-- of rank 0 ------|-- of rank 1 ------|-- of rank 2 --
 *      rank 0 has       x     x   x            x   x                x
 *      rank 1 has         x   x              x       x         x
 *      rank 2 has      x        x              x                    x     x
 *      hit twice              2                2                    2
 *
 * Each rank sends each owner the positions it has there, sorted, as gaps
 * (bly_gaps_pack); the owner answers with a bit for each, in their order, or
 * with the list of the ones that are set, if that is shorter. Owners go
 * through their range in segments that fit a cache, reading all lists side by
 * side, so they need no memory for it. Of a filter so fine that most of a
 * segment would be empty, longer segments are sorted instead: the time is that
 * of the values then, however many positions there are.
 *
 * HASHES
 *
 * A rank keeps 64 bits for each key, and nothing else: no key, no line number.
 * Before each round all are mixed once more, by a bijection: so they are
 * another hash function's, and those that were equal stay equal. They are
 * sorted in their place; a position is the high half of hash * positions,
 * which rises with the hash, so the positions are sorted too. Of equal hashes
 * two are kept, which tells that this rank has the key twice. Hashes of one
 * rank that hit the same position are in doubt, whatever the owner says.
 *
 * In the end the array is the set of hashes in doubt: the lines are read once
 * more, and those whose hash is not in it are unique for certain.
 *
 * WITHOUT AN EXACT STEP
 *
 * Where a rate of errors is given, rounds go on until no more than this share
 * of the unique keys is still in doubt, and no key is ever sent. Which lines
 * are repeated is known then, at the rate, but not which are equal. For the
 * first of equal ones the last round is asked for more: its owners say of a
 * position not whether another rank has it, but whether an *earlier* one does,
 * as they learn when they go through the lists in the order of the ranks, which
 * is that of the lines. In the array are then
 *
 *      once     hashes that an earlier rank has: none of their lines is first
 *      twice    hashes that this rank alone has so far, and several times: the
 *               first of their lines is the first of all
 *
 * and all others have one line here, which is the first. The first of equal
 * lines is lost only where an earlier rank hits its position by chance, so that
 * this round alone must keep the rate: rounds before tell nothing of a key that
 * does come again.
 *
 * How many errors there are is measured, too. An owner knows which share p of
 * its positions the ranks before have taken; a key that comes for the first
 * time is taken for a later one with this chance, so that A of them that were
 * not are a sign of A p / (1 - p) that were.
 */
#include "mpi/dedup.h"

#include <bloomery/gaps.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "frame/mix.h"
#include "frame/sort.h"

/* Positions of a segment, as bits. From this many positions per value on,
 * sorting is less work than clearing bits. About this many values are sorted at
 * once, in segments short enough that a rank fits beside a position. */
enum {
    ROUNDS_SEGMENT = 1 << 18,
    ROUNDS_FINE = 1 << 11,
    ROUNDS_SORTED = 1 << 12
};
#define ROUNDS_WIDEST (UINT64_C(1) << 40)

/* ==== Hashes ============================================================ */

void rounds_add(rounds *r, uint64_t hash)
{
    if (r->n == r->room) {
        r->room = r->room == 0 ? 4096 : 2 * r->room;
        r->hashes = job_memory(r->hashes, r->room * sizeof *r->hashes);
    }
    r->hashes[r->n++] = hash;
}

void rounds_free(rounds *r)
{
    free(r->hashes);
    free(r->starts);
    free(r->met);
    memset(r, 0, sizeof *r);
}

/* ==== Steps ============================================================= */

static void rounds_step(rounds *r)
{
    for (size_t i = 0; i < r->n; i++)
        r->hashes[i] = mix_hash(r->hashes[i]);
    sort_words(r->hashes, r->n, 64, 0);
    r->steps++;
}

/* Keeps at most two of equal hashes. */
static void rounds_thin(rounds *r)
{
    size_t n = 0;

    for (size_t i = 0; i < r->n; i++)
        if (n < 2 || r->hashes[i] != r->hashes[n - 2])
            r->hashes[n++] = r->hashes[i];
    r->n = n;
}

/* Returns the number of distinct hashes over all ranks, and how many of them
 * their own rank has twice. Collective. */
static uint64_t rounds_elements(const rounds *r, uint64_t *twice)
{
    uint64_t same = 0;

    for (size_t i = 1; i < r->n; i++)
        same += r->hashes[i] == r->hashes[i - 1];
    *twice = job_sum(same);
    return job_sum(r->n - same);
}

/* ==== A round: asking =================================================== */

typedef struct {
    rounds_about *about;
    bool      earlier;          /* ask for earlier ranks only              */
    uint64_t  width;            /* positions per owner                     */
    uint64_t *sent;             /* values sent to each owner               */
    job_bytes *to;              /* a message for each rank                 */
    job_bytes in;               /* messages received from all              */
    size_t   *begin;
} rounds_way;

static uint64_t rounds_position(const rounds_way *w, uint64_t hash)
{
    return mix_range(hash, w->about->positions);
}

/* Returns the first hash from index i on whose position is at least `end`. */
static size_t rounds_until(const rounds *r, const rounds_way *w, size_t i,
                           uint64_t end)
{
    size_t to = r->n;

    while (i < to) {
        size_t middle = i + (to - i) / 2;

        if (rounds_position(w, r->hashes[middle]) < end)
            i = middle + 1;
        else
            to = middle;
    }
    return i;
}

/* Appends a list of numbers below `range` to the message. */
static void rounds_put(job_bytes *message, const uint64_t *numbers, size_t n,
                       uint64_t range)
{
    size_t room = bly_gaps_room(n, range, 0), before = message->n, bytes;
    unsigned char *into = exchange_extend(message, room);

    if (bly_gaps_pack(into, room, &bytes, numbers, n, range, 0) < 0)
        job_give_up(filter_why());
    message->n = before + bytes;
}

/* Collects the distinct positions for each owner. */
static void rounds_collect(const rounds *r, rounds_way *w)
{
    uint64_t *numbers = NULL;
    size_t i = 0;

    for (int owner = 0; owner < job_ranks; owner++) {
        uint64_t first = (uint64_t)owner * w->width;
        size_t end = rounds_until(r, w, i, first + w->width), n = 0;

        numbers = job_memory(numbers, (end - i) * sizeof *numbers);
        for (; i < end; i++) {
            uint64_t number = rounds_position(w, r->hashes[i]) - first;

            if (n == 0 || number != numbers[n - 1])
                numbers[n++] = number;
        }
        w->sent[owner] = n;
        rounds_put(&w->to[owner], numbers, n, w->width);
    }
    free(numbers);
}

/* Exchanges all messages. *bytes is the number of bytes sent to others by all.
 */
static void rounds_exchange(rounds_way *w, uint64_t *bytes)
{
    uint64_t before = exchange_sent;

    exchange_all(w->to, &w->in, w->begin);
    for (int rank = 0; rank < job_ranks; rank++)
        exchange_free(&w->to[rank]);
    *bytes = job_sum(exchange_sent - before);
}

/* ==== A round: answering ================================================ */

/* A reader of one rank's list. */
typedef struct {
    bly_gaps list;
    uint64_t number, n, at;     /* the next number, index `at` of n        */
    bool     there;
    unsigned char *twice;       /* one bit per number                      */
    uint64_t set;               /* how many of them are set                */
    uint64_t taken, before;     /* positions this rank is the first to take;
                                   those that earlier ranks have taken     */
} rounds_list;

/* Positions of a segment that were taken once, and twice. */
typedef struct {
    unsigned char seen[ROUNDS_SEGMENT / 8], twice[ROUNDS_SEGMENT / 8];
} rounds_segment;

static void rounds_advance(rounds_list *l)
{
    l->there = bly_gaps_next(&l->list, &l->number);
}

static bool rounds_bit(const unsigned char *bits, uint64_t at)
{
    return bits[at / 8] >> at % 8 & 1;
}

static void rounds_set(unsigned char *bits, uint64_t at)
{
    bits[at / 8] |= (unsigned char)(1 << at % 8);
}

static rounds_list *rounds_lists(const rounds_way *w)
{
    rounds_list *lists = job_memory(NULL, (size_t)job_ranks * sizeof *lists);

    for (int rank = 0; rank < job_ranks; rank++) {
        rounds_list *l = &lists[rank];
        size_t from = w->begin[rank];

        memset(l, 0, sizeof *l);
        if (bly_gaps_open(&l->list, w->in.bytes + from,
                          w->begin[rank + 1] - from, w->width) < 0)
            job_give_up(filter_why());
        l->n = l->list.left;
        l->twice = job_memory(NULL, (size_t)(l->n / 8 + 1));
        memset(l->twice, 0, (size_t)(l->n / 8 + 1));
        rounds_advance(l);
    }
    return lists;
}

/* Answers the current number. */
static void rounds_say(rounds_list *l, bool twice)
{
    if (twice) {
        rounds_set(l->twice, l->at);
        l->set++;
    }
    l->at++;
}

/* Finds the positions of the segment that several lists contain. Reads ahead
 * with copies of the readers, then answers with the readers themselves. Returns
 * the number of positions that any list contains. */
static uint64_t rounds_look(rounds_list *lists, rounds_segment *s,
                            uint64_t first)
{
    uint64_t end = first + ROUNDS_SEGMENT, taken = 0;

    memset(s, 0, sizeof *s);
    for (int rank = 0; rank < job_ranks; rank++)
        for (rounds_list l = lists[rank]; l.there && l.number < end;
             rounds_advance(&l)) {
            bool again = rounds_bit(s->seen, l.number - first);

            rounds_set(again ? s->twice : s->seen, l.number - first);
            taken += !again;
        }
    for (int rank = 0; rank < job_ranks; rank++)
        for (rounds_list *l = &lists[rank]; l->there && l->number < end;
             rounds_advance(l))
            rounds_say(l, rounds_bit(s->twice, l->number - first));
    return taken;
}

/* Like rounds_look, but answers whether an earlier list has the position. */
static uint64_t rounds_look_back(rounds_list *lists, rounds_segment *s,
                                 uint64_t first)
{
    uint64_t end = first + ROUNDS_SEGMENT, taken = 0;

    memset(s->seen, 0, sizeof s->seen);
    for (int rank = 0; rank < job_ranks; rank++) {
        rounds_list *l = &lists[rank];

        l->before += taken;
        for (; l->there && l->number < end; rounds_advance(l)) {
            bool again = rounds_bit(s->seen, l->number - first);

            rounds_set(s->seen, l->number - first);
            rounds_say(l, again);
            taken += !again;
        }
    }
    return taken;
}

/* Appends the answer to a list: a byte 0 and the bits, or 1 and a list of the
 * set ones. */
static void rounds_reply(job_bytes *message, const rounds_list *l)
{
    size_t bytes = (size_t)(l->n / 8 + (l->n % 8 != 0)), set = 0;
    uint64_t *numbers;

    if (l->n == 0)
        return;
    *exchange_extend(message, 1) = 1;
    if (l->set < l->n / 3) {
        numbers = job_memory(NULL, (size_t)l->set * sizeof *numbers);
        for (uint64_t i = 0; i < l->n; i++)
            if (rounds_bit(l->twice, i))
                numbers[set++] = i;
        rounds_put(message, numbers, set, l->n);
        free(numbers);
    }
    if (l->set >= l->n / 3 || message->n > bytes + 1) {
        message->n = 0;
        *exchange_extend(message, 1) = 0;
        memcpy(exchange_extend(message, bytes), l->twice, bytes);
    }
}

/* Gathers all numbers of lists below `end`, as 2^24 * (number - first) + rank,
 * in order. */
static void rounds_gather(rounds_list *lists, job_bytes *gathered,
                          uint64_t first, uint64_t end)
{
    gathered->n = 0;
    for (int rank = 0; rank < job_ranks; rank++)
        for (rounds_list *l = &lists[rank]; l->there && l->number < end;
             rounds_advance(l)) {
            uint64_t entry = (l->number - first) << 24 | (unsigned)rank;

            memcpy(exchange_extend(gathered, sizeof entry), &entry,
                   sizeof entry);
        }
    if (gathered->n > 0)
        sort_words((uint64_t *)(void *)gathered->bytes,
                   gathered->n / sizeof(uint64_t), 64, 0);
}

/* Does the work of rounds_look and rounds_look_back on a sorted segment: equal
 * numbers are neighbours, the earliest rank first, and those of one list are in
 * order. */
static uint64_t rounds_look_sorted(rounds_list *lists,
                                   const job_bytes *gathered, bool earlier)
{
    const uint64_t *e = (const uint64_t *)(const void *)gathered->bytes;
    size_t n = gathered->n / sizeof *e;
    uint64_t taken = 0;

    for (size_t i = 0; i < n; i++) {
        rounds_list *l = &lists[e[i] & 0xffffff];
        bool before = i > 0 && e[i - 1] >> 24 == e[i] >> 24;
        bool behind = i + 1 < n && e[i + 1] >> 24 == e[i] >> 24;

        rounds_say(l, before || (!earlier && behind));
        l->taken += !before;
        taken += !before;
    }
    return taken;
}

/* Handles all positions of a fine filter. Returns how many any list contains.
 */
static uint64_t rounds_sort(rounds_list *lists, const rounds_way *w,
                            uint64_t values)
{
    double range = (double)w->width / (double)(values + 1) * ROUNDS_SORTED;
    uint64_t segment = range < (double)ROUNDS_WIDEST ? (uint64_t)range
                                                     : ROUNDS_WIDEST;
    job_bytes gathered = { NULL, 0, 0 };
    uint64_t taken = 0, before = 0;

    for (uint64_t at = 0; at < w->width; at += segment) {
        rounds_gather(lists, &gathered, at, at + segment);
        taken += rounds_look_sorted(lists, &gathered, w->earlier);
    }
    for (int rank = 0; rank < job_ranks; rank++) {
        lists[rank].before = before;
        before += lists[rank].taken;
    }
    exchange_free(&gathered);
    return taken;
}

/* Handles all positions as bits. Returns how many any list contains. */
static uint64_t rounds_mark(rounds_list *lists, const rounds_way *w)
{
    rounds_segment *segment = job_memory(NULL, sizeof *segment);
    uint64_t taken = 0;

    for (uint64_t at = 0; at < w->width; at += ROUNDS_SEGMENT)
        taken += (w->earlier ? rounds_look_back : rounds_look)(lists, segment,
                                                               at);
    free(segment);
    return taken;
}

/* Returns how many of this many numbers hit, by chance, a position that an
 * earlier rank has taken. */
static double rounds_lost(const rounds_list *l, uint64_t width)
{
    double taken = (double)l->before / (double)width;

    return taken < 1 ? (double)(l->n - l->set) * taken / (1 - taken) : 0;
}

/* Returns the predicted bits of the answer to a list. */
static double rounds_answer_bits(const rounds_list *l)
{
    return l->n > 0 ? (double)l->n * volume_answer((double)l->set
                                                   / (double)l->n) : 0;
}

/* Answers all lists received, as an owner. */
static void rounds_answer(rounds_way *w)
{
    rounds_list *lists = rounds_lists(w);
    uint64_t values = 0, taken;
    double lost = 0, bits = 0;

    for (int rank = 0; rank < job_ranks; rank++)
        values += lists[rank].n;
    taken = w->width / ROUNDS_FINE > values ? rounds_sort(lists, w, values)
                                            : rounds_mark(lists, w);
    for (int rank = 0; rank < job_ranks; rank++) {
        if (bly_gaps_end(&lists[rank].list) < 0)
            job_give_up(filter_why());
        bits += rank != job_rank ? rounds_answer_bits(&lists[rank]) : 0;
        lost += rounds_lost(&lists[rank], w->width);
        rounds_reply(&w->to[rank], &lists[rank]);
        free(lists[rank].twice);
    }
    w->about->answer_bits = job_add(bits);
    w->about->chance = (double)job_sum(taken) / (double)w->about->positions;
    w->about->lost = job_add(lost);
    free(lists);
}

/* ==== A round: what is left ============================================= */

/* Decodes the answer to n values; the caller frees the bits. */
static unsigned char *rounds_unpack(const unsigned char *from, size_t bytes,
                                    uint64_t n)
{
    unsigned char *bits = job_memory(NULL, (size_t)(n / 8 + 1));
    uint64_t number;
    bly_gaps list;

    memset(bits, 0, (size_t)(n / 8 + 1));
    if (n == 0)
        return bits;
    if (from[0] == 0) {
        memcpy(bits, from + 1, bytes - 1);
        return bits;
    }
    if (bly_gaps_open(&list, from + 1, bytes - 1, n) < 0)
        job_give_up(filter_why());
    while (bly_gaps_next(&list, &number))
        rounds_set(bits, number);
    return bits;
}

/* Handles hashes [from, to), which are sorted and share a position, given
 * whether an earlier rank has it. Stores them from index `kept` on and returns
 * where they end. */
static size_t rounds_tell(rounds *r, size_t from, size_t to, size_t kept,
                          bool earlier)
{
    for (size_t next; from < to; from = next) {
        uint64_t hash = r->hashes[from];

        for (next = from + 1; next < to && r->hashes[next] == hash; )
            next++;
        if (earlier || next - from > 1)
            r->hashes[kept++] = hash;
        if (!earlier && next - from > 1)
            r->hashes[kept++] = hash;
    }
    return kept;
}

/* Keeps the hashes in doubt among those from i to `end`, for which one owner
 * has answered. Returns where they end. */
static size_t rounds_keep(rounds *r, const rounds_way *w, size_t i, size_t end,
                          size_t kept, const unsigned char *bits)
{
    for (uint64_t value = 0; i < end; value++) {
        uint64_t position = rounds_position(w, r->hashes[i]);
        size_t next = i + 1;

        while (next < end && rounds_position(w, r->hashes[next]) == position)
            next++;
        if (w->earlier) {
            kept = rounds_tell(r, i, next, kept, rounds_bit(bits, value));
        } else if (next - i > 1 || rounds_bit(bits, value)) {
            memmove(r->hashes + kept, r->hashes + i,
                    (next - i) * sizeof *r->hashes);
            kept += next - i;
        }
        i = next;
    }
    return kept;
}

static void rounds_apply(rounds *r, const rounds_way *w)
{
    size_t i = 0, kept = 0;

    for (int owner = 0; owner < job_ranks; owner++) {
        size_t from = w->begin[owner];
        size_t end = rounds_until(r, w, i, ((uint64_t)owner + 1) * w->width);
        unsigned char *bits = rounds_unpack(w->in.bytes + from,
                                            w->begin[owner + 1] - from,
                                            w->sent[owner]);

        kept = rounds_keep(r, w, i, end, kept, bits);
        i = end;
        free(bits);
    }
    r->n = kept;
}

/* ==== All rounds ======================================================== */

/* Predicts the bytes sent from the number of values. */
static void rounds_predict(const rounds_way *w)
{
    rounds_about *about = w->about;
    uint64_t mine = 0, others;
    double bits;

    for (int owner = 0; owner < job_ranks; owner++)
        mine += w->sent[owner];
    others = mine - w->sent[job_rank];
    bits = (double)others * volume_gap((double)mine
                                       / (double)about->positions);
    about->values = job_sum(others);
    about->value_bits = job_add(bits) / fmax(1, (double)about->values);
    about->answer_bits /= fmax(1, (double)about->values);
}

uint64_t rounds_one(rounds *r, uint64_t positions, bool earlier)
{
    size_t ranks = (size_t)job_ranks;
    rounds_about *about = &r->about[r->rounds];
    rounds_way w = { .about = about, .earlier = earlier };
    uint64_t twice;

    w.width = positions / ranks + (positions % ranks != 0);
    if (r->rounds++ > 0)
        rounds_step(r);
    about->positions = positions;
    about->elements = rounds_elements(r, &twice);
    about->f = (double)about->elements / (double)positions;
    w.to = job_memory(NULL, ranks * sizeof *w.to);
    memset(w.to, 0, ranks * sizeof *w.to);
    w.sent = job_memory(NULL, ranks * sizeof *w.sent);
    w.begin = job_memory(NULL, (ranks + 1) * sizeof *w.begin);
    rounds_collect(r, &w);
    rounds_exchange(&w, &about->value_bytes);
    rounds_answer(&w);
    rounds_exchange(&w, &about->answer_bytes);
    rounds_apply(r, &w);
    rounds_predict(&w);
    exchange_free(&w.in);
    free(w.to);
    free(w.sent);
    free(w.begin);
    about->left = rounds_elements(r, &twice);
    return twice;
}

/* Handles a single rank, which alone knows what it has twice. */
static void rounds_alone(rounds *r)
{
    size_t n = 0;

    for (size_t i = 0; i + 1 < r->n; i++)
        if (r->hashes[i] == r->hashes[i + 1]) {
            r->hashes[n++] = r->hashes[i];
            r->hashes[n++] = r->hashes[i++];
        }
    r->n = n;
}

/* Estimates the share of repeated elements among those left, from the excess
 * over what would be left without them. */
static double rounds_repeated(const rounds_about *a, uint64_t twice)
{
    double lucky = volume_left(0, (double)a->elements / (double)a->positions);
    double repeated = ((double)a->left - lucky * (double)a->elements)
                    / (1 - lucky);

    return fmin(1, fmax((double)twice, repeated) / fmax(1, (double)a->left));
}

/* Computes the expected errors without an exact step. The unique keys that were
 * removed are a share 1 - `chance` of all. */
static void rounds_sum_up(rounds *r, const rounds_goal *goal, double chance)
{
    if (goal->rate > 0 && r->rounds > 0) {
        const rounds_about *last = &r->about[r->rounds - 1];

        r->lost = goal->first ? last->lost
                : chance < 1 ? (double)(r->about->elements - last->left)
                               * chance / (1 - chance)
                : (double)last->left;
    }
    r->met = job_memory(NULL, r->n / 8 + 1);
    memset(r->met, 0, r->n / 8 + 1);
}

/* Indexes the array by the top bits of the hashes, for rounds_find. */
static void rounds_index(rounds *r)
{
    size_t i = 0;

    while (r->bits < 32 && (size_t)1 << r->bits < r->n)
        r->bits++;
    r->starts = job_memory(NULL, (((size_t)1 << r->bits) + 1)
                                 * sizeof *r->starts);
    for (uint64_t top = 0; top <= UINT64_C(1) << r->bits; top++) {
        while (i < r->n && mix_range(r->hashes[i],
                                        UINT64_C(1) << r->bits) < top)
            i++;
        r->starts[top] = i;
    }
}

void rounds_begin(rounds *r)
{
    rounds_step(r);
    rounds_thin(r);
}

/* Plans the next round; f is 0 if there is none. `chance` is the share of
 * unique keys still left. */
static volume_next rounds_plan(const rounds *r, const rounds_goal *goal,
                               double elements, double repeated, double chance)
{
    unsigned more = ROUNDS_MOST - 1 - (unsigned)r->rounds;

    if (goal->rate > 0)
        return volume_plan_rate(job_ranks, elements, repeated,
                                goal->first ? goal->rate
                                            : goal->rate / chance,
                                goal->first, more);
    return (volume_next){ volume_plan(job_ranks, elements, repeated,
                                      goal->key_bits), false };
}

/* Returns the number of positions for at most f elements each, such that owners
 * share them evenly. */
static uint64_t rounds_positions(double elements, double f)
{
    return ((uint64_t)(elements / f / job_ranks) + 1) * (uint64_t)job_ranks;
}

void rounds_run(rounds *r, const rounds_goal *goal)
{
    uint64_t elements, twice;
    double repeated, chance = 1;

    rounds_begin(r);
    elements = rounds_elements(r, &twice);
    repeated = (double)twice / fmax(1, (double)elements);
    if (job_ranks == 1)
        rounds_alone(r);
    while (job_ranks > 1 && r->rounds < ROUNDS_MOST && elements > 0) {
        rounds_about *about = &r->about[r->rounds];
        volume_next next = rounds_plan(r, goal, (double)elements, repeated,
                                       chance);

        if (!(next.f > 0))
            break;
        twice = rounds_one(r, rounds_positions((double)elements, next.f),
                           goal->first && next.last);
        elements = about->left;
        repeated = rounds_repeated(about, twice);
        chance *= about->chance;
        if (next.last || (!goal->first && chance <= goal->rate))
            break;
    }
    rounds_sum_up(r, goal, chance);
    rounds_index(r);
}

/* Returns the index of a hash, or r->n. */
static size_t rounds_find(const rounds *r, uint64_t hash)
{
    size_t at, end;
    uint64_t top;

    for (unsigned i = 0; i < r->steps; i++)
        hash = mix_hash(hash);
    top = mix_range(hash, UINT64_C(1) << r->bits);
    at = r->starts[top];
    end = r->starts[top + 1];
    while (at < end && r->hashes[at] < hash)
        at++;
    return at < end && r->hashes[at] == hash ? at : r->n;
}

bool rounds_doubt(const rounds *r, uint64_t hash)
{
    return rounds_find(r, hash) < r->n;
}

bool rounds_again(rounds *r, uint64_t hash)
{
    size_t at = rounds_find(r, hash);
    bool again;

    if (at == r->n)
        return false;
    if (at + 1 == r->n || r->hashes[at + 1] != r->hashes[at])
        return true;                    /* an earlier rank has it */
    again = rounds_bit(r->met, at);
    rounds_set(r->met, at);
    return again;
}
