/* verify.c - compares the remaining keys byte by byte.
 *
 * A key in doubt is sent to the rank that its hash chooses, so that equal keys
 * meet. Each rank sends a key once, and whether it has it more than once or, if
 * counts are wanted, how often. Keys arrive in the order of the ranks and,
 * within a rank, of its lines, so the first of equal keys is the first in the
 * input. Answers return in the order of the keys. When the same lines are read
 * again, each takes its answer in turn, so no line numbers are stored.
 *
 *     record    number 2 * length + (more than once), then the key
 *     answer    one bit per record: print this one? or, if counts are
 *               wanted, a number: how often it occurs, 0 for no
 *
 * Numbers have seven bits per byte, lowest first.
 */
#include "mpi/dedup.h"
#include "frame/mix.h"

#include <stdlib.h>
#include <string.h>


/* A key of a table. */
typedef struct {
    uint64_t hash, lines, records;
    uint64_t first;             /* index of its first record               */
    size_t   at;                /* offset of its record                    */
} verify_key;

/* Distinct keys in order of arrival. */
typedef struct {
    verify_key *keys;
    size_t   n, room;
    size_t  *slots;             /* index of a key plus 1; 0 if free        */
    size_t   mask;
} verify_table;

struct verify {
    verify_want want;
    const bly_filter *hasher;
    verify_table table;         /* this rank's lines, then records received */
    job_bytes *to;              /* records for each owner, then answers for each
                                   rank                                    */
    job_bytes in;
    size_t   *begin, *at;       /* start of each rank's data, and reading
                                   position                                */
    job_bytes firsts;           /* one bit per line in doubt: is it this rank's
                                   first with its key?                     */
    uint64_t  lines;            /* lines added or decided                  */
    uint64_t *bits;             /* answers taken from each owner           */
    verify_tally sum;
};

/* ==== Numbers and records =============================================== */

static void verify_put_number(job_bytes *b, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        *exchange_extend(b, 1) = (unsigned char)(number | 0x80);
    *exchange_extend(b, 1) = (unsigned char)number;
}

static uint64_t verify_get_number(const unsigned char *bytes, size_t *at)
{
    uint64_t number = 0;

    for (unsigned shift = 0; shift < 64; shift += 7) {
        unsigned char byte = bytes[(*at)++];

        number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            break;
    }
    return number;
}

static bly_key verify_get_key(const unsigned char *bytes, size_t *at,
                              bool *more)
{
    uint64_t number = verify_get_number(bytes, at);
    bly_key key = { bytes + *at, (size_t)(number >> 1) };

    *more = number & 1;
    *at += key.length;
    return key;
}

/* ==== A table =========================================================== */

static void verify_grow(verify_table *t)
{
    t->room = t->room == 0 ? 512 : 2 * t->room;
    t->keys = job_memory(t->keys, t->room * sizeof *t->keys);
    t->mask = 2 * t->room - 1;
    t->slots = job_memory(t->slots, 2 * t->room * sizeof *t->slots);
    memset(t->slots, 0, 2 * t->room * sizeof *t->slots);
    for (size_t i = 0; i < t->n; i++) {
        size_t slot = (size_t)t->keys[i].hash & t->mask;

        while (t->slots[slot] != 0)
            slot = (slot + 1) & t->mask;
        t->slots[slot] = i + 1;
    }
}

/* Returns whether this is the key of the record in `bytes`. */
static bool verify_equal(const verify_key *k, const unsigned char *bytes,
                         uint64_t hash, bly_key key)
{
    size_t at = k->at;
    bly_key other;
    bool more;

    if (k->hash != hash)
        return false;
    other = verify_get_key(bytes, &at, &more);
    return other.length == key.length
        && (key.length == 0 || memcmp(other.data, key.data, key.length) == 0);
}

