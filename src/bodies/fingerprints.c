/* prints.c - tables in which the XOR of a key's cells is the key's print.
 *
 * Floor 2.
 */
#include "bodies/fingerprints.h"

#include <assert.h>
#include <math.h>

#include "base/cpu.h"
#include "base/sizes.h"

#if CPU_X86
#include <immintrin.h>
#endif

enum {
    PRINTS_SHARDS_MAX = 1 << 20, PRINTS_SEGMENT_MAX = 1 << 24,
    PRINTS_WINDOWS_MAX = 1 << 16
};

/* ---- Sizes ------------------------------------------------------------- */

/* How much of a rate may be missed, for two keys that share their hash. */
static const double PRINTS_NEARLY = 1.0 / (1 << 20);

/* The least f for the rate. */
static bly_status prints_bits(uint32_t *bits, const prints_wish *wish,
                              const kind_spec *spec)
{
    uint32_t most = PRINTS_BITS_MAX - prints_field(0, wish->label), f = 1;
    while (f <= most && ldexp(1, -(int)f) > spec->rate * (1 + PRINTS_NEARLY))
        f++;
    if (f > most)
        return status_fail(BLY_EPARAM, "kind %s ends at a rate of 2^-%u, which "
                           "%.3g is below: ask for a higher rate, or another "
                           "kind", wish->kind, most, spec->rate);
    *bits = f;
    return BLY_OK;
}

/* No result overflows for a shape within the limits of `check`: a stride is
 * below 2^39. */
static uint64_t prints_stride(const peel_shape *shape, uint32_t cell)
{
    return prints_round((peel_slots(shape) * cell + 7) / 8);
}

static uint64_t prints_payload(const peel_shape *shape, uint32_t cell)
{
    return prints_round(shape->shards)
         + shape->shards * prints_stride(shape, cell);
}

/* Lines that the fields of a key lie in, on average: one that is no whole part
 * of a line may reach into the next. */
static double prints_lines(uint32_t arity, uint32_t field, uint32_t cell)
{
    return arity * (1 + (512 % cell == 0 ? 0 : (field - 1) / 512.0));
}

static void prints_plan_fill(bly_plan_t *plan, const peel_shape *s,
                             uint32_t bits, uint32_t label,
                             const kind_spec *spec)
{
    uint32_t field = prints_field(bits, label), cell = field + label;
    double rate = ldexp(1, -(int)bits);
    bool nearly = rate > spec->rate && rate <= spec->rate * (1 + PRINTS_NEARLY);
    plan->capacity = spec->capacity;
    plan->rate = nearly ? spec->rate : rate;
    plan->rate_sd = 0;
    plan->fill = (double)spec->capacity / (double)(s->shards * peel_slots(s));
    plan->probes = s->arity;
    plan->lines_present = prints_lines(s->arity, field, cell);
    plan->lines_absent = plan->lines_present;
    plan->geometry[PRINTS_KEYS] = spec->capacity;
    plan->geometry[PRINTS_SHARDS] = s->shards
                                  | (uint64_t)s->arity << PRINTS_ARITY_AT
                                  | (uint64_t)bits << PRINTS_BITS_AT
                                  | (uint64_t)label << PRINTS_LABEL_AT;
    plan->geometry[PRINTS_SEGMENT] = s->segment
                                   | (uint64_t)s->windows << PRINTS_WINDOWS_AT;
    plan->geometry[PRINTS_STRIDE] = prints_stride(s, cell);
}

bly_status prints_plan(bly_plan_t *plan, const prints_wish *wish,
                       const kind_spec *spec)
{
    uint32_t bits = (uint32_t)wish->bits, label = wish->label;
    bly_status status = BLY_OK;
    peel_shape s;
    if (spec->capacity == 0)
        return kind_no_capacity();
    if (wish->bits == KIND_CHOOSE)
        status = prints_bits(&bits, wish, spec);
    if (status != BLY_OK)
        return status;
    if (!peel_plan(&s, spec->capacity, wish->arity, wish->coupled)
        || s.shards > PRINTS_SHARDS_MAX
        || !peel_scratch(&plan->scratch, &s, spec->capacity))
        return kind_too_big(spec, "2^20 shards of 2^20 keys");
    status = kind_plan_bytes(plan, prints_payload(&s, prints_field(bits, label)
                                                      + label));
    if (status == BLY_OK)
        prints_plan_fill(plan, &s, bits, label, spec);
    return status;
}

/* ---- Check ------------------------------------------------------------- */

