/* ribbon_look.c - looks up keys in the layers of kind `ribbon`.
 *
 * First one key, then batches. Each has a portable body and vector bodies for
 * 4 columns (SSE2, NEON), 8 (AVX2) or 16 and eight keys at a time (AVX-512).
 */
#include "kinds/frozen/ribbon/ribbon.h"

#include <assert.h>

#include "base/vector.h"
#include "bits/eight.h"

/* ---- Single keys ------------------------------------------------------- */

/* A band has 64 rows in three tiles: its coefficients, shifted to where it
 * starts in the first one, a word for each tile. */
typedef struct {
    uint32_t word[3];
} ribbon_words;

PLATFORM_INLINE ribbon_words ribbon_words_of(uint64_t state, uint64_t start)
{
    uint64_t c = ribbon_coefficients(state), low = c << start % RIBBON_TILE;
    uint64_t high = c >> 1 >> (63 - start % RIBBON_TILE);
    return (ribbon_words){ { (uint32_t)low, (uint32_t)(low >> 32),
                             (uint32_t)high } };
}

/* The tiles of a band, and the columns where its rows make the fingerprint.
 * All bands of a layer are read to the same column, so that a loop is as long
 * for each key. */
typedef struct {
    const uint8_t *tile[3];
    uint32_t bits, columns;
} ribbon_band;

/* Returns the band from a tile on, if all tiles are as wide. */
PLATFORM_INLINE ribbon_band ribbon_band_even(const uint8_t *tile, uint32_t bits)
{
    size_t bytes = 4 * (size_t)bits;
    return (ribbon_band){ .tile = { tile, tile + bytes, tile + 2 * bytes },
                          .bits = bits, .columns = bits };
}

/* Returns the band of a start in a layer. If some tiles are wide (`mixed`), the
 * one where a band begins says how many columns the key has. */
PLATFORM_INLINE ribbon_band ribbon_band_of(const ribbon_layer *layer,
                                           uint64_t start, bool mixed)
{
    uint64_t tile = ribbon_tile(layer, start), bits = layer->bits;
    if (!mixed)
        return ribbon_band_even(layer->tiles + tile * 4 * bits, layer->bits);
    const uint8_t *first = layer->tiles
                         + ribbon_offset(layer->bits, layer->wide, tile);
    const uint8_t *second = first + 4 * (bits + (tile < layer->wide));
    return (ribbon_band){
        .tile = { first, second,
                  second + 4 * (bits + (tile + 1 < layer->wide)) },
        .bits = layer->bits + ribbon_is_wide(layer->wide, tile),
        .columns = layer->columns,
    };
}

/* Returns 1 if the rows of the band do not add up to the fingerprint in column
 * i. */
PLATFORM_INLINE uint32_t ribbon_column(const ribbon_band *band, ribbon_words c,
                                       uint32_t print, size_t i)
{
    uint32_t sum = (image_u32(band->tile[0], 4 * i) & c.word[0])
                 ^ (image_u32(band->tile[1], 4 * i) & c.word[1])
                 ^ (image_u32(band->tile[2], 4 * i) & c.word[2]);
    return ribbon_parity(sum, false) ^ (print >> i & 1);
}

/* Returns whether the rows of the band add up to the fingerprint in every
 * column. */
PLATFORM_INLINE bool ribbon_adds_up(ribbon_band band, ribbon_words c,
                                    uint32_t print)
{
    uint32_t wrong = 0, last = band.columns - 1;
    for (size_t i = 0; i < last; i++)
        wrong |= ribbon_column(&band, c, print, i);
    wrong |= ribbon_column(&band, c, print, last) & (band.bits > last);
    return wrong == 0;
}

#if CPU_VECTOR4
/* Four columns of a band from this byte of its tiles on, added up: a lane for
 * each. */
PLATFORM_INLINE vector4 ribbon_columns_baseline(const ribbon_band *band,
                                                size_t from, ribbon_words c)
{
    vector4 a = vector4_mask(vector4_of(band->tile[0] + from), c.word[0]);
    vector4 b = vector4_mask(vector4_of(band->tile[1] + from), c.word[1]);
    return vector4_xor(vector4_xor(a, b),
                       vector4_mask(vector4_of(band->tile[2] + from),
                                    c.word[2]));
}

/* Does the work of ribbon_adds_up(), eight columns at a time. */
PLATFORM_INLINE bool ribbon_adds_up_baseline(ribbon_band band, ribbon_words c,
                                             uint32_t print)
{
    uint32_t sums = 0;
    for (uint32_t first = 0; first < band.columns; first += 8) {
        vector4 low = ribbon_columns_baseline(&band, 4 * first, c);
        vector4 high = ribbon_columns_baseline(&band, 4 * first + 16, c);
        sums |= vector4_parity(low, high) << first;
    }
    return ((sums ^ print) & (uint32_t)bits_mask(band.bits)) == 0;
}
#endif

#if CPU_X86
/* Eight columns, from `first` on, of a band, added up, with the bit of the
 * fingerprint that they should come to: a lane of 32 bits for each. */
CPU_TARGET_AVX2 PLATFORM_INLINE __m256i
ribbon_columns_avx2(const ribbon_band *band, ribbon_words words,
                    uint32_t print, uint32_t first)
{
    const __m256i numbers = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    size_t from = 4 * (size_t)first;
    __m256i a = _mm256_loadu_si256((const void *)(band->tile[0] + from));
    __m256i b = _mm256_loadu_si256((const void *)(band->tile[1] + from));
    __m256i c = _mm256_loadu_si256((const void *)(band->tile[2] + from));
    a = _mm256_and_si256(a, _mm256_set1_epi32((int)words.word[0]));
    b = _mm256_and_si256(b, _mm256_set1_epi32((int)words.word[1]));
    c = _mm256_and_si256(c, _mm256_set1_epi32((int)words.word[2]));
    __m256i wanted = _mm256_set1_epi32((int)(print >> first));
    wanted = _mm256_and_si256(_mm256_srlv_epi32(wanted, numbers),
                              _mm256_set1_epi32(1));
    return _mm256_xor_si256(_mm256_xor_si256(a, b),
                            _mm256_xor_si256(c, wanted));
}