/* Finds or adds the key; a new one has 0 records and its own at `at`. */
static verify_key *verify_find(verify_table *t, const unsigned char *bytes,
                               uint64_t hash, bly_key key, size_t at)
{
    size_t slot;

    if (t->n == t->room)
        verify_grow(t);
    slot = (size_t)hash & t->mask;
    for (; t->slots[slot] != 0; slot = (slot + 1) & t->mask)
        if (verify_equal(&t->keys[t->slots[slot] - 1], bytes, hash, key))
            return &t->keys[t->slots[slot] - 1];
    t->slots[slot] = ++t->n;
    t->keys[t->n - 1] = (verify_key){ .hash = hash, .at = at };
    return &t->keys[t->n - 1];
}

static void verify_close_table(verify_table *t)
{
    free(t->keys);
    free(t->slots);
    memset(t, 0, sizeof *t);
}

/* ==== This rank's lines ================================================= */

verify *verify_open(const verify_want *want, const bly_filter *hasher)
{
    size_t ranks = (size_t)job_ranks;
    verify *s = job_memory(NULL, sizeof *s);

    memset(s, 0, sizeof *s);
    s->want = *want;
    s->hasher = hasher;
    s->to = job_memory(NULL, ranks * sizeof *s->to);
    memset(s->to, 0, ranks * sizeof *s->to);
    s->begin = job_memory(NULL, (ranks + 1) * sizeof *s->begin);
    s->at = job_memory(NULL, ranks * sizeof *s->at);
    s->bits = job_memory(NULL, ranks * sizeof *s->bits);
    memset(s->bits, 0, ranks * sizeof *s->bits);
    return s;
}

static void verify_free_to(verify *s)
{
    for (int rank = 0; rank < job_ranks; rank++)
        exchange_free(&s->to[rank]);
}

void verify_close(verify *s)
{
    verify_close_table(&s->table);
    verify_free_to(s);
    exchange_free(&s->in);
    exchange_free(&s->firsts);
    free(s->to);
    free(s->begin);
    free(s->at);
    free(s->bits);
    free(s);
}

/* multiplies by a different constant than tables and rounds */
static size_t verify_owner(uint64_t hash)
{
    return (size_t)mix_range((hash ^ hash >> 32)
                             * UINT64_C(0xD1342543DE82EF95),
                             (uint64_t)job_ranks);
}

void verify_add(verify *s, uint64_t hash, bly_key key)
{
    job_bytes *to = &s->to[verify_owner(hash)];
    verify_key *k = verify_find(&s->table, to->bytes, hash, key, to->n);
    bool first = k->lines++ == 0;

    if (s->lines % 8 == 0)
        *exchange_extend(&s->firsts, 1) = 0;
    s->firsts.bytes[s->lines / 8] |= (unsigned char)(first << s->lines % 8);
    s->lines++;
    if (!first)
        return;
    verify_put_number(to, 2 * (uint64_t)key.length);
    if (key.length > 0)
        memcpy(exchange_extend(to, key.length), key.data, key.length);
}

/* ==== Between the ranks ================================================= */

static void verify_exchange(verify *s)
{
    exchange_all(s->to, &s->in, s->begin);
    verify_free_to(s);
}

/* Appends the number of lines with each key sent to an owner. */
static void verify_put_counts(verify *s)
{
    for (size_t i = 0; i < s->table.n; i++)
        verify_put_number(&s->to[verify_owner(s->table.keys[i].hash)],
                          s->table.keys[i].lines);
}

/* Reads all records into a table. Returns the key index of each, to be freed.
 */
static size_t *verify_read(verify *s)
{
    size_t *which = NULL, n = 0, room = 0;

    for (size_t at = 0; at < s->begin[job_ranks]; n++) {
        size_t start = at;
        bool more;
        bly_key key = verify_get_key(s->in.bytes, &at, &more);
        uint64_t hash = bly_hash(s->hasher, key.data, key.length);
        verify_key *k = verify_find(&s->table, s->in.bytes, hash, key, start);

        if (k->records++ == 0)
            k->first = n;
        k->lines += more ? 2 : 1;
        if (n == room) {
            room = room == 0 ? 512 : 2 * room;
            which = job_memory(which, room * sizeof *which);
        }
        which[n] = (size_t)(k - s->table.keys);
    }
    return which;
}

