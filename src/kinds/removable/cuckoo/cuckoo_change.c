/* cuckoo_change.c - adds keys to the buckets of kind `cuckoo`, and removes
 * them. ADD in cuckoo.c explains how room is made.
 */
#include "kinds/removable/cuckoo/cuckoo.h"

/* Returns the view with the fields that the form determines, so that the
 * compiler sees them. */
PLATFORM_INLINE cuckoo_view cuckoo_known(const cuckoo_view *v, cuckoo_form form)
{
    cuckoo_view known = *v;
    if (form == CUCKOO_ANY)
        return known;
    known.quads = 1;
    known.sorted = form == CUCKOO_CODED;
    known.nibbles = cuckoo_nibbles(known.f, known.sorted);
    return known;
}

/* Turn the slot of the lowest bit of a plain match from `old` into `fp`. */
PLATFORM_INLINE void cuckoo_turn(const cuckoo_view *v, uint64_t bucket,
                                 uint64_t match, uint32_t old, uint32_t fp)
{
    uint8_t *at = cuckoo_at(v, bucket);
    uint64_t slot = (match & (0 - match)) >> cuckoo_lowest(v, CUCKOO_PLAIN);
    uint64_t change = slot * (old ^ fp) << cuckoo_shift(v, bucket);
    image_set_u64(at, 0, image_u64(at, 0) ^ change);
}

/* Replaces one `old` in the bucket, which has it, with `fp`. */
PLATFORM_INLINE void cuckoo_put_for(const cuckoo_view *v, uint64_t bucket,
                                    uint32_t old, uint32_t fp,
                                    cuckoo_form form)
{
    if (form == CUCKOO_PLAIN)
        cuckoo_turn(v, bucket, cuckoo_match(v, cuckoo_word(v, bucket), old,
                                            form), old, fp);
    else
        cuckoo_swap(v, bucket, old, fp);
}

/* ---- Single keys ------------------------------------------------------- */

enum { CUCKOO_STEPS = 2000, CUCKOO_NOTED = 8, CUCKOO_KNOWN = 256 };

/* Step i of the search came to a bucket from that of step from[i], whose
 * fingerprint victim[i] could go over to it. The buckets of the first steps,
 * which nearly always are enough, are known; of others the way there tells. */
typedef struct {
    uint32_t used;
    uint32_t victim[CUCKOO_STEPS];
    uint16_t from[CUCKOO_STEPS];
    uint64_t known[CUCKOO_KNOWN];
} cuckoo_search;

PLATFORM_INLINE void cuckoo_note(cuckoo_search *s, uint64_t bucket,
                                 uint32_t victim, uint32_t from)
{
    if (s->used < CUCKOO_KNOWN)
        s->known[s->used] = bucket;
    s->victim[s->used] = victim;
    s->from[s->used++] = (uint16_t)from;
}

/* Returns the bucket of a step. cuckoo_other() subtracts the previous bucket
 * from a number that follows from the fingerprint, modulo the number of
 * buckets. */
static uint64_t cuckoo_came_to(const cuckoo_search *s, const cuckoo_view *v,
                               uint32_t step)
{
    uint64_t sum = 0;
    bool minus = false;
    if (step < CUCKOO_KNOWN)
        return s->known[step];
    for (; step >= CUCKOO_KNOWN; step = s->from[step], minus = !minus) {
        uint64_t number = cuckoo_other(v, 0, s->victim[step]);
        sum += minus ? v->buckets - number : number;
    }
    sum += minus ? v->buckets - s->known[step] : s->known[step];
    return sum % v->buckets;
}

/* Notes the buckets to which the fingerprints of step `from` could go, except
 * the bucket that the search came from. */
PLATFORM_INLINE void cuckoo_spread(cuckoo_search *s, const cuckoo_view *v,
                                   uint32_t from)
{
    uint64_t bucket = cuckoo_came_to(s, v, from);
    uint32_t victim = s->victim[from];
    for (uint64_t i = 0; i < v->quads; i++) {
        cuckoo_quad q = cuckoo_read(v, bucket * v->quads + i);
        for (uint32_t j = 0; j < CUCKOO_SLOTS && s->used < CUCKOO_STEPS; j++) {
            if (q.slot[j] == victim || q.slot[j] == 0)
                continue;
            uint64_t next = cuckoo_other(v, bucket, q.slot[j]);
            platform_prefetch_write(cuckoo_at(v, next * v->quads));
            cuckoo_note(s, next, q.slot[j], from);
        }
    }
}

/* Each fingerprint of the way to step `last`, where a slot is free, goes one
 * bucket on, the last one first. */