bly_status prints_check(const void *image, bool labels)
{
    const prints_view v = prints_look(image);
    const peel_shape *s = &v.shape;
    bool sound = s->shards >= 1 && s->shards <= PRINTS_SHARDS_MAX
              && s->segment >= 1 && s->segment <= PRINTS_SEGMENT_MAX
              && s->windows >= 1 && s->windows <= PRINTS_WINDOWS_MAX
              && (s->arity == 3 || s->arity == 4)
              && v.bits >= 1 && v.field <= PRINTS_BITS_MAX
              && (labels ? v.label >= 1 && v.label <= PRINTS_LABEL_MAX
                           && s->arity == PRINTS_LABEL_ARITY : v.label == 0)
              && image_geometry(image, PRINTS_SHARDS) >> PRINTS_END_AT == 0;
    /* Only now is it known that none of these overflows. */
    sound = sound && peel_slots(s) <= PEEL_SLOTS_MAX
         && image_geometry(image, PRINTS_KEYS) <= s->shards * peel_slots(s)
         && v.stride == prints_stride(s, v.cell)
         && image_payload_bytes(image) == prints_payload(s, v.cell);
    return sound ? BLY_OK : kind_bad_geometry(image);
}

/* ---- Contains ---------------------------------------------------------- */

PLATFORM_INLINE bool prints_has(const prints_view *v, uint32_t arity,
                                uint64_t hash)
{
    uint64_t state = hash_mix(hash), bit[PEEL_ARITY_MAX];
    prints_cells(v, arity, state, bit);
    return prints_match(v, prints_read(v, arity, bit), state);
}

bool prints_contains(const void *image, uint64_t hash)
{
    const prints_view v = prints_look(image);
    return v.shape.arity == 3 ? prints_has(&v, 3, hash)
                              : prints_has(&v, 4, hash);
}

/* ---- Batches ----------------------------------------------------------- */

/* How many keys ahead lines are asked for. */
enum { PRINTS_AHEAD = 64 };

/* A key on its way: its cells' places. */
typedef struct {
    uint64_t place[PEEL_ARITY_MAX];
    uint64_t print;
} prints_key;

PLATFORM_INLINE void prints_ask(const prints_view *v, uint32_t arity,
                                uint64_t hash, prints_key *key)
{
    uint64_t state = hash_mix(hash), bit[PEEL_ARITY_MAX];
    key->print = state;
    prints_cells(v, arity, state, bit);
    PLATFORM_UNROLL
    for (uint32_t j = 0; j < arity; j++) {
        key->place[j] = prints_place(bit[j], v->field);
        platform_prefetch(v->rows + (bit[j] >> 3));
        platform_prefetch(v->rows + ((bit[j] + v->field - 1) >> 3));
    }
}

PLATFORM_INLINE bool prints_answer(const prints_view *v, uint32_t arity,
                                   const prints_key *key)
{
    uint64_t read = 0;
    PLATFORM_UNROLL
    for (uint32_t j = 0; j < arity; j++)
        read ^= prints_load(v->rows, key->place[j]);
    return prints_match(v, read, key->print);
}

PLATFORM_INLINE void prints_many(const prints_view *view, uint32_t arity,
                                 const uint64_t *hashes, size_t n,
                                 bool *present)
{
    const prints_view v = *view;
    prints_key ring[PRINTS_AHEAD];
    size_t ahead = n < PRINTS_AHEAD ? n : PRINTS_AHEAD;
    for (size_t i = 0; i < ahead; i++)
        prints_ask(&v, arity, hashes[i], &ring[i]);
    for (size_t i = 0; i < n; i++) {
        prints_key *key = &ring[i % PRINTS_AHEAD];
        present[i] = prints_answer(&v, arity, key);
        if (i + ahead < n)
            prints_ask(&v, arity, hashes[i + ahead], key);
    }
}

#if CPU_X86
/* Groups of keys are prepared, then their lines asked for, PRINTS_SETTLED
 * groups later, then they are answered, PRINTS_GROUPS after that. A group is
 * written in vectors and read key by key, which the processor cannot do before
 * the vectors have left for the cache; whence the pause. And a load that waits
 * for memory may have to wait for stores to addresses that only look like its
 * own: where tables are far, PRINTS_BLOCK groups are prepared at once, so that
 * while lines are asked for and read nothing is written but answers. That was
 * measured to halve the time for four cells, and to make it steady; but in
 * the cache one group at a time is quicker by a quarter. */
