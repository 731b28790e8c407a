/* labels.c - a row of cells that keep the largest label put into them.
 */
#include "bodies/labels.h"

#include <assert.h>
#include <math.h>

#include "base/cpu.h"
#include "base/task.h"
#include "bits/bits.h"
#include "bits/counters.h"
#include "bits/hash.h"
#include "maths/maths.h"
#include "bodies/rows.h"

/* ---- The row ------------------------------------------------------------ */

/* How a cell is read: see the head of labels.h. */
enum { LABELS_SHORT, LABELS_BYTE, LABELS_WORD, LABELS_HALVES, LABELS_FIELDS };

enum {
    LABELS_WORD_BYTES = 8,
    LABELS_SHORT_BITS = 56,     /* bits of a row of LABELS_SHORT, at most    */
    LABELS_WORD_MOST = 57,      /* bits that a word has from any bit on; and
                                   it has 64 from where each 64th begins     */
    LABELS_HALF = 32            /* bits of a wide cell's lower part          */
};

typedef struct {
    uint64_t m, most;
    uint64_t last;              /* where the last word of the row begins     */
    uint32_t k, width;
    int      form;
    bool     fields;            /* labels are compared field by field:       */
    uint32_t part;              /* bits of a field                           */
    uint64_t tops;              /* the highest bit of each                   */
} labels_row;

/* Returns the bytes of a row. */
PLATFORM_INLINE uint64_t labels_bytes(const labels_row *r)
{
    return r->m / 8 * r->width;
}

static int labels_form(size_t bytes, uint32_t width)
{
    return bytes < LABELS_WORD_BYTES
         ? width > 64 ? LABELS_FIELDS : LABELS_SHORT
         : width == 8 ? LABELS_BYTE
         : width <= LABELS_WORD_MOST || width == 64 ? LABELS_WORD
         : width > 64 ? LABELS_FIELDS : LABELS_HALVES;
}

static labels_row labels_look(const void *image)
{
    size_t bytes = image_payload_bytes(image);
    labels_row r = {
        .m = image_geometry(image, LABELS_M),
        .k = (uint32_t)image_geometry(image, LABELS_K),
        .width = (uint32_t)image_geometry(image, LABELS_WIDTH),
        .most = image_geometry(image, LABELS_MOST),
    };
    r.last = bytes < LABELS_WORD_BYTES ? bytes : bytes - LABELS_WORD_BYTES;
    r.form = labels_form(bytes, r.width);
    return r;
}

/* A row of LABELS_FIELDS whose form is how its cells are read. */
static labels_row labels_split(const labels_row *r)
{
    labels_row split = *r;
    split.width = labels_bits(r->width);
    split.part = split.width / labels_parts(r->width);
    split.tops = r->most / labels_most(split.part) << (split.part - 1);
    split.fields = true;
    bool small = r->m < 64 && r->m * split.width <= LABELS_SHORT_BITS;
    split.form = labels_form(small ? 0 : LABELS_WORD_BYTES, split.width);
    return split;
}

/* Call `work` with a copy of the row in which the compiler knows the form, and
 * do `other` for one of fields. The forms that most filters have come first:
 * they pay nothing for the others. */
#define LABELS_ARMS(r, work, other)                                            \
    do {                                                                       \
        labels_row known = *(r);                                               \
        known.fields = false;                                                  \
        if (known.form == LABELS_BYTE) {                                       \
            known.form = LABELS_BYTE;                                          \
            work;                                                              \
        } else if (known.form == LABELS_WORD) {                                \
            known.form = LABELS_WORD;                                          \
            work;                                                              \
        } else if (known.form == LABELS_HALVES) {                              \
            known.form = LABELS_HALVES;                                        \
            work;                                                              \
        } else if (known.form == LABELS_SHORT) {                               \
            known.form = LABELS_SHORT;                                         \
            work;                                                              \
        } else {                                                               \
            other;                                                             \
        }                                                                      \
    } while (0)

#define LABELS_SPLIT(r, work)                                                  \
    known = labels_split(r);                                                   \
    known.fields = true;                                                       \
    work

#define LABELS_FOR(r, work) LABELS_ARMS(r, work, LABELS_SPLIT(r, work))

/* ---- Two labels --------------------------------------------------------- */

/* All bits of each field of a that is b's or more. Without its highest bit no
 * field of b is more than that bit is, so nothing is borrowed from the next. */