/* Does the work of ribbon_adds_up() for eight columns at a time. Each lane is
 * folded until the parity of its lowest 4 bits is that of all, and a table has
 * it. */
CPU_TARGET_AVX2 PLATFORM_INLINE bool
ribbon_adds_up_avx2(ribbon_band band, ribbon_words c, uint32_t print)
{
    const __m256i odd = _mm256_setr_epi8(
        0, -1, -1, 0, -1, 0, 0, -1, -1, 0, 0, -1, 0, -1, -1, 0,
        0, -1, -1, 0, -1, 0, 0, -1, -1, 0, 0, -1, 0, -1, -1, 0);
    uint32_t wrong = 0;
    for (uint32_t first = 0; first < band.columns; first += 8) {
        __m256i sum = ribbon_columns_avx2(&band, c, print, first);
        sum = _mm256_xor_si256(sum, _mm256_srli_epi32(sum, 16));
        sum = _mm256_xor_si256(sum, _mm256_srli_epi32(sum, 8));
        sum = _mm256_xor_si256(sum, _mm256_srli_epi32(sum, 4));
        sum = _mm256_and_si256(sum, _mm256_set1_epi32(15));
        sum = _mm256_slli_epi32(_mm256_shuffle_epi8(odd, sum), 31);
        wrong |= (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(sum))
              << first;
    }
    return (wrong & (uint32_t)bits_mask(band.bits)) == 0;
}
#endif

/* The place of the answer for a key. */
typedef struct {
    ribbon_layer layer;
    uint64_t state;
} ribbon_answer;

/* For an image that is not empty. */
PLATFORM_INLINE ribbon_answer ribbon_find(const void *image,
                                          const ribbon_shape *g, uint64_t hash)
{
    const uint8_t *at = image_payload(image);
    uint64_t state = ribbon_state(hash, g->seed);
    for (size_t i = 0; i < RIBBON_LAYERS && g->buckets[i] > 0; i++) {
        ribbon_layer layer = ribbon_layer_at(g, at, g->buckets[i]);
        state = i > 0 ? ribbon_next(state) : state;
        if (!ribbon_gone(&layer, bits_range(state, layer.starts)))
            return (ribbon_answer){ layer, state };
        at += ribbon_layer_bytes(g, g->buckets[i]);
    }
    return (ribbon_answer){ ribbon_last_at(g, at),
                            hash_mix(state + ribbon_last_add(g->last_seed)) };
}

/* A key, its layer and place found, put to `adds_up`. */
#define RIBBON_ONE(image, hash, adds_up)                                       \
    do {                                                                       \
        ribbon_shape g = ribbon_shape_of(image);                               \
        if (g.distinct == 0)                                                   \
            return false;                                                      \
        ribbon_answer a = ribbon_find((image), &g, (hash));                    \
        uint64_t start = bits_range(a.state, a.layer.starts);                  \
        return adds_up(ribbon_band_of(&a.layer, start, g.share > 0),           \
                       ribbon_words_of(a.state, start),                        \
                       ribbon_fingerprint(a.state) & a.layer.prints);          \
    } while (0)

bool ribbon_contains(const void *image, uint64_t hash)
{
    RIBBON_ONE(image, hash, ribbon_adds_up);
}

#if CPU_X86
CPU_TARGET_AVX2 static bool ribbon_contains_avx2(const void *image,
                                                 uint64_t hash)
{
    RIBBON_ONE(image, hash, ribbon_adds_up_avx2);
}
#endif

#if CPU_VECTOR4
static bool ribbon_contains_baseline(const void *image, uint64_t hash)
{
    RIBBON_ONE(image, hash, ribbon_adds_up_baseline);
}
#endif

/* The view of one key's question: the first layer, where most keys are. */
typedef struct {
    ribbon_layer first;
    uint64_t add;                       /* to a hash, before it is mixed     */
    const void *image;
} ribbon_view;

static_assert(sizeof(ribbon_view) <= KIND_VIEW, "a view has its room");

#define RIBBON_ONE_FIRST(view, hash, adds_up, others, mixed)                   \
    do {                                                                       \
        const ribbon_view *v = (view);                                         \
        uint64_t state = hash_mix((hash) + v->add);                            \
        uint64_t start = bits_range(state, v->first.starts);                   \
        if (ribbon_gone(&v->first, start))                                     \
            return others(v->image, (hash));                                   \
        return adds_up(ribbon_band_of(&v->first, start, (mixed)),              \
                       ribbon_words_of(state, start),                          \
                       ribbon_fingerprint(state) & v->first.prints);           \
    } while (0)

static bool ribbon_one(const void *view, uint64_t hash)
{
    RIBBON_ONE_FIRST(view, hash, ribbon_adds_up, ribbon_contains, false);
}

static bool ribbon_one_mixed(const void *view, uint64_t hash)
{
    RIBBON_ONE_FIRST(view, hash, ribbon_adds_up, ribbon_contains, true);
}

#if CPU_X86
CPU_TARGET_AVX2 static bool ribbon_one_avx2(const void *view, uint64_t hash)
{
    RIBBON_ONE_FIRST(view, hash, ribbon_adds_up_avx2, ribbon_contains_avx2,
                     false);
}

CPU_TARGET_AVX2 static bool ribbon_one_mixed_avx2(const void *view,
                                                  uint64_t hash)
{
    RIBBON_ONE_FIRST(view, hash, ribbon_adds_up_avx2, ribbon_contains_avx2,
                     true);
}
#endif

#if CPU_VECTOR4
static bool ribbon_one_baseline(const void *view, uint64_t hash)
{
    RIBBON_ONE_FIRST(view, hash, ribbon_adds_up_baseline,
                     ribbon_contains_baseline, false);
}

static bool ribbon_one_mixed_baseline(const void *view, uint64_t hash)
{
    RIBBON_ONE_FIRST(view, hash, ribbon_adds_up_baseline,
                     ribbon_contains_baseline, true);
}
#endif

