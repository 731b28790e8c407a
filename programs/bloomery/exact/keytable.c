/* keytable.c - a set of keys in memory, compared byte by byte.
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
static uint64_t keytable_room(uint64_t keys)
{
    return keys + keys / 3 + 64;
}

uint64_t keytable_bytes(uint64_t keys, uint64_t bytes)
{
    uint64_t room = keytable_room(keys);

    if (keys >= TABLE_ROOM_MOST / 2 || bytes >= TABLE_PLACES / 2)
        return UINT64_MAX;
    return room * sizeof(uint64_t) + bytes;
}

static uint64_t *keytable_slots(uint64_t room)
{
    uint64_t *slots = hugepages_new((size_t)room * sizeof *slots);

    if (slots != NULL)
        memset(slots, 0, (size_t)room * sizeof *slots);
    return slots;
}

static void keytable_free_slots(dedup_table *t)
{
    hugepages_free(t->slots, (size_t)t->room * sizeof *t->slots);
}

bool keytable_open(dedup_table *t, uint64_t keys, uint64_t bytes)
{
    uint64_t room = keytable_room(keys);

    t->room = room < TABLE_ROOM_MOST ? room : TABLE_ROOM_MOST;
    t->capacity = (size_t)bytes + 4096;
    t->slots = keytable_slots(t->room);
    t->bytes = hugepages_new(t->capacity);
    return t->slots != NULL && t->bytes != NULL;
}

void keytable_close(dedup_table *t)
{
    keytable_free_slots(t);
    hugepages_free(t->bytes, t->capacity);
}

void keytable_clear(dedup_table *t)
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
static size_t keytable_length(const unsigned char **at)
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
static const unsigned char *keytable_at(const dedup_table *t, uint64_t slot)
{
    return t->bytes + (slot & (TABLE_PLACES - 1)) - 1
         + (t->counting ? TABLE_COUNT : 0);
}

static bool keytable_equal(const dedup_table *t, uint64_t slot, bly_key key)
{
    const unsigned char *at = keytable_at(t, slot);

    return keytable_length(&at) == key.length
        && memcmp(at, key.data, key.length) == 0;
}

static uint64_t keytable_home(const dedup_table *t, uint64_t hash)
{
    return (hash & UINT32_MAX) * t->room >> 32;
}

static uint64_t keytable_tag(uint64_t hash)
{
    return hash >> 32 << TABLE_PLACE;
}

/* Returns the slot of a key with this tag, or the free one for it. */
static uint64_t keytable_next(const dedup_table *t, uint64_t at, uint64_t tag)
{
    while (t->slots[at] != 0 && (t->slots[at] & ~(TABLE_PLACES - 1)) != tag)
        at = at + 1 < t->room ? at + 1 : 0;
    return at;
}

static void keytable_prefetch_bytes(const unsigned char *at)
{
#if defined(__GNUC__)
    __builtin_prefetch(at);
    __builtin_prefetch(at + 64);
#else
    (void)at;
#endif
}

void keytable_prefetch_slot(const dedup_table *t, uint64_t hash)
{
#if defined(__GNUC__)
    __builtin_prefetch(&t->slots[keytable_home(t, hash)]);
#else
    (void)t, (void)hash;
#endif
}

void keytable_prefetch_key(const dedup_table *t, uint64_t hash)
{
#if defined(__GNUC__)
    uint64_t slot = t->slots[keytable_next(t, keytable_home(t, hash),
                                           keytable_tag(hash))];
    const unsigned char *at = slot != 0 ? keytable_at(t, slot)
                                        : t->bytes + t->used;

    __builtin_prefetch(at);
    __builtin_prefetch(at + 64);
#else
    (void)t, (void)hash;
#endif
}

/* ==== Growing =========================================================== */

/* Returns the free slot for a key with this hash. */
static uint64_t keytable_free(const dedup_table *t, uint64_t hash)
{
    uint64_t at = keytable_home(t, hash);

    while (t->slots[at] != 0)
        at = at + 1 < t->room ? at + 1 : 0;
    return at;
}

