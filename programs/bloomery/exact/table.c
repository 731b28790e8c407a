/* table.c - a set of keys in memory, compared byte by byte.
 *
 * A hash table with linear probing. The bytes of the keys follow each other in
 * insertion order:
 *
 *     slot     | 24 bits of the hash | place of the key + 1, 40 bits |
 *     bytes    | [count, 8 bytes] length, 1 to 10 bytes | key | …
 *
 * The low 32 bits of a hash choose the slot, and the next 24 are stored in it,
 * so that other keys are hardly ever compared. The high bits are left for
 * dividing keys among tables. A slot of zero is free.
 */
#include "bloomery/exact/dedup.h"
#include "frame/sort.h"

#include <stdlib.h>
#include <string.h>

enum { TABLE_PLACE = 40, TABLE_COUNT = 8, TABLE_SOME = 32 };

#define TABLE_PLACES (UINT64_C(1) << TABLE_PLACE)
#define TABLE_ROOM_MOST (UINT64_C(1) << 32)

/* Returns the number of slots: 3/4 of them are used as planned, at most 7/8. */
static uint64_t table_room(uint64_t keys)
{
    return keys + keys / 3 + 64;
}

uint64_t table_bytes(uint64_t keys, uint64_t bytes)
{
    uint64_t room = table_room(keys);

    if (keys >= TABLE_ROOM_MOST / 2 || bytes >= TABLE_PLACES / 2)
        return UINT64_MAX;
    return room * sizeof(uint64_t) + bytes;
}

static uint64_t *table_slots(uint64_t room)
{
    uint64_t *slots = pages_new((size_t)room * sizeof *slots);

    if (slots != NULL)
        memset(slots, 0, (size_t)room * sizeof *slots);
    return slots;
}

static void table_free_slots(dedup_table *t)
{
    pages_free(t->slots, (size_t)t->room * sizeof *t->slots);
}

bool table_open(dedup_table *t, uint64_t keys, uint64_t bytes)
{
    uint64_t room = table_room(keys);

    t->room = room < TABLE_ROOM_MOST ? room : TABLE_ROOM_MOST;
    t->capacity = (size_t)bytes + 4096;
    t->slots = table_slots(t->room);
    t->bytes = pages_new(t->capacity);
    return t->slots != NULL && t->bytes != NULL;
}

void table_close(dedup_table *t)
{
    table_free_slots(t);
    pages_free(t->bytes, t->capacity);
}

void table_clear(dedup_table *t)
{
    memset(t->slots, 0, (size_t)t->room * sizeof *t->slots);
    t->keys = 0;
    t->used = 0;
}

/* ==== Keys in their places ============================================== */

static uint64_t table_u64(const unsigned char *at)
{
    uint64_t value;

    memcpy(&value, at, sizeof value);
    return value;
}

/* Reads the length in front of a key, and moves *at to the key. */
static size_t table_length(const unsigned char **at)
{
    uint64_t length = 0;

    for (unsigned shift = 0;; shift += 7) {
        unsigned char byte = *(*at)++;

        length |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return (size_t)length;
    }
}

/* Returns what a slot points to: the length, after the count. */
static const unsigned char *table_at(const dedup_table *t, uint64_t slot)
{
    return t->bytes + (slot & (TABLE_PLACES - 1)) - 1
         + (t->counting ? TABLE_COUNT : 0);
}

static bool table_equal(const dedup_table *t, uint64_t slot, bly_key key)
{
    const unsigned char *at = table_at(t, slot);

    return table_length(&at) == key.length
        && memcmp(at, key.data, key.length) == 0;
}

static uint64_t table_home(const dedup_table *t, uint64_t hash)
{
    return (hash & UINT32_MAX) * t->room >> 32;
}

static uint64_t table_tag(uint64_t hash)
{
    return hash >> 32 << TABLE_PLACE;
}

/* Returns the slot of a key with this tag, or the free one for it. */
static uint64_t table_next(const dedup_table *t, uint64_t at, uint64_t tag)
{
    while (t->slots[at] != 0 && (t->slots[at] & ~(TABLE_PLACES - 1)) != tag)
        at = at + 1 < t->room ? at + 1 : 0;
    return at;
}