PLATFORM_INLINE uint64_t labels_above(const labels_row *r, uint64_t a,
                                      uint64_t b)
{
    uint64_t rest = (a | r->tops) - (b & ~r->tops);
    uint64_t above = ((a & ~b) | (~(a ^ b) & rest)) & r->tops;
    return above | (above - (above >> (r->part - 1)));
}

/* The join of two labels, and their meet: the larger one and the smaller one,
 * of each field. */
PLATFORM_INLINE uint64_t labels_join(const labels_row *r, uint64_t a,
                                     uint64_t b)
{
    if (!r->fields)
        return a < b ? b : a;
    uint64_t above = labels_above(r, a, b);
    return (a & above) | (b & ~above);
}

PLATFORM_INLINE uint64_t labels_meet(const labels_row *r, uint64_t a,
                                     uint64_t b)
{
    if (!r->fields)
        return a < b ? a : b;
    uint64_t above = labels_above(r, a, b);
    return (b & above) | (a & ~above);
}

bool labels_covers(const void *image, uint64_t is, uint64_t was)
{
    labels_row r = labels_look(image);
    if (r.form == LABELS_FIELDS)
        r = labels_split(&r);
    return labels_join(&r, is, was) == is;
}

/* ---- Cells -------------------------------------------------------------- */

/* A word that has `bits` bits from `bit` on, and the bit's place in it: it
 * begins with the bit's byte, but ends no later than the row, and in the line
 * of the last bit, since to read into the next one for nothing is to wait for
 * memory that nobody has asked for. `last` of a short row is its length: its
 * word begins at 0. */
typedef struct { uint64_t byte; uint32_t shift; } labels_place;

enum { LABELS_LINE = 64 };

PLATFORM_INLINE labels_place labels_find(const labels_row *r, uint64_t bit,
                                         uint32_t bits)
{
    uint64_t byte = bit >> 3, end = (bit + bits - 1) >> 3;
    uint64_t stop = (end | (LABELS_LINE - 1)) + 1 - LABELS_WORD_BYTES;
    byte = byte < stop ? byte : stop;
    if (r->form == LABELS_SHORT)
        byte = 0;
    else
        byte = byte < r->last ? byte : r->last;
    return (labels_place){ byte, (uint32_t)(bit - 8 * byte) };
}

PLATFORM_INLINE uint64_t labels_load(const labels_row *r, const uint8_t *row,
                                     uint64_t byte)
{
    uint64_t word = 0;
    if (r->form != LABELS_SHORT)
        return image_u64(row, byte);
    for (uint64_t i = r->last; i-- > 0; )
        word = word << 8 | row[i];
    return word;
}

PLATFORM_INLINE void labels_store(const labels_row *r, uint8_t *row,
                                  uint64_t byte, uint64_t word)
{
    if (r->form != LABELS_SHORT) {
        image_set_u64(row, byte, word);
        return;
    }
    for (uint64_t i = 0; i < r->last; i++, word >>= 8)
        row[i] = (uint8_t)word;
}

/* `bits` bits from `bit` on; and these bits XOR `turn`. */
PLATFORM_INLINE uint64_t labels_part(const labels_row *r, const uint8_t *row,
                                     uint64_t bit, uint32_t bits)
{
    labels_place at = labels_find(r, bit, bits);
    return labels_load(r, row, at.byte) >> at.shift & labels_most(bits);
}

PLATFORM_INLINE void labels_turn(const labels_row *r, uint8_t *row,
                                 uint64_t bit, uint32_t bits, uint64_t turn)
{
    labels_place at = labels_find(r, bit, bits);
    uint64_t word = labels_load(r, row, at.byte);
    labels_store(r, row, at.byte, word ^ turn << at.shift);
}

PLATFORM_INLINE uint64_t labels_cell(const labels_row *r, const uint8_t *row,
                                     uint64_t at)
{
    uint64_t bit = at * r->width;
    if (r->form == LABELS_BYTE)
        return row[at];
    if (r->form != LABELS_HALVES)
        return labels_part(r, row, bit, r->width);
    uint32_t high = r->width - LABELS_HALF;
    return labels_part(r, row, bit, LABELS_HALF)
         | labels_part(r, row, bit + LABELS_HALF, high) << LABELS_HALF;
}