kind_contains *ribbon_contains_here(const void **subject, void *view)
{
    const void *image = *subject;
    ribbon_shape g = ribbon_shape_of(image);
    if (g.distinct == 0 || g.buckets[0] == 0)
        return ribbon_contains;
    *(ribbon_view *)view = (ribbon_view){
        .first = ribbon_layer_at(&g, image_payload(image), g.buckets[0]),
        .add = g.seed * HASH_STEP, .image = image,
    };
    *subject = view;
#if CPU_X86
    if (cpu_now() >= CPU_AVX2)
        return g.share > 0 ? ribbon_one_mixed_avx2 : ribbon_one_avx2;
#endif
#if CPU_VECTOR4
    if (cpu_now() >= CPU_BASELINE)
        return g.share > 0 ? ribbon_one_mixed_baseline : ribbon_one_baseline;
#endif
    return g.share > 0 ? ribbon_one_mixed : ribbon_one;
}

/* ---- Batches ----------------------------------------------------------- */

/* Keys are taken through a layer eight at a time, at most RIBBON_RING eights
 * after their lines were asked for. Those bumped wait until they are
 * RIBBON_GROUP or so, enough to be a batch for the next layer: with few the
 * lookups would wait for the lines of the last of them more than for all
 * others. */
enum { RIBBON_RING = 16, RIBBON_GROUP = 1024 };

/* The state of eight keys when their lines are prefetched. */
typedef struct {
    uint64_t state[8], start[8];
    uint64_t at[3][8];                  /* bytes where the tiles begin; only
                                           the first if all are as wide      */
    uint32_t c[3][8];                   /* coefficients, a word for each tile*/
    uint32_t print[8];
    uint8_t  codes[8];                  /* of four buckets, the key's too    */
    uint32_t wide;                      /* bit j: key j begins in a wide tile*/
} ribbon_eight;

/* The keys that go on from a layer. */
typedef struct {
    uint64_t state[RIBBON_GROUP];
    uint32_t key[RIBBON_GROUP];         /* its place in the batch            */
} ribbon_group;

/* n keys and the layer that is next for them. */
typedef struct {
    ribbon_layer layer;
    const uint64_t *in;                 /* hashes, or states in the last one */
    uint64_t add;                       /* to these, before they are mixed   */
    size_t   n;
    bool     first;                     /* the keys are 0 … n-1; else they
                                           come from the group              */
    bool    *present;
    ribbon_group *group;
} ribbon_pass;

/* The number of columns, for each of which a specialised function exists, and
 * whether some tiles have one more than others. */
enum { RIBBON_TO_8, RIBBON_TO_16, RIBBON_TO_32, RIBBON_MIXED = 4 };

typedef uint32_t ribbon_width;

PLATFORM_INLINE bool ribbon_is(ribbon_width width, ribbon_width columns)
{
    return (width & ~(ribbon_width)RIBBON_MIXED) == columns;
}

/* Returns the band of key j. */
PLATFORM_INLINE ribbon_band ribbon_band_at(const ribbon_layer *layer,
                                           const ribbon_eight *e, size_t j,
                                           ribbon_width width)
{
    ribbon_band band = { .bits = layer->bits + (e->wide >> j & 1),
                         .columns = layer->columns };
    if ((width & RIBBON_MIXED) == 0)
        return ribbon_band_even(layer->tiles + e->at[0][j], layer->bits);
    for (size_t i = 0; i < 3; i++)
        band.tile[i] = layer->tiles + e->at[i][j];
    return band;
}

/* Keys i, i+1, … i+7, or as many as there are. */
PLATFORM_INLINE size_t ribbon_some(const ribbon_pass *p, size_t i)
{
    return p->n - i < 8 ? p->n - i : 8;
}

/* Prefetches all lines of eight bands, and reads the bytes of their thresholds,
 * which are so few that they are in the cache. The vector bodies load eight
 * columns of each tile at a time, also behind the band, and the processor waits
 * for every line they load. So all of these are prefetched: two lines for a
 * narrow band, seldom three. */
PLATFORM_INLINE void ribbon_prefetch(const ribbon_pass *p, size_t i,
                                     ribbon_eight *e, ribbon_width width)
{
    const ribbon_layer *layer = &p->layer;
    size_t bits = layer->columns, n = ribbon_some(p, i);
    size_t bytes = 2 * 4 * bits + (bits + 7) / 8 * 32;
    for (size_t j = 0; j < n; j++) {
        const uint8_t *tile = layer->tiles + e->at[0][j];
        platform_prefetch(tile);
        platform_prefetch(tile + bytes - 1);
        if (ribbon_is(width, RIBBON_TO_8) && bits % 8 > 4)
            platform_prefetch(tile + bytes / 2);
        for (size_t k = 64; !ribbon_is(width, RIBBON_TO_8) && k < bytes;
             k += 64)
            platform_prefetch(tile + k);
        if (layer->codes != NULL)
            e->codes[j] = layer->codes[e->start[j] / (4 * RIBBON_BUCKET)];
    }
}

/* Sets where the tiles of key j begin. Returns whether its band is wide. */
PLATFORM_INLINE bool ribbon_places(const ribbon_layer *layer, ribbon_eight *e,
                                   size_t j, uint64_t tile, ribbon_width width)
{
    if ((width & RIBBON_MIXED) == 0) {
        e->at[0][j] = tile * 4 * layer->bits;
        return false;
    }
    uint64_t at = ribbon_offset(layer->bits, layer->wide, tile);
    uint64_t bits = layer->bits, more = tile < layer->wide;
    e->at[0][j] = at;
    e->at[1][j] = at + 4 * (bits + more);
    e->at[2][j] = at + 4 * (2 * bits + more + (tile + 1 < layer->wide));
    return ribbon_is_wide(layer->wide, tile);
}