/* Inserts all keys into the empty slots; slots are prefetched while later keys
 * are hashed. */
static void keytable_move(dedup_table *t)
{
    enum { SOME = 32 };
    const unsigned char *at = t->bytes, *end = t->bytes + t->used;

    while (at < end) {
        uint64_t hashes[SOME], places[SOME];
        size_t n;

        for (n = 0; n < SOME && at < end; n++) {
            places[n] = (uint64_t)(at - t->bytes) + 1;
            at += t->counting ? TABLE_COUNT : 0;
            size_t length = keytable_length(&at);
            hashes[n] = bly_keyed_hash(t->keyed, at, length);
            keytable_prefetch_slot(t, hashes[n]);
            at += length;
        }
        for (size_t i = 0; i < n; i++)
            t->slots[keytable_free(t, hashes[i])] = keytable_tag(hashes[i])
                                               | places[i];
    }
}

/* Keys come from their bytes, so the old slots are only room: the table never
 * has both. */
static keytable_answer keytable_new_slots(dedup_table *t, uint64_t room)
{
    uint64_t *slots = hugepages_grow(t->slots,
                                     (size_t)t->room * sizeof *slots,
                                     (size_t)room * sizeof *slots);

    if (slots == NULL)
        return TABLE_NO_MEMORY;
    memset(slots, 0, (size_t)room * sizeof *slots);
    t->slots = slots;
    t->room = room;
    keytable_move(t);
    return TABLE_NEW;
}

static keytable_answer keytable_grow_slots(dedup_table *t)
{
    uint64_t room = 2 * t->room < TABLE_ROOM_MOST ? 2 * t->room
                                                  : TABLE_ROOM_MOST;

    if (room == t->room)
        return TABLE_FULL;
    if (t->most > 0 && room * sizeof *t->slots + t->used > t->most)
        return TABLE_FULL;
    return keytable_new_slots(t, room);
}

static keytable_answer keytable_grow_bytes(dedup_table *t, size_t more)
{
    size_t capacity = t->capacity + t->capacity / 2 + more;
    unsigned char *grown;

    if ((uint64_t)t->used + more >= TABLE_PLACES)
        return TABLE_FULL;
    grown = hugepages_grow(t->bytes, t->capacity, capacity);
    if (grown == NULL)
        return TABLE_NO_MEMORY;
    t->bytes = grown;
    t->capacity = capacity;
    return TABLE_NEW;
}

/* Makes room for one more key. Returns TABLE_NEW if there is. */
static keytable_answer keytable_make_room(dedup_table *t, size_t more)
{
    keytable_answer answer = TABLE_NEW;

    if (t->most > 0 && t->room * sizeof *t->slots + t->used + more > t->most)
        return TABLE_FULL;
    if (t->keys + 1 > t->room / 8 * 7)
        answer = keytable_grow_slots(t);
    if (answer == TABLE_NEW && t->capacity - t->used < more)
        answer = keytable_grow_bytes(t, more);
    return answer;
}

static uint64_t keytable_room_for(const dedup_table *t, uint64_t keys)
{
    uint64_t room = t->room;

    while (keys > room / 3 * 2 && room < TABLE_ROOM_MOST)
        room *= 2;
    return room;
}

static bool keytable_reserve(dedup_table *t, uint64_t keys, size_t bytes)
{
    uint64_t room = keytable_room_for(t, keys);

    if (room > t->room && keytable_new_slots(t, room) != TABLE_NEW)
        return false;
    return t->capacity - t->used >= bytes
        || keytable_grow_bytes(t, bytes) == TABLE_NEW;
}

/* Returns the number of keys to make room for: those of the chunk, or twice as
 * many on growth, as long as the slots take at most a sixteenth of the memory.
 * Growing rarely is faster. */