static void table_prefetch_bytes(const unsigned char *at)
{
#if defined(__GNUC__)
    __builtin_prefetch(at);
    __builtin_prefetch(at + 64);
#else
    (void)at;
#endif
}

void table_prefetch_slot(const dedup_table *t, uint64_t hash)
{
#if defined(__GNUC__)
    __builtin_prefetch(&t->slots[table_home(t, hash)]);
#else
    (void)t, (void)hash;
#endif
}

void table_prefetch_key(const dedup_table *t, uint64_t hash)
{
#if defined(__GNUC__)
    uint64_t slot = t->slots[table_next(t, table_home(t, hash),
                                        table_tag(hash))];
    const unsigned char *at = slot != 0 ? table_at(t, slot)
                                        : t->bytes + t->used;

    __builtin_prefetch(at);
    __builtin_prefetch(at + 64);
#else
    (void)t, (void)hash;
#endif
}

/* ==== Growing =========================================================== */

/* Returns the free slot for a key with this hash. */
static uint64_t table_free(const dedup_table *t, uint64_t hash)
{
    uint64_t at = table_home(t, hash);

    while (t->slots[at] != 0)
        at = at + 1 < t->room ? at + 1 : 0;
    return at;
}

/* Inserts all keys into the empty slots; slots are prefetched while later keys
 * are hashed. */
static void table_move(dedup_table *t)
{
    enum { SOME = 32 };
    const unsigned char *at = t->bytes, *end = t->bytes + t->used;

    while (at < end) {
        uint64_t hashes[SOME], places[SOME];
        size_t n;

        for (n = 0; n < SOME && at < end; n++) {
            places[n] = (uint64_t)(at - t->bytes) + 1;
            at += t->counting ? TABLE_COUNT : 0;
            size_t length = table_length(&at);
            hashes[n] = bly_keyed_hash(t->keyed, at, length);
            table_prefetch_slot(t, hashes[n]);
            at += length;
        }
        for (size_t i = 0; i < n; i++)
            t->slots[table_free(t, hashes[i])] = table_tag(hashes[i])
                                               | places[i];
    }
}

static table_answer table_new_slots(dedup_table *t, uint64_t room)
{
    uint64_t *slots = table_slots(room);

    if (slots == NULL)
        return TABLE_NO_MEMORY;
    table_free_slots(t);
    t->slots = slots;
    t->room = room;
    table_move(t);
    return TABLE_NEW;
}

static table_answer table_grow_slots(dedup_table *t)
{
    uint64_t room = 2 * t->room < TABLE_ROOM_MOST ? 2 * t->room
                                                  : TABLE_ROOM_MOST;

    if (room == t->room)
        return TABLE_FULL;
    if (t->most > 0 && room * sizeof *t->slots + t->used > t->most)
        return TABLE_FULL;
    return table_new_slots(t, room);
}

static table_answer table_grow_bytes(dedup_table *t, size_t more)
{
    size_t capacity = t->capacity + t->capacity / 2 + more;
    unsigned char *grown;

    if ((uint64_t)t->used + more >= TABLE_PLACES)
        return TABLE_FULL;
    grown = pages_grow(t->bytes, t->capacity, capacity);
    if (grown == NULL)
        return TABLE_NO_MEMORY;
    t->bytes = grown;
    t->capacity = capacity;
    return TABLE_NEW;
}

/* Makes room for one more key. Returns TABLE_NEW if there is. */
static table_answer table_make_room(dedup_table *t, size_t more)
{
    table_answer answer = TABLE_NEW;

    if (t->most > 0 && t->room * sizeof *t->slots + t->used + more > t->most)
        return TABLE_FULL;
    if (t->keys + 1 > t->room / 8 * 7)
        answer = table_grow_slots(t);
    if (answer == TABLE_NEW && t->capacity - t->used < more)
        answer = table_grow_bytes(t, more);
    return answer;
}