/* Raise a cell to the label; was it there before? */
PLATFORM_INLINE bool labels_raise(const labels_row *r, uint8_t *row,
                                  uint64_t at, uint64_t label)
{
    uint64_t old = labels_cell(r, row, at), bit = at * r->width;
    uint64_t now = labels_join(r, old, label), turn = old ^ now;
    if (r->form == LABELS_BYTE) {
        row[at] = (uint8_t)now;
    } else if (r->form != LABELS_HALVES) {
        labels_turn(r, row, bit, r->width, turn);
    } else {
        labels_turn(r, row, bit, LABELS_HALF,
                    turn & labels_most(LABELS_HALF));
        labels_turn(r, row, bit + LABELS_HALF, r->width - LABELS_HALF,
                    turn >> LABELS_HALF);
    }
    return r->fields ? turn == 0 : old >= label;
}

/* ---- Plan, check -------------------------------------------------------- */

static const kind_row labels_limits = {
    .m_most = LABELS_M_MAX, .k_most = LABELS_K_MAX,
    .limit = "2^56 cells",
};

/* The bits of a number above 0. */
static uint32_t labels_width(uint64_t most)
{
    uint32_t width = 1;
    while (width < 64 && most >> width != 0)
        width++;
    return width;
}

static shape labels_shape(uint64_t m, uint32_t k)
{
    return (shape){ .blocks = 1, .lanes = 1, .bits = m, .probes = k };
}

/* The lines of a cell on average: of the 512 bits of a line where one may
 * begin, each as often, width - step leave it less room than it takes. */
static double labels_lines(uint32_t width)
{
    uint32_t step = width & (~width + 1);
    return 1 + (double)(width - step) / 512;
}

bly_status labels_plan(bly_plan_t *plan, const kind_spec *spec, uint64_t most,
                       uint32_t parts)
{
    uint64_t m = 0, n = 0, bytes = 0;
    uint32_t k = 0, width = labels_width(most);
    bly_status status = kind_row_size(&m, &k, &n, spec, &labels_limits);
    if (status == BLY_OK && !counters_bytes(&bytes, m, width))
        status = kind_too_big(spec, "2^64 bits");
    if (status == BLY_OK)
        status = kind_plan_bytes(plan, bytes);
    if (status != BLY_OK)
        return status;

    shape s = labels_shape(m, k);
    rows_plan(plan, &s, n);
    double lines = ceil((double)bytes / 64), each = labels_lines(width);
    double absent = math_absent_probes(plan->fill, k);
    plan->lines_present = fmin(k * each, lines);
    plan->lines_absent = fmin(absent * each, lines);
    plan->label_bits = width;
    plan->label_least = 1;
    plan->label_most = most;
    plan->geometry[LABELS_M] = m;
    plan->geometry[LABELS_K] = k;
    plan->geometry[LABELS_WIDTH] = labels_field(width, parts);
    plan->geometry[LABELS_MOST] = most;
    return BLY_OK;
}

bly_status labels_check(const void *image)
{
    uint64_t m = image_geometry(image, LABELS_M), wanted = 0;
    uint64_t k = image_geometry(image, LABELS_K);
    uint64_t field = image_geometry(image, LABELS_WIDTH);
    uint64_t most = image_geometry(image, LABELS_MOST);
    uint32_t width = labels_bits(field), parts = labels_parts(field);
    size_t bytes = image_payload_bytes(image);

    bool sound = m >= 1 && m <= LABELS_M_MAX
              && k >= 1 && k <= LABELS_K_MAX
              && most >= 1 && width == labels_width(most)
              && field == labels_field(width, parts)
              && width % parts == 0
              && (parts == 1 || most == labels_most(width))
              && counters_bytes(&wanted, m, width)
              && bytes == wanted;
    if (!sound)
        return kind_bad_geometry(image);
    if (!bits_clear_from(image_payload(image), bytes, m * width))
        return status_fail(BLY_ECORRUPT, "bits beyond the last cell are set");
    return BLY_OK;
}

/* ---- Single keys -------------------------------------------------------- */

PLATFORM_INLINE uint64_t labels_at(const labels_row *r, uint64_t state)
{
    return bits_range(state, r->m);
}

/* The meet of a key's cells, L at most; 0: it is not there. */
PLATFORM_INLINE uint64_t labels_least(const labels_row *r, const uint8_t *row,
                                      uint64_t hash)
{
    uint64_t state = hash_spread(hash), least = r->most;
    for (uint32_t i = 0; i < r->k && least > 0; i++, state *= HASH_STEP) {
        uint64_t cell = labels_cell(r, row, labels_at(r, state));
        least = labels_meet(r, cell, least);
    }
    return least;
}