enum {
    PRINTS_LANES = 8,                   /* keys of one vector                */
    PRINTS_GROUPS = PRINTS_AHEAD / PRINTS_LANES,
    PRINTS_SETTLED = 2,
    PRINTS_BLOCK = 32,
    PRINTS_RING = PRINTS_GROUPS + PRINTS_SETTLED + PRINTS_BLOCK,
    PRINTS_NEAR = 16 << 20              /* bytes of tables that may be near  */
};

/* As many keys on their way; `over`: a bit for each whose cell ends in another
 * line than it begins in. */
typedef struct {
    uint64_t place[PEEL_ARITY_MAX][PRINTS_LANES];
    uint64_t print[PRINTS_LANES];
    uint8_t  over[PEEL_ARITY_MAX];
} prints_group;

CPU_TARGET_AVX512 PLATFORM_INLINE __m512i prints_all(uint64_t v)
{
    return _mm512_set1_epi64((long long)v);
}

CPU_TARGET_AVX512 PLATFORM_INLINE __m512i prints_mix_avx512(__m512i v)
{
    v = _mm512_xor_si512(v, _mm512_srli_epi64(v, 30));
    v = _mm512_mullo_epi64(v, prints_all(UINT64_C(0xBF58476D1CE4E5B9)));
    v = _mm512_xor_si512(v, _mm512_srli_epi64(v, 27));
    v = _mm512_mullo_epi64(v, prints_all(UINT64_C(0x94D049BB133111EB)));
    return _mm512_xor_si512(v, _mm512_srli_epi64(v, 31));
}

/* peel_range of the low halves. */
CPU_TARGET_AVX512 PLATFORM_INLINE __m512i prints_range_avx512(__m512i r,
                                                              __m512i n)
{
    return _mm512_srli_epi64(_mm512_mul_epu32(r, n), 32);
}

/* The salts of eight shards. A seed is read with the seven bytes behind it:
 * the tables follow. */
CPU_TARGET_AVX512 PLATFORM_INLINE __m512i
prints_salt_avx512(const prints_view *v, __m512i shard)
{
    if (v->shape.shards == 1)
        return prints_all(peel_salt(v->seeds[0]));
    __m512i seed = _mm512_i64gather_epi64(shard, v->seeds, 1);
    seed = _mm512_and_si512(seed, prints_all(UINT8_MAX));
    return _mm512_mullo_epi64(_mm512_add_epi64(seed, prints_all(1)),
                              prints_all(HASH_STEP));
}

/* Where cell j of eight keys is. */
CPU_TARGET_AVX512 PLATFORM_INLINE void
prints_cell_avx512(const prints_view *v, prints_group *g, uint32_t j,
                   __m512i bit)
{
    __m512i first = _mm512_srli_epi64(bit, 3);
    __m512i last = _mm512_srli_epi64(_mm512_add_epi64(bit,
                                     prints_all(v->field - 1)), 3);
    __m512i end = _mm512_sub_epi64(_mm512_or_si512(last,
                                   prints_all(PRINTS_LINE - 1)), prints_all(7));
    __m512i at = _mm512_min_epu64(first, end);
    __m512i place = _mm512_add_epi64(bit, _mm512_sub_epi64(
                        _mm512_slli_epi64(at, 6), _mm512_slli_epi64(at, 3)));
    _mm512_storeu_si512(g->place[j], place);
    g->over[j] = _mm512_test_epi64_mask(_mm512_xor_si512(first, last),
                                        prints_all(~UINT64_C(63)));
}

CPU_TARGET_AVX512 PLATFORM_INLINE void
prints_prepare_avx512(const prints_view *v, uint32_t arity,
                      const uint64_t *hashes, prints_group *g)
{
    __m512i length = prints_all(v->shape.segment);
    __m512i cell = prints_all(v->cell);
    __m512i state = prints_mix_avx512(_mm512_loadu_si512(hashes));
    __m512i product = _mm512_mul_epu32(_mm512_srli_epi64(state, 32),
                                       prints_all(v->shape.shards));
    __m512i shard = _mm512_srli_epi64(product, 32);
    __m512i first = prints_range_avx512(product, prints_all(v->shape.windows));
    __m512i row = _mm512_mullo_epi64(shard, prints_all(v->stride * 8));
    __m512i salt = prints_salt_avx512(v, shard);
    __m512i a = _mm512_mullo_epi64(_mm512_xor_si512(state, salt),
                                   prints_all(PEEL_A));
    a = _mm512_xor_si512(a, _mm512_srli_epi64(a, 32));
    __m512i b = _mm512_mullo_epi64(a, prints_all(PEEL_B));
    const __m512i r[PEEL_ARITY_MAX] = { _mm512_srli_epi64(a, 32), a,
                                        _mm512_srli_epi64(b, 32), b };
    __m512i begin = _mm512_mul_epu32(first, length);
    PLATFORM_UNROLL
    for (uint32_t j = 0; j < arity; j++) {
        __m512i slot = _mm512_add_epi64(begin,
                                        prints_range_avx512(r[j], length));
        begin = _mm512_add_epi64(begin, length);
        prints_cell_avx512(v, g, j, _mm512_add_epi64(row,
                           _mm512_mul_epu32(slot, cell)));
    }
    _mm512_storeu_si512(g->print, state);
}