PLATFORM_INLINE void ribbon_prepare(const ribbon_pass *p, size_t i,
                                    ribbon_eight *e, ribbon_width width)
{
    uint32_t wide = 0;
    for (size_t j = 0; j < ribbon_some(p, i); j++) {
        uint64_t state = hash_mix(p->in[i + j] + p->add);
        uint64_t start = bits_range(state, p->layer.starts);
        ribbon_words c = ribbon_words_of(state, start);
        e->state[j] = state;
        e->start[j] = start;
        wide |= (uint32_t)ribbon_places(&p->layer, e, j,
                                        ribbon_tile(&p->layer, start), width)
             << j;
        for (size_t k = 0; k < 3; k++)
            e->c[k][j] = c.word[k];
        e->print[j] = ribbon_fingerprint(state) & p->layer.prints;
    }
    e->wide = wide;
}

/* Answer keys i … from `wrong`, whose bit j is set if key i+j is not here, and
 * keep those for the next layer that have gone there. How many are kept. */
PLATFORM_INLINE size_t ribbon_settle(const ribbon_pass *p, size_t i,
                                     const ribbon_eight *e, uint32_t wrong,
                                     size_t kept)
{
    for (size_t j = 0; j < ribbon_some(p, i); j++) {
        size_t key = p->first ? i + j : p->group->key[i + j];
        p->present[key] = !(wrong >> j & 1);
        p->group->state[kept] = e->state[j];
        p->group->key[kept] = (uint32_t)key;
        kept += p->layer.codes != NULL
             && ribbon_below(e->start[j], e->codes[j]);
    }
    return kept;
}

/* Might eight keys more, beside those in the ring, be too many? Keys that come
 * from the group never are. */
PLATFORM_INLINE bool ribbon_full(const ribbon_pass *p, size_t kept)
{
    return p->first && kept > RIBBON_GROUP - 8 * (RIBBON_RING + 1);
}

/* Returns how many eights are prefetched: at least two, because they are
 * prefetched a turn after they are prepared. */
PLATFORM_INLINE size_t ribbon_ahead(void)
{
    size_t keys = cpu_ahead(8 * RIBBON_RING, 8 * RIBBON_RING, CPU_FAR);
    return keys > 16 ? (keys + 7) / 8 : 2;
}

/* A layer for the keys of a pass; how many go on. In the first layer it ends,
 * and makes p->n smaller, when the group might be full. Eights are asked for
 * one turn after they were prepared: sooner, and what was written in one piece
 * could not yet be read in eight. */
#define RIBBON_ROLL(p, prepare, settle, width)                                 \
    do {                                                                       \
        ribbon_eight ring[RIBBON_RING];                                        \
        size_t kept = 0, eights = ((p)->n + 7) / 8, ahead = ribbon_ahead();    \
        for (size_t i = 0; i < eights + ahead; i++) {                          \
            ribbon_eight *e = &ring[i % RIBBON_RING];                          \
            if (i >= ahead)                                                    \
                kept = settle((p), 8 * (i - ahead),                            \
                              &ring[(i - ahead) % RIBBON_RING], kept,          \
                              (width));                                        \
            if (i >= 1 && i <= eights)                                         \
                ribbon_prefetch((p), 8 * (i - 1),                              \
                                &ring[(i - 1) % RIBBON_RING], (width));        \
            if (i < eights && !ribbon_full((p), kept))                         \
                prepare((p), 8 * i, e, (width));                               \
            else if (i < eights)                                               \
                (p)->n = 8 * (eights = i);                                     \
        }                                                                      \
        return kept;                                                           \
    } while (0)

/* Keys one by one, each put to `adds_up`. */
#define RIBBON_SETTLE_EACH(p, i, e, kept, width, adds_up)                      \
    do {                                                                       \
        uint32_t wrong = 0;                                                    \
        for (size_t j = 0; j < ribbon_some((p), (i)); j++) {                   \
            ribbon_words c = { { (e)->c[0][j], (e)->c[1][j], (e)->c[2][j] } }; \
            ribbon_band band = ribbon_band_at(&(p)->layer, (e), j, (width));   \
            wrong |= (uint32_t)!adds_up(band, c, (e)->print[j]) << j;          \
        }                                                                      \
        return ribbon_settle((p), (i), (e), wrong, (kept));                    \
    } while (0)

PLATFORM_INLINE size_t ribbon_settle_portable(const ribbon_pass *p, size_t i,
                                              const ribbon_eight *e,
                                              size_t kept, ribbon_width width)
{
    RIBBON_SETTLE_EACH(p, i, e, kept, width, ribbon_adds_up);
}

static size_t ribbon_pass_portable(ribbon_pass *p)
{
    RIBBON_ROLL(p, ribbon_prepare, ribbon_settle_portable, RIBBON_TO_32);
}

static size_t ribbon_pass_mixed_portable(ribbon_pass *p)
{
    RIBBON_ROLL(p, ribbon_prepare, ribbon_settle_portable,
                RIBBON_TO_32 | RIBBON_MIXED);
}

#if CPU_VECTOR4
PLATFORM_INLINE size_t ribbon_settle_baseline(const ribbon_pass *p, size_t i,
                                              const ribbon_eight *e,
                                              size_t kept, ribbon_width width)
{
    RIBBON_SETTLE_EACH(p, i, e, kept, width, ribbon_adds_up_baseline);
}

/* `mixed`: RIBBON_MIXED or 0, here and below. */
PLATFORM_INLINE size_t
ribbon_pass_baseline_by(ribbon_pass *p, ribbon_width mixed)
{
    if (p->layer.columns <= 8)
        RIBBON_ROLL(p, ribbon_prepare, ribbon_settle_baseline,
                    RIBBON_TO_8 | mixed);
    else
        RIBBON_ROLL(p, ribbon_prepare, ribbon_settle_baseline,
                    RIBBON_TO_32 | mixed);
}

static size_t ribbon_pass_baseline(ribbon_pass *p)
{
    return ribbon_pass_baseline_by(p, 0);
}

static size_t ribbon_pass_mixed_baseline(ribbon_pass *p)
{
    return ribbon_pass_baseline_by(p, RIBBON_MIXED);
}
#endif