/* Looks up a label of several fields. Not inlined, because it needs more
 * registers than the other cases should have to save. */
PLATFORM_APART static uint64_t labels_of_fields(const void *image,
                                                uint64_t hash)
{
    labels_row r = labels_look(image), split = labels_split(&r);
    return labels_least(&split, image_payload(image), hash);
}

static uint64_t labels_of(const void *image, uint64_t hash)
{
    labels_row r = labels_look(image);
    LABELS_ARMS(&r, return labels_least(&known, image_payload(image), hash),
                return labels_of_fields(image, hash));
}

bool labels_contains(const void *image, uint64_t hash)
{
    return labels_of(image, hash) > 0;
}

bool labels_get(const void *image, uint64_t hash, uint64_t *label)
{
    uint64_t least = labels_of(image, hash);
    if (least > 0)
        *label = least;
    return least > 0;
}

PLATFORM_INLINE bly_status labels_put_by(const labels_row *r, uint8_t *row,
                                         uint64_t hash, uint64_t label)
{
    uint64_t state = hash_spread(hash);
    bool seen = true;
    for (uint32_t i = 0; i < r->k; i++, state *= HASH_STEP)
        seen &= labels_raise(r, row, labels_at(r, state), label);
    return seen ? BLY_SEEN : BLY_OK;
}

static bly_status labels_wrong(const labels_row *r, uint64_t label)
{
    if (label == 0)
        return status_fail(BLY_EPARAM, "label 0 stands for keys that are not "
                           "there: labels of this filter are 1 .. %llu",
                           (unsigned long long)r->most);
    return status_fail(BLY_EPARAM, "labels of this filter are 1 .. %llu, not "
                       "%llu: make a filter for larger ones",
                       (unsigned long long)r->most, (unsigned long long)label);
}

/* Returns whether the label is in the range. */
PLATFORM_INLINE bool labels_fits(const labels_row *r, uint64_t label)
{
    return label - 1 < r->most;
}

/* Not inlined, like labels_of_fields. */
PLATFORM_APART static bly_status labels_put_fields(void *image, uint64_t hash,
                                                   uint64_t label)
{
    labels_row r = labels_look(image), split = labels_split(&r);
    return labels_put_by(&split, image_payload_mut(image), hash, label);
}

bly_status labels_put(void *image, uint64_t hash, uint64_t label)
{
    labels_row r = labels_look(image);
    if (!labels_fits(&r, label))
        return labels_wrong(&r, label);
    LABELS_ARMS(&r, return labels_put_by(&known, image_payload_mut(image), hash,
                                         label),
                return labels_put_fields(image, hash, label));
}

/* A row of several fields may hold a key by fields other than that of label 1.
 * */
bly_status labels_add(void *image, uint64_t hash)
{
    labels_row r = labels_look(image);
    bool before = r.form == LABELS_FIELDS && labels_contains(image, hash);
    bly_status status = labels_put(image, hash, 1);
    return before ? BLY_SEEN : status;
}

/* ---- Batches: lookups --------------------------------------------------- */

/* Lines on their way at most, and keys in a group, as in src/bits/walk.c:
 * what a key takes of the stack says how many, and where nobody asks for labels
 * it takes less. */
enum { LABELS_RING = 128, LABELS_GROUP = 1536, LABELS_GROUP_GET = 768 };

/* The keys of a group of which neither a cell nor the meet so far was 0. */
typedef struct {
    uint64_t *state;                    /* of the index walk, at this probe  */
    uint64_t *least;                    /* meet of its cells so far; NULL: it
                                           is enough that none was 0         */
    uint16_t *key;                      /* its place in the group            */
} labels_group;

PLATFORM_INLINE void labels_prefetch(const labels_row *r, const uint8_t *row,
                                     uint64_t at)
{
    uint64_t bit = at * r->width;
    platform_prefetch(row + (bit >> 3));
    if (r->form != LABELS_BYTE)         /* it may lie in two lines */
        platform_prefetch(row + ((bit + r->width - 1) >> 3));
}

/* Key i goes on to place `kept`; returns the next place, which is the same
 * again if it is not there. */