/* Sums up the counts that were sent with the records. */
static void verify_sum(verify *s, const size_t *which)
{
    for (size_t i = 0; i < s->table.n; i++)
        s->table.keys[i].lines = 0;
    for (size_t at = 0, i = 0; at < s->begin[job_ranks]; i++)
        s->table.keys[which[i]].lines += verify_get_number(s->in.bytes, &at);
}

bool verify_wanted(const verify_want *want, uint64_t count)
{
    return !(want->repeated && count == 1) && !(want->unique && count > 1);
}

/* Appends the answer to record i, the j-th of its rank. */
static void verify_put_answer(const verify *s, job_bytes *to,
                              const verify_key *k, uint64_t i, uint64_t j)
{
    bool print = k->first == i && verify_wanted(&s->want, k->lines);

    if (s->want.count) {
        verify_put_number(to, print ? k->lines : 0);
        return;
    }
    if (j % 8 == 0)
        *exchange_extend(to, 1) = 0;
    to->bytes[j / 8] |= (unsigned char)(print << j % 8);
}

static void verify_answer(verify *s, const size_t *which, const size_t *records)
{
    uint64_t i = 0;

    for (int rank = 0; rank < job_ranks; rank++)
        for (uint64_t j = 0; j < records[rank]; j++, i++) {
            const verify_key *k = &s->table.keys[which[i]];

            s->sum.sent++;
            s->sum.repeated += k->lines > 1;
            s->sum.again += k->first != i;
            verify_put_answer(s, &s->to[rank], k, i, j);
        }
}

/* Counts the records from each rank. */
static void verify_records(const verify *s, size_t *records)
{
    bool more;

    for (int rank = 0; rank < job_ranks; rank++) {
        records[rank] = 0;
        for (size_t at = s->begin[rank]; at < s->begin[rank + 1];
             records[rank]++)
            verify_get_key(s->in.bytes, &at, &more);
    }
}

void verify_run(verify *s)
{
    size_t *which, *records = job_memory(NULL, (size_t)job_ranks
                                               * sizeof *records);

    for (size_t i = 0; i < s->table.n; i++) {
        const verify_key *k = &s->table.keys[i];

        s->to[verify_owner(k->hash)].bytes[k->at] |= k->lines > 1;
    }
    verify_exchange(s);
    if (s->want.count)
        verify_put_counts(s);
    verify_close_table(&s->table);
    verify_records(s, records);
    which = verify_read(s);
    if (s->want.count) {
        verify_exchange(s);
        verify_sum(s, which);
    }
    verify_answer(s, which, records);
    verify_close_table(&s->table);
    verify_exchange(s);
    memcpy(s->at, s->begin, (size_t)job_ranks * sizeof *s->at);
    s->lines = 0;
    free(which);
    free(records);
}

verify_tally verify_sum_up(const verify *s)
{
    return (verify_tally){ job_sum(s->sum.sent), job_sum(s->sum.repeated),
                           job_sum(s->sum.again) };
}

/* ==== Decisions ========================================================= */

bool verify_next(verify *s, uint64_t hash, uint64_t *count)
{
    uint64_t line = s->lines++, bit;
    size_t owner = verify_owner(hash);

    *count = 1;
    if (line / 8 >= s->firsts.n
        || !(s->firsts.bytes[line / 8] >> line % 8 & 1))
        return false;
    if (s->at[owner] >= s->begin[owner + 1])
        return false;                   /* the input has changed */
    if (s->want.count) {
        *count = verify_get_number(s->in.bytes, &s->at[owner]);
        return *count > 0;
    }
    bit = s->bits[owner]++;
    line = s->at[owner] + bit / 8;
    return line < s->begin[owner + 1] && s->in.bytes[line] >> bit % 8 & 1;
}