#if CPU_X86
CPU_TARGET_AVX2 PLATFORM_INLINE __m256i
ribbon_key_avx2(const ribbon_layer *layer, const ribbon_eight *e, size_t j,
                uint32_t first, ribbon_width width)
{
    ribbon_words c = { { e->c[0][j], e->c[1][j], e->c[2][j] } };
    ribbon_band band = ribbon_band_at(layer, e, j, width);
    return ribbon_columns_avx2(&band, c, e->print[j], first);
}

/* Returns the exclusive or of the two halves of each lane, for a in the low
 * half and for b in the high half. */
CPU_TARGET_AVX2 PLATFORM_INLINE __m256i ribbon_halves_avx2(__m256i a, __m256i b)
{
    return _mm256_blend_epi16(_mm256_xor_si256(a, _mm256_srli_epi32(a, 16)),
                              _mm256_xor_si256(b, _mm256_slli_epi32(b, 16)),
                              0xAA);
}

/* Keys j … j+3 and columns first … first+7: a byte each, four keys in the lane
 * of a column, whose bits' parity is 1 where the key is not there. */
CPU_TARGET_AVX2 PLATFORM_INLINE __m256i
ribbon_four_avx2(const ribbon_layer *layer, const ribbon_eight *e, size_t j,
                 uint32_t first, ribbon_width width)
{
    __m256i a = ribbon_halves_avx2(
                    ribbon_key_avx2(layer, e, j, first, width),
                    ribbon_key_avx2(layer, e, j + 2, first, width));
    __m256i b = ribbon_halves_avx2(
                    ribbon_key_avx2(layer, e, j + 1, first, width),
                    ribbon_key_avx2(layer, e, j + 3, first, width));
    a = _mm256_xor_si256(a, _mm256_srli_epi16(a, 8));
    b = _mm256_xor_si256(b, _mm256_slli_epi16(b, 8));
    return _mm256_blendv_epi8(a, b, _mm256_set1_epi16((short)0xFF00));
}

/* A bit of each byte whose parity is 1, in the lanes that are columns. */
CPU_TARGET_AVX2 PLATFORM_INLINE uint32_t
ribbon_odd_avx2(__m256i bytes, uint32_t columns)
{
    const __m256i odd = _mm256_setr_epi8(
        0, -1, -1, 0, -1, 0, 0, -1, -1, 0, 0, -1, 0, -1, -1, 0,
        0, -1, -1, 0, -1, 0, 0, -1, -1, 0, 0, -1, 0, -1, -1, 0);
    bytes = _mm256_xor_si256(bytes, _mm256_srli_epi16(bytes, 4));
    bytes = _mm256_and_si256(bytes, _mm256_set1_epi8(15));
    uint32_t bits = (uint32_t)_mm256_movemask_epi8(
                        _mm256_shuffle_epi8(odd, bytes));
    return columns < 8 ? bits & ((1u << 4 * columns) - 1) : bits;
}

/* Returns the bits of four keys from the bits of each column. */
PLATFORM_INLINE uint32_t ribbon_any_column(uint32_t bits)
{
    bits |= bits >> 16;
    bits |= bits >> 8;
    bits |= bits >> 4;
    return bits & 15;
}

/* Returns the bits of keys j … j+3 for each column from `first` on that count:
 * not those of narrow bands in the last column. */
PLATFORM_INLINE uint64_t ribbon_counts(const ribbon_layer *layer,
                                       const ribbon_eight *e, size_t j,
                                       uint32_t first, ribbon_width width)
{
    uint64_t narrow = ~e->wide >> j & 15;
    if ((width & RIBBON_MIXED) == 0 || layer->bits - first >= 16)
        return UINT64_MAX;
    return ~(narrow << 4 * (layer->bits - first));
}

/* Returns the bits of four keys that are not there, from column `first` on: a
 * bit for each column of each key. */
CPU_TARGET_AVX2 PLATFORM_INLINE uint32_t
ribbon_wrong_four_avx2(const ribbon_layer *layer, const ribbon_eight *e,
                       size_t j, uint32_t first, ribbon_width width)
{
    return ribbon_odd_avx2(ribbon_four_avx2(layer, e, j, first, width),
                           layer->columns - first)
         & (uint32_t)ribbon_counts(layer, e, j, first, width);
}

/* Bit j is set if key j of the eight is not there. With up to eight columns
 * there is no loop to be set up for. */
CPU_TARGET_AVX2 PLATFORM_INLINE uint32_t
ribbon_wrong_avx2(const ribbon_layer *layer, const ribbon_eight *e,
                  ribbon_width width)
{
    uint32_t low = 0, high = 0, bits = layer->columns;
    bool one = ribbon_is(width, RIBBON_TO_8);
    for (uint32_t first = 0; one ? first == 0 : first < bits; first += 8) {
        low |= ribbon_wrong_four_avx2(layer, e, 0, first, width);
        high |= ribbon_wrong_four_avx2(layer, e, 4, first, width);
    }
    return ribbon_any_column(low) | ribbon_any_column(high) << 4;
}

CPU_TARGET_AVX2 PLATFORM_INLINE size_t
ribbon_settle_avx2(const ribbon_pass *p, size_t i, const ribbon_eight *e,
                   size_t kept, ribbon_width width)
{
    return ribbon_settle(p, i, e, ribbon_wrong_avx2(&p->layer, e, width),
                         kept);
}

/* Eights that are not full are answered as one by one. */
#define RIBBON_SETTLE(p, i, e, kept, width)                                    \
    (ribbon_some(p, i) < 8 ? ribbon_settle_portable(p, i, e, kept, width)      \
                           : ribbon_settle_avx2(p, i, e, kept, width))

CPU_TARGET_AVX2 PLATFORM_INLINE size_t
ribbon_pass_avx2_by(ribbon_pass *p, ribbon_width mixed)
{
    if (p->layer.columns <= 8)
        RIBBON_ROLL(p, ribbon_prepare, RIBBON_SETTLE, RIBBON_TO_8 | mixed);
    else
        RIBBON_ROLL(p, ribbon_prepare, RIBBON_SETTLE, RIBBON_TO_32 | mixed);
}