PLATFORM_INLINE size_t labels_keep(const labels_group *g, size_t kept, size_t i,
                                   const labels_row *r, const uint8_t *row,
                                   bool meets)
{
    uint64_t state = g->state[i];
    uint64_t cell = labels_cell(r, row, labels_at(r, state));
    g->state[kept] = state * HASH_STEP;
    g->key[kept] = g->key[i];
    if (!meets)
        return kept + (cell > 0);
    uint64_t least = labels_meet(r, cell, g->least[i]);
    g->least[kept] = least;
    return kept + (r->fields ? least > 0 : cell > 0);
}

/* Runs one probe of the group's n keys; returns how many are left. `most` and
 * *fetched are as in walk.c. */
PLATFORM_INLINE size_t labels_probe(const labels_group *g, size_t n,
                                    size_t most, size_t *fetched,
                                    const labels_row *r,
                                    const uint8_t *row, bool meets)
{
    size_t ahead = n < most ? n : most, kept = 0, next = 0;
    for (size_t i = *fetched; i < ahead; i++)
        labels_prefetch(r, row, labels_at(r, g->state[i]));
    for (size_t i = 0; i < n - ahead; i++) {
        labels_prefetch(r, row, labels_at(r, g->state[i + ahead]));
        kept = labels_keep(g, kept, i, r, row, meets);
    }
    for (size_t i = n - ahead; i < n; i++) {
        kept = labels_keep(g, kept, i, r, row, meets);
        labels_prefetch(r, row, labels_at(r, g->state[next]));
        next += next < kept;
    }
    *fetched = next;
    return kept;
}

/* labels: NULL if the caller does not want them. */
PLATFORM_INLINE void labels_look_up(const labels_group *g, const labels_row *r,
                                    const uint8_t *row, const uint64_t *hashes,
                                    size_t n, bool *found, uint64_t *labels)
{
    const bool meets = g->least != NULL;
    const size_t most = cpu_ahead(n, n, labels_bytes(r));
    size_t fetched = 0;
    for (size_t i = 0; i < n; i++) {
        g->state[i] = hash_spread(hashes[i]);
        if (meets)
            g->least[i] = r->most;
        g->key[i] = (uint16_t)i;
        found[i] = false;
    }
    for (uint32_t j = 0; j < r->k && n > 0; j++)
        n = labels_probe(g, n, most, &fetched, r, row, meets);
    for (size_t i = 0; i < n; i++) {
        found[g->key[i]] = true;
        if (labels != NULL)
            labels[g->key[i]] = g->least[i];
    }
}

/* The state of labels_contains_many for a group of keys. */
typedef struct {
    uint64_t words[LABELS_GROUP];
    uint16_t key[LABELS_GROUP];
} labels_room;

static_assert(2 * LABELS_GROUP_GET <= LABELS_GROUP,
              "a group with its meets is in the room of one without");

/* labels_contains_many of a row of fields: that no cell is 0 is not enough. */
static void labels_meet_many(const labels_row *r, const uint8_t *row,
                             const uint64_t *hashes, size_t n, bool *present,
                             labels_room *room)
{
    labels_row split = labels_split(r);
    const labels_group group = { .state = room->words, .key = room->key,
                                 .least = room->words + LABELS_GROUP_GET };
    for (size_t i = 0, some; i < n; i += some) {
        some = n - i < LABELS_GROUP_GET ? n - i : LABELS_GROUP_GET;
        labels_look_up(&group, &split, row, hashes + i, some, present + i,
                       NULL);
    }
}

static void labels_bits_many(const labels_row *r, const uint8_t *row,
                             const uint64_t *hashes, size_t n, bool *present,
                             labels_room *room)
{
    const labels_group group = { .state = room->words, .key = room->key };
    for (size_t i = 0, some; i < n; i += some) {
        some = n - i < LABELS_GROUP ? n - i : LABELS_GROUP;
        LABELS_ARMS(r, labels_look_up(&group, &known, row, hashes + i, some,
                                      present + i, NULL), (void)0);
    }
}

void labels_contains_many(const void *image, const uint64_t *hashes, size_t n,
                          bool *present)
{
    labels_row r = labels_look(image);
    const uint8_t *row = image_payload(image);
    labels_room room;
    if (r.form == LABELS_FIELDS)
        labels_meet_many(&r, row, hashes, n, present, &room);
    else
        labels_bits_many(&r, row, hashes, n, present, &room);
}