/* Ask for a line that is wanted once: the second-level cache need not keep
 * it. */
PLATFORM_INLINE void prints_fetch(const uint8_t *address)
{
    _mm_prefetch((const char *)address, _MM_HINT_NTA);
}

/* Ask for the lines of a group. A cell that lies in two is rare: the branch
 * costs less than asking twice. */
CPU_TARGET_AVX512 PLATFORM_INLINE void
prints_fetch_avx512(const prints_view *v, uint32_t arity, const prints_group *g)
{
    PLATFORM_UNROLL
    for (uint32_t j = 0; j < arity; j++) {
        PLATFORM_UNROLL
        for (size_t i = 0; i < PRINTS_LANES; i++)
            prints_fetch(v->rows + (g->place[j][i] >> 6));
        for (uint32_t over = g->over[j]; over != 0; over &= over - 1)
            prints_fetch(v->rows + 7
                         + (g->place[j][_tzcnt_u32(over)] >> 6));
    }
}

CPU_TARGET_AVX512 PLATFORM_INLINE void
prints_answer_avx512(const prints_view *v, uint32_t arity,
                     const prints_group *g, bool *present)
{
    __m512i read = _mm512_setzero_si512();
    PLATFORM_UNROLL
    for (uint32_t j = 0; j < arity; j++) {
        __m512i place = _mm512_loadu_si512(g->place[j]);
        __m512i word = _mm512_i64gather_epi64(_mm512_srli_epi64(place, 6),
                                              v->rows, 1);
        read = _mm512_xor_si512(read, _mm512_srlv_epi64(word,
                                _mm512_and_si512(place, prints_all(63))));
    }
    __m512i other = _mm512_xor_si512(read, _mm512_loadu_si512(g->print));
    __mmask8 same = _mm512_testn_epi64_mask(other,
                                            prints_all(prints_mask(v->bits)));
    same = v->empty ? 0 : same;
    _mm_storel_epi64((__m128i *)(void *)present, _mm_maskz_set1_epi8(same, 1));
}

PLATFORM_INLINE size_t prints_turn(size_t at, size_t size)
{
    return at + 1 < size ? at + 1 : 0;
}

/* As many keys as make whole vectors; how many those were. Turn i is for the
 * lines of group i and the answers of group i - PRINTS_GROUPS. */
CPU_TARGET_AVX512 PLATFORM_INLINE size_t
prints_many_avx512(const prints_view *view, uint32_t arity,
                   const uint64_t *hashes, size_t n, bool *present)
{
    const prints_view v = *view;
    bool near = v.shape.shards * v.stride <= PRINTS_NEAR;
    size_t block = near ? 1 : PRINTS_BLOCK, groups = n / PRINTS_LANES;
    size_t size = PRINTS_GROUPS + PRINTS_SETTLED + block;
    size_t prepared = 0, in = 0, asked = 0, answered = 0;
    prints_group ring[PRINTS_RING];
    for (size_t i = 0; i < groups + PRINTS_GROUPS; i++) {
        if (i % block == 0)
            for (; prepared < groups && prepared < i + PRINTS_SETTLED + block;
                 prepared++, in = prints_turn(in, size))
                prints_prepare_avx512(&v, arity,
                                      hashes + prepared * PRINTS_LANES,
                                      &ring[in]);
        if (i < groups) {
            prints_fetch_avx512(&v, arity, &ring[asked]);
            asked = prints_turn(asked, size);
        }
        if (i >= PRINTS_GROUPS) {
            prints_answer_avx512(&v, arity, &ring[answered],
                                 present + (i - PRINTS_GROUPS) * PRINTS_LANES);
            answered = prints_turn(answered, size);
        }
    }
    return groups * PRINTS_LANES;
}

CPU_TARGET_AVX512 static size_t
prints_vectors(const prints_view *v, const uint64_t *hashes, size_t n,
               bool *present)
{
    return v->shape.arity == 3 ? prints_many_avx512(v, 3, hashes, n, present)
                               : prints_many_avx512(v, 4, hashes, n, present);
}
#endif