CPU_TARGET_AVX2 static size_t ribbon_pass_avx2(ribbon_pass *p)
{
    return ribbon_pass_avx2_by(p, 0);
}

CPU_TARGET_AVX2 static size_t ribbon_pass_mixed_avx2(ribbon_pass *p)
{
    return ribbon_pass_avx2_by(p, RIBBON_MIXED);
}

/* Does the work of ribbon_columns_avx2() for sixteen columns. */
CPU_TARGET_AVX512 PLATFORM_INLINE __m512i
ribbon_key_avx512(const ribbon_layer *layer, const ribbon_eight *e, size_t j,
                  uint32_t first, ribbon_width width)
{
    const __m512i numbers = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
                                              11, 12, 13, 14, 15);
    ribbon_band band = ribbon_band_at(layer, e, j, width);
    __m512i a = _mm512_loadu_si512(band.tile[0] + 4 * first);
    __m512i b = _mm512_loadu_si512(band.tile[1] + 4 * first);
    __m512i c = _mm512_loadu_si512(band.tile[2] + 4 * first);
    a = _mm512_and_si512(a, _mm512_set1_epi32((int)e->c[0][j]));
    b = _mm512_and_si512(b, _mm512_set1_epi32((int)e->c[1][j]));
    c = _mm512_and_si512(c, _mm512_set1_epi32((int)e->c[2][j]));
    __m512i wanted = _mm512_set1_epi32((int)(e->print[j] >> first));
    wanted = _mm512_and_si512(_mm512_srlv_epi32(wanted, numbers),
                              _mm512_set1_epi32(1));
    return _mm512_xor_si512(_mm512_xor_si512(a, b),
                            _mm512_xor_si512(c, wanted));
}

CPU_TARGET_AVX512 PLATFORM_INLINE __m512i
ribbon_halves_avx512(__m512i a, __m512i b)
{
    return _mm512_mask_blend_epi16(0xAAAAAAAA,
        _mm512_xor_si512(a, _mm512_srli_epi32(a, 16)),
        _mm512_xor_si512(b, _mm512_slli_epi32(b, 16)));
}

/* Does the work of ribbon_four_avx2() for sixteen columns. */
CPU_TARGET_AVX512 PLATFORM_INLINE __m512i
ribbon_four_avx512(const ribbon_layer *layer, const ribbon_eight *e, size_t j,
                   uint32_t first, ribbon_width width)
{
    __m512i a = ribbon_halves_avx512(
                    ribbon_key_avx512(layer, e, j, first, width),
                    ribbon_key_avx512(layer, e, j + 2, first, width));
    __m512i b = ribbon_halves_avx512(
                    ribbon_key_avx512(layer, e, j + 1, first, width),
                    ribbon_key_avx512(layer, e, j + 3, first, width));
    a = _mm512_xor_si512(a, _mm512_srli_epi16(a, 8));
    b = _mm512_xor_si512(b, _mm512_slli_epi16(b, 8));
    return _mm512_mask_blend_epi8(UINT64_C(0xAAAAAAAAAAAAAAAA), a, b);
}

/* The bits of four keys: is the parity of a byte 1 in any of the columns, where
 * its bit counts? */
CPU_TARGET_AVX512 PLATFORM_INLINE uint32_t
ribbon_odd_avx512(__m512i bytes, uint32_t columns, uint64_t counts)
{
    const __m512i odd = _mm512_broadcast_i32x4(_mm_setr_epi8(
        0, -1, -1, 0, -1, 0, 0, -1, -1, 0, 0, -1, 0, -1, -1, 0));
    bytes = _mm512_xor_si512(bytes, _mm512_srli_epi16(bytes, 4));
    bytes = _mm512_and_si512(bytes, _mm512_set1_epi8(15));
    uint64_t bits = counts & _mm512_movepi8_mask(_mm512_shuffle_epi8(odd,
                                                                     bytes));
    bits = columns < 16 ? bits & ((UINT64_C(1) << 4 * columns) - 1) : bits;
    return ribbon_any_column((uint32_t)(bits | bits >> 32));
}

/* Returns which of four keys are not there, by columns `first` to `first` + 15.
 */
CPU_TARGET_AVX512 PLATFORM_INLINE uint32_t
ribbon_wrong_four_avx512(const ribbon_layer *layer, const ribbon_eight *e,
                         size_t j, uint32_t first, ribbon_width width)
{
    return ribbon_odd_avx512(ribbon_four_avx512(layer, e, j, first, width),
                             layer->columns - first,
                             ribbon_counts(layer, e, j, first, width));
}

/* As ribbon_wrong_avx2(), for more than 8 columns: sixteen at a time, and where
 * the last are no more than eight, these: no more is asked for. */
CPU_TARGET_AVX512 PLATFORM_INLINE uint32_t
ribbon_wrong_avx512(const ribbon_layer *layer, const ribbon_eight *e,
                    ribbon_width width)
{
    uint32_t wrong = 0, bits = layer->columns, first = 0;
    for (; ribbon_is(width, RIBBON_TO_16)
           ? first == 0 : bits - first > 8 && first < bits; first += 16) {
        wrong |= ribbon_wrong_four_avx512(layer, e, 0, first, width);
        wrong |= ribbon_wrong_four_avx512(layer, e, 4, first, width) << 4;
    }
    if (ribbon_is(width, RIBBON_TO_32) && first < bits) {
        wrong |= ribbon_any_column(
                     ribbon_wrong_four_avx2(layer, e, 0, first, width));
        wrong |= ribbon_any_column(
                     ribbon_wrong_four_avx2(layer, e, 4, first, width)) << 4;
    }
    return wrong;
}

/* The high half of the product with a number below 2^63, from four products
 * of halves. */