void labels_get_many(const void *image, const uint64_t *hashes, size_t n,
                     bool *found, uint64_t *labels)
{
    labels_row r = labels_look(image);
    uint64_t state[LABELS_GROUP_GET], least[LABELS_GROUP_GET];
    uint16_t key[LABELS_GROUP_GET];
    const labels_group group = { .state = state, .least = least, .key = key };
    for (size_t i = 0, some; i < n; i += some) {
        some = n - i < LABELS_GROUP_GET ? n - i : LABELS_GROUP_GET;
        LABELS_FOR(&r, labels_look_up(&group, &known, image_payload(image),
                                      hashes + i, some, found + i, labels + i));
    }
}

/* ---- Batches: put ------------------------------------------------------- */

/* A probe that waits for its line. */
typedef struct { uint64_t at, label; } labels_turns;

/* All probes of all keys, one after another, raised some behind their
 * prefetches. labels: NULL if all are 1. */
PLATFORM_INLINE void labels_put_all(const labels_row *r, uint8_t *row,
                                    const uint64_t *hashes,
                                    const uint64_t *labels, size_t n)
{
    labels_turns ring[LABELS_RING];
    size_t turn = 0, ahead = cpu_ahead(LABELS_RING, LABELS_RING,
                                       labels_bytes(r));
    for (size_t i = 0; i < n; i++) {
        uint64_t state = hash_spread(hashes[i]);
        uint64_t label = labels != NULL ? labels[i] : 1;
        for (uint32_t j = 0; j < r->k; j++, turn++, state *= HASH_STEP) {
            labels_turns *slot = &ring[turn % LABELS_RING];
            if (turn >= ahead) {
                const labels_turns *due = &ring[(turn - ahead) % LABELS_RING];
                labels_raise(r, row, due->at, due->label);
            }
            *slot = (labels_turns){ labels_at(r, state), label };
            platform_prefetch_write(row + (slot->at * r->width >> 3));
        }
    }
    for (size_t i = turn - (turn < ahead ? turn : ahead); i < turn; i++)
        labels_raise(r, row, ring[i % LABELS_RING].at,
                     ring[i % LABELS_RING].label);
}

bly_status labels_add_many(void *image, const uint64_t *hashes, size_t n,
                           size_t *done)
{
    labels_row r = labels_look(image);
    *done = n;
    LABELS_FOR(&r, labels_put_all(&known, image_payload_mut(image), hashes,
                                  NULL, n));
    return BLY_OK;
}

bly_status labels_put_many(void *image, const uint64_t *hashes,
                           const uint64_t *labels, size_t n, size_t *done)
{
    labels_row r = labels_look(image);
    size_t good = 0;
    while (good < n && labels_fits(&r, labels[good]))
        good++;
    *done = good;
    LABELS_FOR(&r, labels_put_all(&known, image_payload_mut(image), hashes,
                                  labels, good));
    return good < n ? labels_wrong(&r, labels[good]) : BLY_OK;
}

/* ---- Whole rows --------------------------------------------------------- */

PLATFORM_INLINE void labels_unite_by(const labels_row *r, uint8_t *into,
                                     const uint8_t *other)
{
    TASK_EACH(i, r->m)
        labels_raise(r, into, i, labels_cell(r, other, i));
}

bly_status labels_unite(void *into, const void *other)
{
    labels_row r = labels_look(into);
    LABELS_FOR(&r, labels_unite_by(&known, image_payload_mut(into),
                                   image_payload(other)));
    return BLY_OK;
}

/* Numbers of cells above 0 in a, in b, and in a or b. */
typedef struct { uint64_t a, b, either; } labels_pair;

PLATFORM_INLINE labels_pair labels_compare(const labels_row *r,
                                           const uint8_t *a, const uint8_t *b)
{
    labels_pair used = { 0, 0, 0 };
    TASK_EACH(i, r->m) {
        uint64_t in_a = labels_cell(r, a, i), in_b = labels_cell(r, b, i);
        used.a += in_a > 0;
        used.b += in_b > 0;
        used.either += (in_a | in_b) > 0;
    }
    return used;
}

static labels_pair labels_used(const labels_row *r, const uint8_t *a,
                               const uint8_t *b)
{
    LABELS_FOR(r, return labels_compare(&known, a, b));
}

void labels_overlap(bly_overlap_t *out, const void *a, const void *b)
{
    labels_row r = labels_look(a);
    shape s = labels_shape(r.m, r.k);
    labels_pair used = labels_used(&r, image_payload(a), image_payload(b));
    rows_overlap_of(out, &s, used.a, used.b, used.either);
}