void prints_contains_many(const void *image, const uint64_t *hashes, size_t n,
                          bool *present)
{
    const prints_view v = prints_look(image);
    size_t done = 0;
#if CPU_X86
    if (cpu_now() >= CPU_AVX512)
        done = prints_vectors(&v, hashes, n, present);
#endif
    if (v.shape.arity == 3)
        prints_many(&v, 3, hashes + done, n - done, present + done);
    else
        prints_many(&v, 4, hashes + done, n - done, present + done);
}

/* ---- Build ------------------------------------------------------------- */

typedef struct {
    prints_view view;
    uint8_t    *rows;
} prints_job;

/* How far ahead in the order a key's state is asked for. */
enum { PRINTS_SOON = 16 };

/* What a key's cells must XOR to, each cell in a word of its own. */
PLATFORM_INLINE void prints_solve(const prints_view *view, uint32_t arity,
                                  const peel_order *order)
{
    const prints_view v = *view;
    const uint64_t print = prints_mask(v.bits);
    const uint64_t reach = (uint64_t)arity * v.shape.segment;
    for (size_t i = order->n; i-- > 0; ) {
        uint32_t entry = order->order[i], which = entry & 3;
        if (i >= PRINTS_SOON)
            platform_prefetch(order->states
                              + (order->order[i - PRINTS_SOON] >> 2));
        uint64_t state = order->states[entry >> 2], at[PEEL_ARITY_MAX];
        uint64_t value = (state & print)
                       | (v.label > 0 ? (uint64_t)which << v.bits : 0);
        peel_places(&v.shape, arity, state, order->salt, at);
        PLATFORM_UNROLL
        for (uint32_t j = 0; j < arity; j++)
            value ^= order->cells[at[j]];       /* its own is still 0 */
        order->cells[at[which]] = (uint32_t)value;
        platform_prefetch_write(order->cells
                                + (at[0] > reach ? at[0] - reach : 0));
    }
}

/* Write the cells one after another, `cell` bits each, the first `field` of
 * them from the words and the others 0. */
static void prints_pack(uint8_t *row, const prints_view *v,
                        const uint32_t *cells)
{
    uint64_t slots = peel_slots(&v->shape), word = 0;
    uint32_t used = 0;
    for (uint64_t i = 0; i < slots; i++) {
        uint32_t gap = v->label;
        word |= (uint64_t)cells[i] << used;
        used += v->field;
        if (used >= 64) {
            image_set_u64(row, 0, word);
            row += 8;
            used -= 64;
            word = (uint64_t)cells[i] >> (v->field - used);
        }
        used += gap;
        if (used >= 64) {
            image_set_u64(row, 0, word);
            row += 8;
            used -= 64;
            word = 0;
        }
    }
    if (used > 0)
        image_set_u64(row, 0, word);
}

static void prints_fill(void *context, const peel_order *order)
{
    const prints_job *job = context;
    const prints_view *v = &job->view;
    if (v->shape.arity == 3)
        prints_solve(v, 3, order);
    else
        prints_solve(v, 4, order);
    prints_pack(job->rows + order->shard * v->stride, v, order->cells);
}

bly_status prints_build(void *image, const kind_keys *keys,
                        const kind_bench *bench)
{
    prints_job job = { .view = prints_look(image) };
    uint8_t *seeds = image_payload_mut(image);
    job.rows = seeds + prints_round(job.view.shape.shards);
    peel_work work = {
        .shape = &job.view.shape, .hashes = keys->hashes, .n = keys->n,
        .scratch = bench->scratch, .threads = bench->threads, .seeds = seeds,
        .fill = prints_fill, .context = &job,
    };
    if (!peel_build(&work))
        return status_fail(BLY_EFULL, "the hashes of these keys are too much "
                           "alike: give another hash seed, or a hash function "
                           "other than identity");
    image_set_u64(image, IMAGE_GEOMETRY + 8 * PRINTS_KEYS, work.distinct);
    return BLY_OK;
}

/* ---- Look inside ------------------------------------------------------- */

void prints_stat(bly_stat_t *out, const void *image)
{
    const prints_view v = prints_look(image);
    uint64_t keys = image_geometry(image, PRINTS_KEYS);
    out->distinct = (double)keys;
    out->distinct_sd = 0;
    out->fill = (double)keys / (double)(v.shape.shards * peel_slots(&v.shape));
    out->rate = v.empty ? 0 : ldexp(1, -(int)v.bits);
    out->probes = v.shape.arity;
}