static uint64_t table_room_for(const dedup_table *t, uint64_t keys)
{
    uint64_t room = t->room;

    while (keys > room / 3 * 2 && room < TABLE_ROOM_MOST)
        room *= 2;
    return room;
}

static bool table_reserve(dedup_table *t, uint64_t keys, size_t bytes)
{
    uint64_t room = table_room_for(t, keys);

    if (room > t->room && table_new_slots(t, room) != TABLE_NEW)
        return false;
    return t->capacity - t->used >= bytes
        || table_grow_bytes(t, bytes) == TABLE_NEW;
}

/* Returns the number of keys to make room for: those of the chunk, or twice as
 * many on growth, as long as the slots take at most a quarter of the memory.
 * Growing rarely is faster. */
static uint64_t table_keys_for(const dedup_table *t, uint64_t memory, size_t n)
{
    uint64_t keys = t->keys + n;

    return table_room_for(t, keys) > t->room
        && table_room_for(t, 2 * keys) * sizeof *t->slots <= memory / 4
         ? 2 * keys : keys;
}

/* Bounds the bytes added: the end of each line makes up for the key's length.
 */
static uint64_t table_more(const dedup_table *t, size_t n, size_t bytes)
{
    return (t->counting ? (uint64_t)n * TABLE_COUNT : 0) + bytes;
}

bool table_fits(const dedup_table *t, uint64_t memory, size_t n, size_t bytes)
{
    uint64_t room = table_room_for(t, table_keys_for(t, memory, n));
    uint64_t used = t->used + table_more(t, n, bytes);

    return room * sizeof *t->slots + used <= memory
        && table_bytes(t->keys + n, used) != UINT64_MAX;
}

bool table_prepare(dedup_table *t, uint64_t memory, size_t n, size_t bytes)
{
    return table_reserve(t, table_keys_for(t, memory, n),
                         (size_t)table_more(t, n, bytes));
}

/* ==== Adding ============================================================ */

/* Stores the key in slot `at`, which is free, unless the slots grow. */
static table_answer table_put(dedup_table *t, uint64_t hash, bly_key key,
                              uint64_t at)
{
    unsigned char number[SPILL_NUMBER];
    size_t digits = spill_number(number, key.length);
    uint64_t room = t->room;
    table_answer answer = table_make_room(t, TABLE_COUNT + digits + key.length);
    const uint64_t one = 1;

    if (answer != TABLE_NEW)
        return answer;
    if (t->room != room)
        at = table_free(t, hash);
    t->slots[at] = table_tag(hash) | (t->used + 1);
    if (t->counting) {
        memcpy(t->bytes + t->used, &one, TABLE_COUNT);
        t->used += TABLE_COUNT;
    }
    memcpy(t->bytes + t->used, number, digits);
    if (key.length > 0)
        memcpy(t->bytes + t->used + digits, key.data, key.length);
    t->used += digits + key.length;
    t->keys++;
    return TABLE_NEW;
}

static void table_count_one(dedup_table *t, uint64_t slot)
{
    unsigned char *count = t->bytes + (slot & (TABLE_PLACES - 1)) - 1;
    uint64_t more = table_u64(count) + 1;

    memcpy(count, &more, sizeof more);
}

/* Adds the key; no slot from its home up to `at` holds it. */
static table_answer table_add_at(dedup_table *t, uint64_t hash, bly_key key,
                                 uint64_t at)
{
    uint64_t tag = table_tag(hash);

    for (;;) {
        at = table_next(t, at, tag);
        if (t->slots[at] == 0)
            return table_put(t, hash, key, at);
        if (table_equal(t, t->slots[at], key))
            break;
        at = at + 1 < t->room ? at + 1 : 0;
    }
    if (t->counting)
        table_count_one(t, t->slots[at]);
    return TABLE_OLD;
}

table_answer table_add(dedup_table *t, uint64_t hash, bly_key key)
{
    return table_add_at(t, hash, key, table_home(t, hash));
}