CPU_TARGET_AVX512 PLATFORM_INLINE __m512i
ribbon_range_avx512(__m512i state, uint64_t n)
{
    __m512i low = _mm512_set1_epi64((long long)(n & UINT32_MAX));
    __m512i high = _mm512_set1_epi64((long long)(n >> 32));
    __m512i mask = _mm512_set1_epi64(UINT32_MAX);
    __m512i top = _mm512_srli_epi64(state, 32);
    __m512i a = _mm512_srli_epi64(_mm512_mul_epu32(state, low), 32);
    __m512i b = _mm512_add_epi64(_mm512_mul_epu32(top, low), a);
    __m512i c = _mm512_add_epi64(_mm512_mul_epu32(state, high),
                                 _mm512_and_si512(b, mask));
    return _mm512_add_epi64(_mm512_add_epi64(_mm512_mul_epu32(top, high),
                                             _mm512_srli_epi64(b, 32)),
                            _mm512_srli_epi64(c, 32));
}

/* The words of the coefficients and the fingerprint. */
CPU_TARGET_AVX512 PLATFORM_INLINE void
ribbon_words_avx512(const ribbon_layer *layer, ribbon_eight *e, __m512i state,
                    __m512i start)
{
    const __m512i by = _mm512_set1_epi64((long long)RIBBON_COEFFICIENTS);
    const __m512i from = _mm512_set1_epi64((long long)RIBBON_FINGERPRINT);
    __m512i c = _mm512_mullo_epi64(state, by);
    c = _mm512_or_si512(_mm512_xor_si512(c, _mm512_srli_epi64(c, 32)),
                        _mm512_set1_epi64(1));
    __m512i shift = _mm512_and_si512(start, _mm512_set1_epi64(31));
    __m512i low = _mm512_sllv_epi64(c, shift);
    __m512i high = _mm512_srlv_epi64(c, _mm512_sub_epi64(_mm512_set1_epi64(64),
                                                         shift));
    __m256i print = _mm512_cvtepi64_epi32(_mm512_srli_epi64(
                        _mm512_mullo_epi64(state, from), 32));
    _mm256_storeu_si256((void *)e->c[0], _mm512_cvtepi64_epi32(low));
    _mm256_storeu_si256((void *)e->c[1],
                        _mm512_cvtepi64_epi32(_mm512_srli_epi64(low, 32)));
    _mm256_storeu_si256((void *)e->c[2], _mm512_cvtepi64_epi32(high));
    _mm256_storeu_si256((void *)e->print, _mm256_and_si256(print,
                            _mm256_set1_epi32((int)layer->prints)));
}

/* Does the work of ribbon_places() for eight keys. */
CPU_TARGET_AVX512 PLATFORM_INLINE void
ribbon_places_avx512(const ribbon_layer *layer, ribbon_eight *e, __m512i tile,
                     ribbon_width width)
{
    const __m512i bytes = _mm512_set1_epi64(4 * (long long)layer->bits);
    const __m512i more = _mm512_set1_epi64(4 * (long long)layer->bits + 4);
    const __m512i wide = _mm512_set1_epi64((long long)layer->wide);
    __m512i at = _mm512_mul_epu32(tile, bytes);
    if ((width & RIBBON_MIXED) == 0) {
        _mm512_storeu_si512(e->at[0], at);
        return;
    }
    __m512i left = _mm512_sub_epi64(wide, tile);
    __mmask8 first = _mm512_cmpgt_epi64_mask(left, _mm512_setzero_si512());
    __mmask8 second = _mm512_cmpgt_epi64_mask(left, _mm512_set1_epi64(1));
    e->wide = _mm512_cmpgt_epi64_mask(left, _mm512_set1_epi64(2));
    at = _mm512_add_epi64(at, _mm512_slli_epi64(_mm512_min_epu64(tile, wide),
                                                2));
    _mm512_storeu_si512(e->at[0], at);
    at = _mm512_add_epi64(at, _mm512_mask_blend_epi64(first, bytes, more));
    _mm512_storeu_si512(e->at[1], at);
    at = _mm512_add_epi64(at, _mm512_mask_blend_epi64(second, bytes, more));
    _mm512_storeu_si512(e->at[2], at);
}

CPU_TARGET_AVX512 PLATFORM_INLINE void
ribbon_prepare_avx512(const ribbon_pass *p, size_t i, ribbon_eight *e,
                      ribbon_width width)
{
    __mmask8 there = (__mmask8)(0xFF >> (8 - ribbon_some(p, i)));
    __m512i in = _mm512_maskz_loadu_epi64(there, p->in + i);
    __m512i state = eight_mix(_mm512_add_epi64(in,
                        _mm512_set1_epi64((long long)p->add)));
    __m512i start = ribbon_range_avx512(state, p->layer.starts);
    __m512i gap = _mm512_srl_epi64(start, _mm_cvtsi32_si128(
                                              (int)p->layer.shard));
    __m512i tile = _mm512_add_epi64(_mm512_srli_epi64(start, 5),
                                    _mm512_slli_epi64(gap, 1));
    _mm512_storeu_si512(e->state, state);
    _mm512_storeu_si512(e->start, start);
    ribbon_places_avx512(&p->layer, e, tile, width);
    ribbon_words_avx512(&p->layer, e, state, start);
}

/* ribbon_below() of eight. */
CPU_TARGET_AVX512 PLATFORM_INLINE __mmask8
ribbon_below_avx512(const ribbon_eight *e)
{
    const __m512i three = _mm512_set1_epi64(3);
    __m512i start = _mm512_loadu_si512(e->start);
    __m512i codes = _mm512_cvtepu8_epi64(_mm_loadl_epi64((const void *)
                                                         e->codes));
    __m512i which = _mm512_and_si512(_mm512_srli_epi64(start, 7), three);
    __m512i code = _mm512_and_si512(three, _mm512_srlv_epi64(codes,
                                            _mm512_slli_epi64(which, 1)));
    __m512i limit = _mm512_srlv_epi64(_mm512_set1_epi64(RIBBON_THRESHOLDS),
                                      _mm512_slli_epi64(code, 3));
    return _mm512_cmplt_epu64_mask(
        _mm512_and_si512(start, _mm512_set1_epi64(RIBBON_BUCKET - 1)),
        _mm512_and_si512(limit, _mm512_set1_epi64(0xFF)));
}