static uint64_t keytable_keys_for(const dedup_table *t, uint64_t memory,
                                  size_t n)
{
    uint64_t keys = t->keys + n;

    return keytable_room_for(t, keys) > t->room
        && keytable_room_for(t, 2 * keys) * sizeof *t->slots <= memory / 16
         ? 2 * keys : keys;
}

/* Bounds the bytes added: the end of each line makes up for the key's length.
 */
static uint64_t keytable_more(const dedup_table *t, size_t n, size_t bytes)
{
    return (t->counting ? (uint64_t)n * TABLE_COUNT : 0) + bytes;
}

bool keytable_fits(const dedup_table *t, uint64_t memory, size_t n,
                   size_t bytes)
{
    uint64_t room = keytable_room_for(t, keytable_keys_for(t, memory, n));
    uint64_t used = t->used + keytable_more(t, n, bytes);

    return room * sizeof *t->slots + used <= memory
        && keytable_bytes(t->keys + n, used) != UINT64_MAX;
}

bool keytable_prepare(dedup_table *t, uint64_t memory, size_t n, size_t bytes)
{
    return keytable_reserve(t, keytable_keys_for(t, memory, n),
                            (size_t)keytable_more(t, n, bytes));
}

/* ==== Adding ============================================================ */

/* Stores the key in slot `at`, which is free, unless the slots grow. */
static keytable_answer keytable_put(dedup_table *t, uint64_t hash, bly_key key,
                                    uint64_t at)
{
    unsigned char number[SPILL_NUMBER];
    size_t digits = spill_number(number, key.length);
    uint64_t room = t->room;
    keytable_answer answer =
        keytable_make_room(t, TABLE_COUNT + digits + key.length);
    const uint64_t one = 1;

    if (answer != TABLE_NEW)
        return answer;
    if (t->room != room)
        at = keytable_free(t, hash);
    t->slots[at] = keytable_tag(hash) | (t->used + 1);
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

static void keytable_count_one(dedup_table *t, uint64_t slot)
{
    unsigned char *count = t->bytes + (slot & (TABLE_PLACES - 1)) - 1;
    uint64_t more = table_u64(count) + 1;

    memcpy(count, &more, sizeof more);
}

/* Adds the key; no slot from its home up to `at` holds it. */
static keytable_answer keytable_add_at(dedup_table *t, uint64_t hash,
                                       bly_key key, uint64_t at)
{
    uint64_t tag = keytable_tag(hash);

    for (;;) {
        at = keytable_next(t, at, tag);
        if (t->slots[at] == 0)
            return keytable_put(t, hash, key, at);
        if (keytable_equal(t, t->slots[at], key))
            break;
        at = at + 1 < t->room ? at + 1 : 0;
    }
    if (t->counting)
        keytable_count_one(t, t->slots[at]);
    return TABLE_OLD;
}

keytable_answer keytable_add(dedup_table *t, uint64_t hash, bly_key key)
{
    return keytable_add_at(t, hash, key, keytable_home(t, hash));
}

/* Returns the slot that points to a key, or 0. */
static uint64_t keytable_slot(const dedup_table *t, uint64_t hash, bly_key key)
{
    uint64_t tag = keytable_tag(hash), at = keytable_home(t, hash);

    for (;;) {
        at = keytable_next(t, at, tag);
        if (t->slots[at] == 0 || keytable_equal(t, t->slots[at], key))
            return t->slots[at];
        at = at + 1 < t->room ? at + 1 : 0;
    }
}

bool keytable_has(const dedup_table *t, uint64_t hash, bly_key key)
{
    return keytable_slot(t, hash, key) != 0;
}

uint64_t keytable_count(const dedup_table *t, uint64_t hash, bly_key key)
{
    uint64_t slot = keytable_slot(t, hash, key);

    return slot == 0 ? 0
         : table_u64(t->bytes + (slot & (TABLE_PLACES - 1)) - 1);
}

bool keytable_each(const dedup_table *t, size_t *at, bly_key *key,
                   uint64_t *count)
{
    const unsigned char *bytes = t->bytes + *at + TABLE_COUNT;

    if (*at >= t->used)
        return false;
    *count = table_u64(t->bytes + *at);
    key->length = keytable_length(&bytes);
    key->data = bytes;
    *at = (size_t)(bytes - t->bytes) + key->length;
    return true;
}

/* ==== Many at once ====================================================== */

/* Rows that are added together, and their current slots. */
typedef struct {
    size_t   rows[TABLE_SOME], n;
    uint64_t at[TABLE_SOME];
} keytable_some;

/* Takes the next rows from *next, and prefetches their slots. */
static void keytable_take(const dedup_table *t, const dedup_rows *r,
                          const keytable_picks *picks, size_t *next,
                          keytable_some *some)
{
    size_t most = picks != NULL ? picks->n : r->n, n = 0;

    for (; n < TABLE_SOME && *next < most; ++*next) {
        size_t row = picks != NULL ? picks->rows[*next] : *next;

        some->rows[n] = row;
        if (picks == NULL && (r->drop[row] || r->keys[row].data == NULL))
            continue;
        keytable_prefetch_slot(t, r->hashes[row]);
        n++;
    }
    some->n = n;
}

/* Finds for each row the first slot that is free or may hold its key, and
 * prefetches the key. */
static void keytable_find(const dedup_table *t, const dedup_rows *r,
                          keytable_some *some)
{
    for (size_t i = 0; i < some->n; i++) {
        uint64_t hash = r->hashes[some->rows[i]];
        uint64_t at =
            keytable_next(t, keytable_home(t, hash), keytable_tag(hash));

        some->at[i] = at;
        if (t->slots[at] != 0)
            keytable_prefetch_bytes(keytable_at(t, t->slots[at]));
    }
}

static keytable_answer keytable_settle(dedup_table *t, dedup_rows *r,
                                       const keytable_some *some)
{
    uint64_t room = t->room;
    keytable_answer answer = TABLE_NEW;

    for (size_t i = 0; i < some->n && answer <= TABLE_OLD; i++) {
        size_t row = some->rows[i];
        uint64_t hash = r->hashes[row];

        answer = keytable_add_at(t, hash, r->keys[row],
                                 t->room == room ? some->at[i]
                                              : keytable_home(t, hash));
        r->drop[row] = answer == TABLE_OLD;
    }
    return answer <= TABLE_OLD ? TABLE_NEW : answer;
}

keytable_answer keytable_add_rows(dedup_table *t, dedup_rows *r,
                                  const keytable_picks *picks)
{
    keytable_some some[2];
    keytable_answer answer = TABLE_NEW;
    size_t next = 0;

    keytable_take(t, r, picks, &next, &some[0]);
    for (unsigned now = 0; some[now].n > 0 && answer == TABLE_NEW; now = !now) {
        keytable_find(t, r, &some[now]);
        keytable_take(t, r, picks, &next, &some[!now]);
        answer = keytable_settle(t, r, &some[now]);
    }
    return answer;
}

/* ==== In order ========================================================== */

void keytable_sort(dedup_table *t)
{
    uint64_t n = 0;

    for (uint64_t i = 0; i < t->room; i++)
        if (t->slots[i] != 0)
            t->slots[n++] = t->slots[i];
    sort_words(t->slots, (size_t)n, 64, TABLE_PLACE);
}

bly_key keytable_key(const dedup_table *t, uint64_t i)
{
    const unsigned char *at = keytable_at(t, t->slots[i]);
    size_t length = keytable_length(&at);

    return (bly_key){ at, length };
}

void keytable_prefetch_sorted(const dedup_table *t, uint64_t i)
{
#if defined(__GNUC__)
    __builtin_prefetch(keytable_at(t, t->slots[i]));
#else
    (void)t, (void)i;
#endif
}
