/* keptsets.c - the sets of documents that stay, found by their bands.
 *
 * The elements of each set are in a temporary file, one set after the other.
 * Memory holds where they end, and a hash table for each band (minhash.c),
 * with linear probing:
 *
 *     slot      | high half of the band's hash | number of the set + 1 |
 *     sets      | end of its elements | line | last query that met it |
 *     file      | elements, sorted | elements, sorted | …
 *
 * The upper half of a hash chooses the slot, too, so that slots are in the
 * order of the hashes, and sets with the same band are neighbours. All tables
 * are of one size, and grow one after the other. A slot of zero is free.
 *
 * A set that is met under one of its bands is read and compared exactly. The
 * halves of two hashes are equal by chance for one set in 2^32, which costs a
 * comparison and nothing else.
 */
#include "bloomery/exact/dedup.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEPTSETS_WAITING = 1 << 17, KEPTSETS_ROOM = 1 << 9 };

void keptsets_open(keptsets *k, size_t bands, uint64_t most)
{
    *k = (keptsets){ .bands = bands, .most = most, .fd = -1 };
}

void keptsets_close(keptsets *k)
{
    for (size_t i = 0; k->slots != NULL && i < k->bands; i++)
        hugepages_free(k->slots[i], (size_t)k->room * sizeof **k->slots);
    free(k->slots);
    free(k->sets);
    free(k->waiting);
    free(k->read);
    if (k->fd >= 0)
        close(k->fd);
}

/* ==== Slots ============================================================= */

static uint64_t keptsets_home(uint64_t room, uint64_t hash)
{
    return (hash >> 32) * room >> 32;
}

static uint64_t keptsets_next(uint64_t room, uint64_t at)
{
    return at + 1 < room ? at + 1 : 0;
}

static void keptsets_put(uint64_t *slots, uint64_t room, uint64_t slot)
{
    uint64_t at = keptsets_home(room, slot);

    while (slots[at] != 0)
        at = keptsets_next(room, at);
    slots[at] = slot;
}

void keptsets_prefetch(const keptsets *k, const uint64_t *bands)
{
    for (size_t i = 0; k->slots != NULL && i < k->bands; i++)
        __builtin_prefetch(&k->slots[i][keptsets_home(k->room, bands[i])]);
}

/* ==== Memory ============================================================ */

/* Returns the bytes for tables of `room` slots, and for the sets. While a table
 * grows, its old slots are there, too. */
static uint64_t keptsets_bytes(const keptsets *k, uint64_t room,
                               uint64_t sets_room)
{
    return (room * k->bands + k->room) * sizeof **k->slots
         + sets_room * sizeof *k->sets;
}

static int keptsets_refuse(const keptsets *k, uint64_t bytes)
{
    return report_error("after %s documents, the tables of %zu bands would "
                        "take %s, and --memory is %s: give more, or use "
                        "--approximate", report_count(k->n).text, k->bands,
                        report_bytes(bytes).text, report_bytes(k->most).text);
}

/* Moves a table to one of `room` slots. */
static bool keptsets_grow_one(keptsets *k, size_t band, uint64_t room)
{
    uint64_t *old = k->slots[band];
    uint64_t *slots = hugepages_new((size_t)room * sizeof *slots);

    if (slots == NULL)
        return false;
    memset(slots, 0, (size_t)room * sizeof *slots);
    for (uint64_t i = 0; old != NULL && i < k->room; i++)
        if (old[i] != 0)
            keptsets_put(slots, room, old[i]);
    hugepages_free(old, (size_t)k->room * sizeof *old);
    k->slots[band] = slots;
    return true;
}

static int keptsets_grow_slots(keptsets *k)
{
    uint64_t room = k->room > 0 ? k->room + k->room / 2 : KEPTSETS_ROOM;

    if (keptsets_bytes(k, room, k->sets_room) > k->most)
        return keptsets_refuse(k, keptsets_bytes(k, room, k->sets_room));
    if (k->slots == NULL)
        k->slots = calloc(k->bands, sizeof *k->slots);
    if (k->slots == NULL)
        return report_no_memory();
    for (size_t i = 0; i < k->bands; i++)
        if (!keptsets_grow_one(k, i, room))
            return report_no_memory();
    k->room = room;
    return CLI_GO;
}

/* Makes room for one more set. */
static int keptsets_room(keptsets *k)
{
    size_t room = k->sets_room + k->sets_room / 2 + KEPTSETS_ROOM;

    if (k->n == k->sets_room) {
        if (keptsets_bytes(k, k->room, room) > k->most)
            return keptsets_refuse(k, keptsets_bytes(k, k->room, room));
        if (!bytes_grow(&k->sets, room, sizeof *k->sets))
            return report_no_memory();
        k->sets_room = room;
    }
    if (k->n == UINT32_MAX)
        return report_error("more than %s documents are too many to compare: "
                            "use --approximate", report_count(k->n).text);
    return k->n < k->room / 8 * 7 ? CLI_GO : keptsets_grow_slots(k);
}

/* ==== Elements ========================================================== */

static uint64_t keptsets_begin(const keptsets *k, size_t number)
{
    return number > 0 ? k->sets[number - 1].end : 0;
}