/* Does the work of ribbon_settle() for eight keys of the first layer. */
CPU_TARGET_AVX512 PLATFORM_INLINE size_t
ribbon_settle_first_avx512(const ribbon_pass *p, size_t i,
                           const ribbon_eight *e, uint32_t wrong, size_t kept)
{
    __mmask8 gone = p->layer.codes == NULL ? 0 : ribbon_below_avx512(e);
    uint64_t answers = _pdep_u64(~wrong, UINT64_C(0x0101010101010101));
    memcpy(p->present + i, &answers, sizeof answers);
    __m256i keys = _mm256_add_epi32(_mm256_set1_epi32((int)i),
                                    _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    _mm512_storeu_si512(p->group->state + kept, _mm512_maskz_compress_epi64(
                            gone, _mm512_loadu_si512(e->state)));
    _mm256_storeu_si256((void *)(p->group->key + kept),
                        _mm256_maskz_compress_epi32(gone, keys));
    return kept + platform_popcount(gone);
}

/* Settles an eight. If it is not full, its other places are zero. */
CPU_TARGET_AVX512 PLATFORM_INLINE size_t
ribbon_settle_avx512(const ribbon_pass *p, size_t i, const ribbon_eight *e,
                     size_t kept, ribbon_width width)
{
    uint32_t wrong = ribbon_is(width, RIBBON_TO_8)
                   ? ribbon_wrong_avx2(&p->layer, e, width)
                   : ribbon_wrong_avx512(&p->layer, e, width);
    if (p->first && ribbon_some(p, i) == 8)
        return ribbon_settle_first_avx512(p, i, e, wrong, kept);
    return ribbon_settle(p, i, e, wrong, kept);
}

CPU_TARGET_AVX512 PLATFORM_INLINE size_t
ribbon_pass_avx512_by(ribbon_pass *p, ribbon_width mixed)
{
    if (p->layer.columns <= 8)
        RIBBON_ROLL(p, ribbon_prepare_avx512, ribbon_settle_avx512,
                    RIBBON_TO_8 | mixed);
    else if (p->layer.columns <= 16)
        RIBBON_ROLL(p, ribbon_prepare_avx512, ribbon_settle_avx512,
                    RIBBON_TO_16 | mixed);
    else
        RIBBON_ROLL(p, ribbon_prepare_avx512, ribbon_settle_avx512,
                    RIBBON_TO_32 | mixed);
}

CPU_TARGET_AVX512 static size_t ribbon_pass_avx512(ribbon_pass *p)
{
    return ribbon_pass_avx512_by(p, 0);
}

CPU_TARGET_AVX512 static size_t ribbon_pass_mixed_avx512(ribbon_pass *p)
{
    return ribbon_pass_avx512_by(p, RIBBON_MIXED);
}
#endif

typedef size_t ribbon_pass_work(ribbon_pass *p);

static ribbon_pass_work *ribbon_pass_here(bool mixed)
{
#if CPU_X86
    cpu_level level = cpu_now();
    if (level >= CPU_AVX512)
        return mixed ? ribbon_pass_mixed_avx512 : ribbon_pass_avx512;
    if (level >= CPU_AVX2)
        return mixed ? ribbon_pass_mixed_avx2 : ribbon_pass_avx2;
#endif
#if CPU_VECTOR4
    if (cpu_now() >= CPU_BASELINE)
        return mixed ? ribbon_pass_mixed_baseline : ribbon_pass_baseline;
#endif
    return mixed ? ribbon_pass_mixed_portable : ribbon_pass_portable;
}

/* Keys that are to go to the last layer at once. */
static size_t ribbon_no_layers(ribbon_pass *p, const ribbon_shape *g)
{
    if (p->n > RIBBON_GROUP)
        p->n = RIBBON_GROUP;
    for (size_t i = 0; i < p->n; i++) {
        p->group->state[i] = ribbon_state(p->in[i], g->seed);
        p->group->key[i] = (uint32_t)i;
    }
    return p->n;
}

/* The first of the pass's keys, as many as are done together: those in the
 * first layer, those that have gone on from it in the second, and so on. How
 * many they were. */
static size_t ribbon_contains_some(ribbon_pass *p, const ribbon_shape *g,
                                   const uint8_t *at, ribbon_pass_work *work)
{
    size_t done = 0;
    if (g->buckets[0] == 0)
        done = ribbon_no_layers(p, g);
    for (size_t i = 0; i < RIBBON_LAYERS && g->buckets[i] > 0 && p->n > 0;
         i++) {
        p->first = i == 0;
        p->layer = ribbon_layer_at(g, at, g->buckets[i]);
        p->add = i == 0 ? g->seed * HASH_STEP : HASH_STEP;
        size_t kept = work(p);
        done = i == 0 ? p->n : done;
        p->n = kept;
        p->in = p->group->state;
        at += ribbon_layer_bytes(g, g->buckets[i]);
    }
    if (p->n > 0) {
        p->first = false;
        p->layer = ribbon_last_at(g, at);
        p->in = p->group->state;
        p->add = ribbon_last_add(g->last_seed);
        work(p);
    }
    return done;
}

void ribbon_contains_many(const void *image, const uint64_t *hashes, size_t n,
                          bool *present)
{
    ribbon_shape g = ribbon_shape_of(image);
    ribbon_pass_work *work = ribbon_pass_here(g.share > 0);
    ribbon_group group;
    if (g.distinct == 0) {
        memset(present, 0, n * sizeof *present);
        return;
    }
    for (size_t i = 0; i < n; ) {
        ribbon_pass pass = { .in = hashes + i, .present = present + i,
                             .n = n - i < INT32_MAX ? n - i : INT32_MAX,
                             .group = &group };
        i += ribbon_contains_some(&pass, &g, image_payload(image), work);
    }
}