bool table_has(const dedup_table *t, uint64_t hash, bly_key key)
{
    uint64_t tag = table_tag(hash), at = table_home(t, hash);

    for (;;) {
        at = table_next(t, at, tag);
        if (t->slots[at] == 0)
            return false;
        if (table_equal(t, t->slots[at], key))
            return true;
        at = at + 1 < t->room ? at + 1 : 0;
    }
}

bool table_each(const dedup_table *t, size_t *at, bly_key *key, uint64_t *count)
{
    const unsigned char *bytes = t->bytes + *at + TABLE_COUNT;

    if (*at >= t->used)
        return false;
    *count = table_u64(t->bytes + *at);
    key->length = table_length(&bytes);
    key->data = bytes;
    *at = (size_t)(bytes - t->bytes) + key->length;
    return true;
}

/* ==== Many at once ====================================================== */

/* Rows that are added together, and their current slots. */
typedef struct {
    size_t   rows[TABLE_SOME], n;
    uint64_t at[TABLE_SOME];
} table_some;

/* Takes the next rows from *next, and prefetches their slots. */
static void table_take(const dedup_table *t, const dedup_rows *r,
                       const table_picks *picks, size_t *next, table_some *some)
{
    size_t most = picks != NULL ? picks->n : r->n, n = 0;

    for (; n < TABLE_SOME && *next < most; ++*next) {
        size_t row = picks != NULL ? picks->rows[*next] : *next;

        some->rows[n] = row;
        if (picks == NULL && (r->drop[row] || r->keys[row].data == NULL))
            continue;
        table_prefetch_slot(t, r->hashes[row]);
        n++;
    }
    some->n = n;
}

/* Finds for each row the first slot that is free or may hold its key, and
 * prefetches the key. */
static void table_find(const dedup_table *t, const dedup_rows *r,
                       table_some *some)
{
    for (size_t i = 0; i < some->n; i++) {
        uint64_t hash = r->hashes[some->rows[i]];
        uint64_t at = table_next(t, table_home(t, hash), table_tag(hash));

        some->at[i] = at;
        if (t->slots[at] != 0)
            table_prefetch_bytes(table_at(t, t->slots[at]));
    }
}

static table_answer table_settle(dedup_table *t, dedup_rows *r,
                                 const table_some *some)
{
    uint64_t room = t->room;
    table_answer answer = TABLE_NEW;

    for (size_t i = 0; i < some->n && answer <= TABLE_OLD; i++) {
        size_t row = some->rows[i];
        uint64_t hash = r->hashes[row];

        answer = table_add_at(t, hash, r->keys[row],
                              t->room == room ? some->at[i]
                                              : table_home(t, hash));
        r->drop[row] = answer == TABLE_OLD;
    }
    return answer <= TABLE_OLD ? TABLE_NEW : answer;
}

table_answer table_add_rows(dedup_table *t, dedup_rows *r,
                            const table_picks *picks)
{
    table_some some[2];
    table_answer answer = TABLE_NEW;
    size_t next = 0;

    table_take(t, r, picks, &next, &some[0]);
    for (unsigned now = 0; some[now].n > 0 && answer == TABLE_NEW; now = !now) {
        table_find(t, r, &some[now]);
        table_take(t, r, picks, &next, &some[!now]);
        answer = table_settle(t, r, &some[now]);
    }
    return answer;
}

/* ==== In order ========================================================== */

void table_sort(dedup_table *t)
{
    uint64_t n = 0;

    for (uint64_t i = 0; i < t->room; i++)
        if (t->slots[i] != 0)
            t->slots[n++] = t->slots[i];
    sort_words(t->slots, (size_t)n, 64, TABLE_PLACE);
}

bly_key table_key(const dedup_table *t, uint64_t i)
{
    const unsigned char *at = table_at(t, t->slots[i]);
    size_t length = table_length(&at);

    return (bly_key){ at, length };
}

void table_prefetch_sorted(const dedup_table *t, uint64_t i)
{
#if defined(__GNUC__)
    __builtin_prefetch(table_at(t, t->slots[i]));
#else
    (void)t, (void)i;
#endif
}