/* ---- Look inside -------------------------------------------------------- */

/* Returns an upper bound of the rate at which absent keys are found: their
 * cells must be above 0, and all of them in at least one field. The chance is
 * computed as if different keys raised the fields; fields raised together are
 * above 0 together, which lowers it. */
static double labels_fields_rate(const labels_row *fields, const uint8_t *row,
                                 double fill)
{
    labels_row r = labels_split(fields);
    uint64_t used[64] = { 0 };
    double none = 1;
    TASK_EACH(i, r.m) {
        uint64_t zero = labels_above(&r, 0, labels_cell(&r, row, i));
        for (uint32_t p = 0; p < r.width / r.part; p++)
            used[p] += ~zero >> p * r.part & 1;
    }
    for (uint32_t p = 0; p < r.width / r.part; p++)
        none *= 1 - pow((double)used[p] / (double)r.m, r.k);
    return fmin(pow(fill, r.k), 1 - none);
}

void labels_stat(bly_info_t *out, const void *image)
{
    labels_row r = labels_look(image);
    shape s = labels_shape(r.m, r.k);
    const uint8_t *row = image_payload(image);
    uint64_t used = labels_used(&r, row, row).a;
    shape_estimate keys = shape_keys(&s, (double)used);

    out->fill = (double)used / (double)r.m;
    out->rate = r.form == LABELS_FIELDS
              ? labels_fields_rate(&r, row, out->fill) : pow(out->fill, r.k);
    out->distinct = keys.value;
    out->distinct_sd = keys.sd;
    out->probes = r.k;
    out->label_bits = labels_bits(r.width);
    out->label_least = 1;
    out->label_most = r.most;
}

/* Numbers of cells with each label. Rows of less than 2^32 cells use 32 bits,
 * so that twice as many labels are counted at a time. */
typedef union {
    uint32_t narrow[LABELS_TALLY];
    uint64_t wide[LABELS_TALLY / 2];
} labels_counts;

PLATFORM_INLINE bool labels_wide(const labels_row *r)
{
    return r->m >> 32 != 0;
}

/* Labels counted at a time. */
static uint64_t labels_counted(const labels_row *r)
{
    return labels_wide(r) ? LABELS_TALLY / 2 : LABELS_TALLY;
}

/* Count the cells of labels from `from` on; a forged cell above L is one of
 * L. */
PLATFORM_INLINE void labels_tally_by(const labels_row *r, const uint8_t *row,
                                     uint64_t from, labels_counts *count)
{
    const bool wide = labels_wide(r);
    const uint64_t counted = labels_counted(r);
    memset(count, 0, sizeof *count);
    TASK_EACH(i, r->m) {
        uint64_t cell = labels_cell(r, row, i);
        uint64_t place = (cell < r->most ? cell : r->most) - from;
        if (place < counted && wide)
            count->wide[place]++;
        else if (place < counted)
            count->narrow[place]++;
    }
}

static void labels_tally(const labels_row *r, const uint8_t *row,
                         uint64_t from, labels_counts *count)
{
    LABELS_FOR(r, labels_tally_by(&known, row, from, count));
}

/* A label that `here` cells show, and `above` cells show larger ones. A key
 * that has it is mistaken for one of those if they have all its cells, a
 * stranger if it finds no smaller one. */
static bly_label_t labels_show(const labels_row *r, uint64_t label,
                               uint64_t here, uint64_t above)
{
    double m = (double)r->m, larger = pow((double)above / m, r->k);
    double rate = pow((double)(here + above) / m, r->k) - larger;
    return (bly_label_t){
        .label = label, .fill = (double)here / m,
        .rate = rate > 0 ? rate : 0, .mistaken = larger,
    };
}

void labels_each(const void *image, bly_visit_label *visit, void *context)
{
    labels_row r = labels_look(image);
    const uint8_t *row = image_payload(image);
    labels_counts count;
    uint64_t above = labels_used(&r, row, row).a, counted = labels_counted(&r);
    for (uint64_t from = 1; from <= r.most; from += counted) {
        labels_tally(&r, row, from, &count);
        for (uint64_t i = 0; i < counted && from + i <= r.most; i++) {
            uint64_t here = labels_wide(&r) ? count.wide[i] : count.narrow[i];
            above -= here;
            bly_label_t label = labels_show(&r, from + i, here, above);
            if (!visit(context, &label))
                return;
        }
    }
}