/* Appends elements to the file, by way of a buffer. */
static int keptsets_write(keptsets *k, const uint64_t *elements, size_t n)
{
    if (k->waiting == NULL)
        k->waiting = malloc(KEPTSETS_WAITING * sizeof *k->waiting);
    if (k->waiting == NULL)
        return report_no_memory();
    while (n > 0) {
        size_t some = KEPTSETS_WAITING - k->waits;

        some = n < some ? n : some;
        memcpy(k->waiting + k->waits, elements, some * sizeof *elements);
        k->waits += some;
        elements += some;
        n -= some;
        if (k->waits < KEPTSETS_WAITING)
            break;
        if ((k->fd < 0 && (k->fd = spill_file(false)) < 0)
            || spill_write(k->fd, k->waiting, k->waits * sizeof *elements,
                           false) != CLI_GO)
            return CLI_ERROR;
        k->written += k->waits;
        k->waits = 0;
    }
    return CLI_GO;
}

/* Reads the elements of a set, which may be partly in the file and partly in
 * the buffer. Returns NULL after reporting an error. */
static const uint64_t *keptsets_read(keptsets *k, size_t number)
{
    uint64_t from = keptsets_begin(k, number), to = k->sets[number].end;
    size_t n = (size_t)(to - from), filed;
    int error;

    if (from >= k->written)
        return k->waiting + (from - k->written);
    if (n > k->read_room) {
        if (!bytes_grow(&k->read, n, sizeof *k->read)) {
            report_no_memory();
            return NULL;
        }
        k->read_room = n;
    }
    filed = to <= k->written ? n : (size_t)(k->written - from);
    error = spill_read_file(k->fd, k->read, filed * sizeof *k->read,
                            from * sizeof *k->read);
    if (error != 0) {
        spill_unread(error);
        return NULL;
    }
    memcpy(k->read + filed, k->waiting, (n - filed) * sizeof *k->read);
    return k->read;
}

/* ==== Comparing ========================================================= */

/* Returns the similarity of two sets, or 0 if it is below `least`. A similarity
 * of s leaves (a + b) (1 - s) / (1 + s) elements that are in one set only. */
static double keptsets_share(const uint64_t *a, size_t n_a, const uint64_t *b,
                             size_t n_b, double least)
{
    const double sum = (double)n_a + (double)n_b;
    const size_t most = (size_t)(sum * (1 - least) / (1 + least)) + 1;
    size_t i = 0, j = 0, both = 0;
    double share;

    while (i < n_a && j < n_b && i + j - 2 * both <= most) {
        uint64_t x = a[i], y = b[j];

        both += x == y;
        i += x <= y;
        j += y <= x;
    }
    share = (double)both / (sum - (double)both);
    return share >= least ? share : 0;
}

/* Compares the set with set `number`, unless the sizes alone say that the
 * similarity is below `least`. Returns CLI_GO or CLI_ERROR. */
static int keptsets_compare(keptsets *k, const units_set *set, size_t number,
                            double least, keptsets_match *match)
{
    size_t n = (size_t)(k->sets[number].end - keptsets_begin(k, number));
    double less = (double)(n < set->n ? n : set->n);
    double more = (double)(n < set->n ? set->n : n), share;
    const uint64_t *elements;

    if (less / more < least)
        return CLI_GO;
    elements = keptsets_read(k, number);
    if (elements == NULL)
        return CLI_ERROR;
    k->compared++;
    share = keptsets_share(set->elements, set->n, elements, n, least);
    if (share > match->share
        || (share == match->share && k->sets[number].line < match->line))
        *match = (keptsets_match){ share, k->sets[number].line };
    return CLI_GO;
}

int keptsets_find(keptsets *k, const units_set *set, const uint64_t *bands,
                  const keptsets_want *want, keptsets_match *match)
{
    *match = (keptsets_match){ 0, 0 };
    k->query++;
    for (size_t i = 0; k->room > 0 && i < k->bands; i++) {
        const uint64_t *slots = k->slots[i];
        uint64_t at = keptsets_home(k->room, bands[i]);

        for (; slots[at] != 0; at = keptsets_next(k->room, at)) {
            size_t number = (size_t)(slots[at] & UINT32_MAX) - 1;

            if (slots[at] >> 32 != bands[i] >> 32
                || k->sets[number].query == k->query)
                continue;
            k->sets[number].query = k->query;
            if (keptsets_compare(k, set, number, want->least, match) != CLI_GO)
                return CLI_ERROR;
            if (match->share > 0 && !want->best)
                return CLI_GO;
        }
    }
    return CLI_GO;
}

int keptsets_add(keptsets *k, const units_set *set, const uint64_t *bands,
                 uint64_t line)
{
    if (keptsets_room(k) != CLI_GO
        || keptsets_write(k, set->elements, set->n) != CLI_GO)
        return CLI_ERROR;
    k->sets[k->n] = (keptsets_set){ .end = keptsets_begin(k, k->n) + set->n,
                                    .line = line, .query = k->query };
    k->n++;
    for (size_t i = 0; i < k->bands; i++)
        keptsets_put(k->slots[i], k->room,
                     (bands[i] >> 32 << 32) | (uint64_t)k->n);
    return CLI_GO;
}