PLATFORM_INLINE void cuckoo_shove(const cuckoo_search *s, const cuckoo_view *v,
                                  uint32_t last, cuckoo_form form)
{
    cuckoo_put_for(v, cuckoo_came_to(s, v, last), 0, s->victim[last], form);
    for (uint32_t to = last; s->from[to] != to; to = s->from[to]) {
        uint32_t from = s->from[to];
        cuckoo_put_for(v, cuckoo_came_to(s, v, from), s->victim[to],
                       s->victim[from], form);
    }
}

/* Makes room by moving other fingerprints. A breadth-first search finds a
 * shortest path, on which no bucket occurs twice; nothing is written before it
 * is found. Buckets are queued a few steps before they are read, so that their
 * lines arrive meanwhile. */
PLATFORM_INLINE bool cuckoo_kick_by(const cuckoo_view *view, cuckoo_key key,
                                    cuckoo_form form)
{
    const cuckoo_view known = cuckoo_known(view, form), *v = &known;
    cuckoo_search s;
    uint32_t spread = 0, at = 2, ahead = cuckoo_far(v) ? CUCKOO_NOTED : 1;
    s.used = 0;
    cuckoo_note(&s, key.one, key.fp, 0);
    cuckoo_note(&s, key.other, key.fp, 1);
    for (;; at++) {
        while (spread < s.used && s.used < at + ahead)
            cuckoo_spread(&s, v, spread++);
        if (at >= s.used)
            return false;
        if (!cuckoo_full(v, cuckoo_came_to(&s, v, at), form))
            break;
    }
    cuckoo_shove(&s, v, at, form);
    return true;
}

/* Apart from the adds and from each other: each has a search on its stack. */
PLATFORM_APART static bool cuckoo_kick_plain(const cuckoo_view *v,
                                             cuckoo_key key)
{
    return cuckoo_kick_by(v, key, CUCKOO_PLAIN);
}

PLATFORM_APART static bool cuckoo_kick_coded(const cuckoo_view *v,
                                             cuckoo_key key)
{
    return cuckoo_kick_by(v, key, CUCKOO_CODED);
}

PLATFORM_APART static bool cuckoo_kick_any(const cuckoo_view *v, cuckoo_key key)
{
    return cuckoo_kick_by(v, key, CUCKOO_ANY);
}

PLATFORM_INLINE bool cuckoo_kick(const cuckoo_view *v, cuckoo_key key,
                                 cuckoo_form form)
{
    return form == CUCKOO_PLAIN ? cuckoo_kick_plain(v, key)
         : form == CUCKOO_CODED ? cuckoo_kick_coded(v, key)
                                : cuckoo_kick_any(v, key);
}

static bly_status cuckoo_is_full(void)
{
    return status_fail(BLY_EFULL, "the filter is full: there is no room for a "
                       "key, which can be added at most eight times: resize it "
                       "(bly_resize) or plan it for more keys, or choose a "
                       "kind that counts");
}

/* Into the emptier bucket: so they fill evenly, and few keys must move others
 * before nine slots of ten are taken. */
PLATFORM_INLINE bly_status cuckoo_add_any(const cuckoo_view *v, cuckoo_key key)
{
    bool seen = cuckoo_count_key(v, key) > 0;
    uint64_t free_one = cuckoo_copies_in(v, key.one, 0);
    uint64_t free_other = cuckoo_copies_in(v, key.other, 0);
    uint64_t emptier = free_one >= free_other ? key.one : key.other;
    if (!cuckoo_swap(v, emptier, 0, key.fp) && !cuckoo_kick(v, key, CUCKOO_ANY))
        return cuckoo_is_full();
    return seen ? BLY_SEEN : BLY_OK;
}

/* cuckoo_add_any() for words. */
PLATFORM_INLINE bly_status cuckoo_add_word(const cuckoo_view *v, cuckoo_key key,
                                           cuckoo_form form)
{
    uint64_t one = cuckoo_word(v, key.one), other = cuckoo_word(v, key.other);
    uint64_t free_one = cuckoo_match(v, one, 0, form);
    uint64_t free_other = cuckoo_match(v, other, 0, form);
    bool seen = (cuckoo_match(v, one, key.fp, form)
               | cuckoo_match(v, other, key.fp, form)) != 0;
    bool first = cuckoo_number(v, free_one, form)
              >= cuckoo_number(v, free_other, form);
    uint64_t emptier = first ? key.one : key.other;
    uint64_t slots = first ? free_one : free_other;
    if (slots == 0 && !cuckoo_kick(v, key, form))
        return cuckoo_is_full();
    if (slots != 0 && form == CUCKOO_PLAIN)
        cuckoo_turn(v, emptier, slots, 0, key.fp);
    else if (slots != 0)
        cuckoo_swap(v, emptier, 0, key.fp);
    return seen ? BLY_SEEN : BLY_OK;
}

PLATFORM_INLINE bly_status cuckoo_add_key(const cuckoo_view *v, cuckoo_key key,
                                          cuckoo_form form)
{
    return form == CUCKOO_ANY ? cuckoo_add_any(v, key)
                              : cuckoo_add_word(v, key, form);
}

bly_status cuckoo_add(void *image, uint64_t hash)
{
    cuckoo_view v = cuckoo_look(image);
    cuckoo_key key = cuckoo_key_of(&v, hash);
    switch (cuckoo_form_of(&v)) {
    case CUCKOO_PLAIN:
        return cuckoo_add_key(&v, key, CUCKOO_PLAIN);
    case CUCKOO_CODED:
        return cuckoo_add_key(&v, key, CUCKOO_CODED);
    default:
        return cuckoo_add_key(&v, key, CUCKOO_ANY);
    }
}

PLATFORM_INLINE bly_status cuckoo_remove_key(const cuckoo_view *v,
                                             cuckoo_key key, cuckoo_form form)
{
    if (form != CUCKOO_PLAIN)
        return cuckoo_swap(v, key.one, key.fp, 0)
            || cuckoo_swap(v, key.other, key.fp, 0)
             ? BLY_OK : status_plain(BLY_EABSENT);
    uint64_t one = cuckoo_match(v, cuckoo_word(v, key.one), key.fp, form);
    uint64_t other = cuckoo_match(v, cuckoo_word(v, key.other), key.fp, form);
    if ((one | other) == 0)
        return status_plain(BLY_EABSENT);
    cuckoo_turn(v, one != 0 ? key.one : key.other, one != 0 ? one : other,
                key.fp, 0);
    return BLY_OK;
}

bly_status cuckoo_remove(void *image, uint64_t hash)
{
    cuckoo_view v = cuckoo_look(image);
    cuckoo_key key = cuckoo_key_of(&v, hash);
    return cuckoo_form_of(&v) == CUCKOO_PLAIN
         ? cuckoo_remove_key(&v, key, CUCKOO_PLAIN)
         : cuckoo_remove_key(&v, key, CUCKOO_ANY);
}

/* ---- Batches ----------------------------------------------------------- */

enum { CUCKOO_PEEK = 48 };              /* keys ahead whose lines have come  */

void cuckoo_remove_many(void *image, const uint64_t *hashes, size_t n,
                        bly_status *each)
{
    const cuckoo_view v = cuckoo_look(image);
    if (cuckoo_form_of(&v) == CUCKOO_PLAIN)
        CUCKOO_ROLL(&v, hashes, n, true,
                    each[i] = cuckoo_remove_key(&v, key, CUCKOO_PLAIN));
    else
        CUCKOO_ROLL(&v, hashes, n, true,
                    each[i] = cuckoo_remove_key(&v, key, CUCKOO_ANY));
}

/* Prefetches, if both buckets are full, the other buckets of the fingerprints
 * in them, one of which will have to move. */
PLATFORM_INLINE void cuckoo_peek(const cuckoo_view *v, cuckoo_key key,
                                 cuckoo_form form)
{
    if (!cuckoo_full(v, key.one, form) || !cuckoo_full(v, key.other, form))
        return;
    cuckoo_prefetch_others(v, key.one, 1);
    cuckoo_prefetch_others(v, key.other, 1);
}

PLATFORM_INLINE bly_status cuckoo_add_by(const cuckoo_view *view,
                                         const uint64_t *hashes, size_t n,
                                         size_t *done, cuckoo_form form)
{
    const cuckoo_view known = cuckoo_known(view, form), *v = &known;
    const bool far = cuckoo_far(v);
    bly_status status;
    *done = 0;
    CUCKOO_ROLL(v, hashes, n, true,
        if (far && CUCKOO_PEEK < ahead && i + CUCKOO_PEEK < n)
            cuckoo_peek(v, ring.key[(i + CUCKOO_PEEK) % CUCKOO_RING], form);
        status = cuckoo_add_key(v, key, form);
        if (status < 0)
            return status;
        ++*done);
    return BLY_OK;
}

bly_status cuckoo_add_many(void *image, const uint64_t *hashes,
                           size_t n, size_t *done)
{
    const cuckoo_view v = cuckoo_look(image);
    switch (cuckoo_form_of(&v)) {
    case CUCKOO_PLAIN:
        return cuckoo_add_by(&v, hashes, n, done, CUCKOO_PLAIN);
    case CUCKOO_CODED:
        return cuckoo_add_by(&v, hashes, n, done, CUCKOO_CODED);
    default:
        return cuckoo_add_by(&v, hashes, n, done, CUCKOO_ANY);
    }
}
