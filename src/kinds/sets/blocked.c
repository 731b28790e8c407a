/* blocked.c - a Bloom filter that touches one cache line for each key.
 *
 * WHAT IT IS
 *
 * Many small Bloom filters of 512 bits, each one cache line. A key chooses a
 * line and has all its k bits in it, so a lookup or an add in a filter larger
 * than the cache costs one miss instead of k.
 *
 * THE PICTURE (k = 3)
 *
 *      payload  | line 0 | line 1 | line 2 | line 3 | …      64 bytes each
 *                             |
 *      s, the hash, spread ---+      bit 0                         bit 511
 *      high half of s * lines       | 0 0 1 0 0 … 0 1 0 … 0 0 1 0 … 0 |
 *                                         ^         ^         ^
 *      g, low half of s:  high 9 bits of g c, of g c^2, of g c^3
 *
 * IMAGE
 *
 *      geometry 0   number of lines, 1 .. 2^48
 *      geometry 1   k, probes in the line, 1 .. 32
 *      geometry 2, 3  zero
 *      payload      64 bytes a line; bit b of a line is bit (b mod 8) of its
 *                   byte b / 8
 *
 *      Valid if and only if (1) the fields are in these ranges and (2) the
 *      payload has 64 bytes a line.
 *
 * MATHS
 *
 * Keys fall on lines like balls into bins: some lines hold more than the mean
 * and err much more often. With w_i the binomial chance of i keys in a line
 * and f_i the true rate of 512 bits with i keys,
 *
 *      F = sum w_i f_i                                    [Putze 2009]   (1)
 *
 * computed as it stands (maths/shape.h), not approximated. The price of the
 * unequal lines, in bits a key over the standard filter's best:
 *
 *      wanted rate    standard     blocked      more
 *      10 %             4.81         4.84        1 %
 *      1 %              9.59         9.92        3 %
 *      0.1 %           14.38        15.55        8 %
 *      0.01 %          19.17        22.03       15 %
 *      0.001 %         23.97        29.67       24 %
 *
 * The best k is smaller than the standard filter's: 6 at 1 %, 9 at 0.1 %. We
 * take the k that needs the fewest lines.
 *
 * PROBES
 *
 * One spread 64-bit state s: the high half of s * lines is the line. The low
 * 32 bits of s, g, choose the bits in it: the high 9 bits of g c, g c^2, …
 * modulo 2^32, c = 9E3779B9 (2^32 over the golden ratio, odd). Sixteen such
 * products are one vector instruction; that is why g has 32 bits and not 64.
 * Two keys of one line with the same g cannot be told apart, which adds
 *
 *      L / 2^32,  L = keys / lines                                       (2)
 *
 * to F: nothing at 1 %, 0.3 % of the rate at 10^-6, a fifth at 10^-8, where
 * the kind ends. For an ordinary number of lines the line and g come from
 * different bits of s; the measured rate meets the plan from 10^-1 to 10^-6.
 *
 * COST
 *
 * One line for any key, present or not. Measured: `make bench`.
 *
 * WHEN TO USE, WHEN NOT
 *
 * The one to use where speed matters and nothing need be removed. Below a
 * rate of 10^-4 the unequal lines cost more than 15 % and `standard` is
 * smaller; `split` is for exchange with Parquet.
 *
 * PAPERS
 *
 *  [Putze 2009]  Cache-, hash- and space-efficient Bloom filters, ACM JEA 14
 *                (WEA 2007). The construction and (1).
 */
#include "image/abilities.h"

#include "bloomery/inline.h"

#include <assert.h>
#include <math.h>

#include "base/vector.h"
#include "tools/bits.h"
#include "tools/hash.h"
#include "maths/maths.h"
#include "bodies/rows.h"

enum {
    BLOCKED_VERSION = 1,
    BLOCKED_LINES = 0, BLOCKED_K = 1, BLOCKED_ZERO = 2, BLOCKED_ZERO_TOO = 3,
    BLOCKED_K_MAX = 32,
    BLOCKED_LINE_BITS = 512, BLOCKED_LINE_BYTES = 64,
    BLOCKED_SHIFT = 32 - 9              /* 9 high bits name one of 512 */
};

static_assert(BLOCKED_LINE_BITS == 1 << (32 - BLOCKED_SHIFT),
              "the high bits of a product name a bit of the line");

static const uint32_t BLOCKED_STEP = 0x9E3779B9;

/* 10^-8, less what equal 64-bit hashes have taken off the asked rate. */
static const double BLOCKED_RATE_LEAST = 9e-9;

#define BLOCKED_LINES_MAX (UINT64_C(1) << 48)

enum { BLOCKED_OPTION_M, BLOCKED_OPTION_K };

static const kind_option blocked_options[] = {
    [BLOCKED_OPTION_M] = {
        .name = "m", .help = "number of bits, instead of a rate (rounded up "
                             "to lines of 512)",
        .least = 1, .most = BLOCKED_LINES_MAX, .standard = KIND_CHOOSE,
    },
    [BLOCKED_OPTION_K] = {
        .name = "k", .help = "probes: bits that a key sets in its line",
        .least = 1, .most = BLOCKED_K_MAX, .standard = KIND_CHOOSE,
    },
    { .name = NULL },
};

static shape blocked_shape(uint64_t lines, uint32_t k)
{
    return (shape){ .blocks = lines, .lanes = 1,
                    .bits = BLOCKED_LINE_BITS, .probes = k };
}

static shape blocked_shape_of(const void *image)
{
    return blocked_shape(image_geometry(image, BLOCKED_LINES),
                         (uint32_t)image_geometry(image, BLOCKED_K));
}

/* ---- Plan -------------------------------------------------------------- */

/* F and (2) together: by one or the other. */
static double blocked_with_alike(double rate, uint64_t lines, uint64_t n)
{
    return rate + (1 - rate) * (double)n / (double)lines / 4294967296.0;
}

static double blocked_rate(uint64_t lines, uint32_t k, uint64_t n)
{
    shape s = blocked_shape(lines, k);
    return blocked_with_alike(shape_rate(&s, n, NULL), lines, n);
}

/* The lines that k probes need, (2) left out; false if there are too many. */
static bool blocked_enough(uint64_t *lines, uint32_t k, uint64_t n,
                           double rate)
{
    shape s = blocked_shape(1, k);
    return shape_enough(lines, &s, n, rate) && *lines <= BLOCKED_LINES_MAX;
}

/* The k that needs the fewest lines; 0 if none will do. Lines as a function
 * of k fall, then rise: walk up from half the standard filter's k until they
 * rise. */
static uint32_t blocked_best_k(uint64_t n, double rate)
{
    uint32_t best = 0, k = (uint32_t)fmax(1, -log2(rate) / 2);
    uint64_t least = 0, need;
    for (; k <= BLOCKED_K_MAX; k++) {
        if (!blocked_enough(&need, k, n, rate))
            continue;
        if (best != 0 && need > least)
            break;
        if (best == 0 || need < least) {
            best = k;
            least = need;
        }
    }
    return best;
}

/* The lines that k probes need with (2) too, to one in a million: a little
 * more than those without it. */
static bool blocked_lines(uint64_t *lines, uint32_t k, uint64_t n, double rate)
{
    uint64_t low, high;
    if (!blocked_enough(&low, k, n, rate))
        return false;
    for (high = low; blocked_rate(high, k, n) > rate; ) {
        low = high;
        high += high / 64 + 1;
    }
    while (high - low > 1 + low / 1000000) {
        uint64_t middle = low + (high - low) / 2;
        if (blocked_rate(middle, k, n) <= rate)
            high = middle;
        else
            low = middle;
    }
    *lines = high;
    return high <= BLOCKED_LINES_MAX;
}

/* The k whose rate is least for this many lines and keys. */
static uint32_t blocked_best_k_for(uint64_t lines, uint64_t n)
{
    uint32_t best = 1;
    double least = 2;
    for (uint32_t k = 1; k <= BLOCKED_K_MAX; k++) {
        double rate = blocked_rate(lines, k, n);
        if (rate < least) {
            least = rate;
            best = k;
        }
    }
    return best;
}

static void blocked_from_m(uint64_t *lines, uint32_t *k, uint64_t *n,
                           const kind_spec *spec)
{
    uint64_t m = spec->option[BLOCKED_OPTION_M];
    *lines = m / BLOCKED_LINE_BITS + (m % BLOCKED_LINE_BITS != 0);
    if (*k == 0 && *n == 0)
        *k = (uint32_t)fmin(fmax(floor(-log2(spec->rate)), 1), BLOCKED_K_MAX);
    if (*k == 0)
        *k = blocked_best_k_for(*lines, *n);
    shape s = blocked_shape(*lines, *k);
    if (*n == 0)
        *n = shape_capacity(&s, spec->rate);
}

static bly_status blocked_size(uint64_t *lines, uint32_t *k, uint64_t *n,
                               const kind_spec *spec)
{
    uint64_t k_option = spec->option[BLOCKED_OPTION_K];
    *k = k_option == KIND_CHOOSE ? 0 : (uint32_t)k_option;
    *n = spec->capacity;
    if (spec->option[BLOCKED_OPTION_M] != KIND_CHOOSE) {
        blocked_from_m(lines, k, n, spec);
        return BLY_OK;
    }
    if (*n == 0)
        return kind_no_capacity();
    if (spec->rate < BLOCKED_RATE_LEAST)
        return status_fail(BLY_EPARAM, "kind blocked ends at a rate of 1e-8: "
                           "use standard for %.3g", spec->rate);

    if (*k == 0)
        *k = blocked_best_k(*n, spec->rate);
    return *k != 0 && blocked_lines(lines, *k, *n, spec->rate)
         ? BLY_OK : kind_too_big(spec, "2^48 lines");
}

static bly_status blocked_plan(bly_plan_t *plan, const kind_spec *spec)
{
    uint64_t lines = 0, n = 0;
    uint32_t k = 0;
    bly_status status = blocked_size(&lines, &k, &n, spec);
    if (status == BLY_OK)
        status = kind_plan_bytes(plan, lines * BLOCKED_LINE_BYTES);
    if (status != BLY_OK)
        return status;

    shape s = blocked_shape(lines, k);
    rows_plan(plan, &s, n);
    plan->rate = blocked_with_alike(plan->rate, lines, n);
    plan->lines_present = plan->lines_absent = 1;
    plan->geometry[BLOCKED_LINES] = lines;
    plan->geometry[BLOCKED_K] = k;
    plan->geometry[BLOCKED_ZERO] = 0;
    plan->geometry[BLOCKED_ZERO_TOO] = 0;
    return BLY_OK;
}

/* ---- Check, contains, add ---------------------------------------------- */

static bly_status blocked_check(const void *image)
{
    uint64_t lines = image_geometry(image, BLOCKED_LINES);
    uint64_t k = image_geometry(image, BLOCKED_K);

    bool sound = lines >= 1 && lines <= BLOCKED_LINES_MAX
              && k >= 1 && k <= BLOCKED_K_MAX
              && image_geometry(image, BLOCKED_ZERO) == 0
              && image_geometry(image, BLOCKED_ZERO_TOO) == 0
              && image_payload_bytes(image) == lines * BLOCKED_LINE_BYTES;
    return sound ? BLY_OK : kind_bad_geometry(image);
}

/* What the probes need of the image, read once. */
typedef struct {
    uint8_t *payload;
    uint64_t lines;
    uint32_t k;
} blocked_view;

static_assert(sizeof(blocked_view) <= KIND_VIEW, "a view has its room");

PLATFORM_INLINE blocked_view blocked_look(const void *image)
{
    return (blocked_view){
        .payload = image_payload_mut((void *)(uintptr_t)image),
        .lines = image_geometry(image, BLOCKED_LINES),
        .k = (uint32_t)image_geometry(image, BLOCKED_K),
    };
}

/* The line of a spread hash. */
PLATFORM_INLINE uint8_t *blocked_at(const blocked_view *v, uint64_t state)
{
    return v->payload + bits_range(state, v->lines) * BLOCKED_LINE_BYTES;
}

/* Are the k bits of g set? It looks at all of them: the line is here or on its
 * way as a whole, and a branch on the first clear bit could not be foreseen,
 * so that the keys that follow would have to wait for this one's line. */
PLATFORM_INLINE bool blocked_test(const uint8_t *line, uint32_t g, uint32_t k)
{
    bool all = true;
    for (uint32_t i = 0; i < k; i++) {
        g *= BLOCKED_STEP;
        all &= bits_test(line, g >> BLOCKED_SHIFT);
    }
    return all;
}

/* Set the k bits of g; was one of them clear? */
PLATFORM_INLINE bool blocked_set(uint8_t *line, uint32_t g, uint32_t k,
                                 bool shared)
{
    bool fresh = false;
    for (uint32_t i = 0; i < k; i++) {
        g *= BLOCKED_STEP;
        uint64_t at = g >> BLOCKED_SHIFT;
        fresh |= shared ? bits_set_shared(line, at) : bits_set(line, at);
    }
    return fresh;
}

static bool blocked_one(const void *subject, uint64_t hash)
{
    const blocked_view *v = subject;
    uint64_t state = hash_spread(hash);
    return blocked_test(blocked_at(v, state), (uint32_t)state, v->k);
}

static bool blocked_contains(const void *image, uint64_t hash)
{
    const blocked_view v = blocked_look(image);
    return blocked_one(&v, hash);
}

PLATFORM_INLINE bly_status blocked_add_any(void *image, uint64_t hash,
                                           bool shared)
{
    blocked_view v = blocked_look(image);
    uint64_t state = hash_spread(hash);
    return blocked_set(blocked_at(&v, state), (uint32_t)state, v.k, shared)
         ? BLY_OK : BLY_SEEN;
}

static bly_status blocked_add(void *image, uint64_t hash)
{
    return blocked_add_any(image, hash, false);
}

static bly_status blocked_add_shared(void *image, uint64_t hash)
{
    return blocked_add_any(image, hash, true);
}

static void blocked_places(const void *image, const uint64_t *hashes, size_t n,
                           uint64_t *places, size_t *bytes)
{
    uint64_t lines = image_geometry(image, BLOCKED_LINES);
    *bytes = BLOCKED_LINE_BYTES;
    for (size_t i = 0; i < n; i++)
        places[i] = IMAGE_HEADER + bits_range(hash_spread(hashes[i]), lines)
                                   * BLOCKED_LINE_BYTES;
}

/* ---- Batches ----------------------------------------------------------- */

/* A key whose line is on its way, and what its places come from: so neither is
 * worked out twice. */
typedef struct {
    uint8_t *line;
    uint32_t g;
} blocked_key;

enum { BLOCKED_RING = 128 };            /* on their way, at most             */

PLATFORM_INLINE blocked_key blocked_ask(const blocked_view *v, uint64_t hash,
                                        bool write)
{
    uint64_t state = hash_spread(hash);
    blocked_key key = { blocked_at(v, state), (uint32_t)state };
    if (write)
        platform_prefetch_write(key.line);
    else
        platform_prefetch(key.line);
    return key;
}

/* A batch that runs some keys behind its prefetches. `work` is the
 * statement for hashes[i] with its `line` and `g`. */
#define BLOCKED_EACH(ring, from, to, work, next)                               \
    for (size_t i = (from); i < (to); i++) {                                   \
        uint8_t *line = (ring)[i % BLOCKED_RING].line;                         \
        uint32_t g = (ring)[i % BLOCKED_RING].g;                               \
        work;                                                                  \
        next;                                                                  \
    }

#define BLOCKED_ROLL(view, hashes, n, write, work)                             \
    do {                                                                       \
        blocked_key ring[BLOCKED_RING];                                        \
        size_t ahead = cpu_ahead(n, BLOCKED_RING);                             \
        for (size_t i = 0; i < ahead; i++)                                     \
            ring[i] = blocked_ask(&(view), (hashes)[i], write);                \
        BLOCKED_EACH(ring, 0, (n) - ahead, work,                               \
            ring[(i + ahead) % BLOCKED_RING] =                                 \
                blocked_ask(&(view), (hashes)[i + ahead], write))              \
        BLOCKED_EACH(ring, (n) - ahead, n, work, (void)0)                      \
    } while (0)

static void blocked_contains_portable(const void *image, const uint64_t *hashes,
                                      size_t n, bool *present)
{
    blocked_view v = blocked_look(image);
    BLOCKED_ROLL(v, hashes, n, false,
                 present[i] = blocked_test(line, g, v.k));
}

static void blocked_add_portable(void *image, const uint64_t *hashes, size_t n)
{
    blocked_view v = blocked_look(image);
    BLOCKED_ROLL(v, hashes, n, true, blocked_set(line, g, v.k, false));
}

static void blocked_each_portable(void *image, const uint64_t *hashes, size_t n,
                                  bool *seen)
{
    blocked_view v = blocked_look(image);
    BLOCKED_ROLL(v, hashes, n, true,
                 seen[i] = !blocked_set(line, g, v.k, false));
}

#if CPU_X86 || CPU_NEON
/* c^1 … c^16, and c^16 alone, which leads to the next sixteen. */
static const uint32_t blocked_steps[16] = {
    0x9E3779B9, 0xE35E67B1, 0x734297E9, 0x35FBE861,
    0xDEB7C719, 0x0448B211, 0x3459B749, 0xAB25F4C1,
    0x52941879, 0x9C95E071, 0xF5AB9AA9, 0x2D6BA521,
    0x8BEDEDD9, 0x9BFB72D1, 0x3AE1C209, 0x7FCA7981,
};
#endif

#if CPU_NEON
PLATFORM_INLINE uint8x16_t blocked_quarter_neon(const uint8_t *line, size_t i)
{
    return vreinterpretq_u8_u32(vector4_load(line + 16 * i));
}

/* Eight probes at a time. A product's high 6 bits name a byte of the line, the
 * next 3 a bit of it: one instruction picks the eight bytes out of all 64. Of a
 * batch gcc 12 makes 57 instructions for a key of up to 8 probes, and of the
 * portable one 20 and 13 for each probe; what that is in time is not measured.
 * (SSE2 has nothing that picks by numbers in a register: with words loaded one
 * by one a near batch took 1.5 times the portable one's time, and with four
 * picks by SSSE3, of a quarter of the line each, as much as that.) */
PLATFORM_INLINE bool blocked_test_neon(const uint8_t *line, uint32_t g,
                                       uint32_t k)
{
    const uint8x8_t numbers = vcreate_u8(0x0706050403020100);
    const uint8x16x4_t bytes = { {
        blocked_quarter_neon(line, 0), blocked_quarter_neon(line, 1),
        blocked_quarter_neon(line, 2), blocked_quarter_neon(line, 3),
    } };
    uint8x8_t lacks = vdup_n_u8(0);

    for (uint32_t first = 0; first < k; first += 8) {
        const uint32_t *steps = blocked_steps + first % 16;
        if (first == 16)
            g *= blocked_steps[15];
        uint16x8_t places = vuzp2q_u16(
            vreinterpretq_u16_u32(vector4_times(vector4_of(steps), g)),
            vreinterpretq_u16_u32(vector4_times(vector4_of(steps + 4), g)));
        uint8x8_t byte = vshr_n_u8(vshrn_n_u16(places, 8), 2);
        uint8x8_t bit = vand_u8(vshrn_n_u16(places, 7), vdup_n_u8(7));
        uint8x8_t mask = vshl_u8(vdup_n_u8(1), vreinterpret_s8_u8(bit));
        uint8x8_t wanted = vclt_u8(numbers, vdup_n_u8((uint8_t)(k - first)));
        lacks = vorr_u8(lacks, vand_u8(wanted,
                        vbic_u8(mask, vqtbl4_u8(bytes, byte))));
    }
    return vget_lane_u64(vreinterpret_u64_u8(lacks), 0) == 0;
}

static bool blocked_one_neon(const void *subject, uint64_t hash)
{
    const blocked_view *v = subject;
    uint64_t state = hash_spread(hash);
    return blocked_test_neon(blocked_at(v, state), (uint32_t)state, v->k);
}

static void blocked_contains_neon(const void *image, const uint64_t *hashes,
                                  size_t n, bool *present)
{
    blocked_view v = blocked_look(image);
    BLOCKED_ROLL(v, hashes, n, false,
                 present[i] = blocked_test_neon(line, g, v.k));
}
#endif

#if CPU_X86
/* Eight probes at a time. A product's high 4 bits name a 32-bit word of the
 * line, the next 5 a bit of it: the words are picked from both halves of the
 * line, and the highest bit of the product chooses between them. */
CPU_TARGET_AVX2 static inline bool
blocked_test_avx2(const uint8_t *line, uint32_t g, uint32_t k)
{
    __m256i low = vector_load32(line);
    __m256i high = vector_load32(line + 32);
    __m256i numbers = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    int all = 1;

    for (uint32_t first = 0; first < k; first += 8) {
        __m256i steps = _mm256_loadu_si256((const __m256i *)(const void *)
                                           (blocked_steps + first % 16));
        if (first == 16)
            g *= blocked_steps[15];
        __m256i product = _mm256_mullo_epi32(_mm256_set1_epi32((int)g), steps);
        __m256i word = _mm256_srli_epi32(product, 28);
        __m256i picked = _mm256_castps_si256(_mm256_blendv_ps(
            _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(low, word)),
            _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(high, word)),
            _mm256_castsi256_ps(product)));
        __m256i bit = _mm256_and_si256(_mm256_srli_epi32(product, 23),
                                       _mm256_set1_epi32(31));
        __m256i mask = _mm256_sllv_epi32(_mm256_set1_epi32(1), bit);
        __m256i wanted = _mm256_cmpgt_epi32(
            _mm256_set1_epi32((int)(k - first)), numbers);
        all &= _mm256_testc_si256(picked, _mm256_and_si256(mask, wanted));
    }
    return all;
}

CPU_TARGET_AVX2 static bool blocked_one_avx2(const void *subject, uint64_t hash)
{
    const blocked_view *v = subject;
    uint64_t state = hash_spread(hash);
    return blocked_test_avx2(blocked_at(v, state), (uint32_t)state, v->k);
}

CPU_TARGET_AVX2 static void
blocked_contains_avx2(const void *image, const uint64_t *hashes, size_t n,
                      bool *present)
{
    blocked_view v = blocked_look(image);
    BLOCKED_ROLL(v, hashes, n, false,
                 present[i] = blocked_test_avx2(line, g, v.k));
}

/* Set the k bits of g, word by word: gathered in registers, as by AVX-512, they
 * need two for a line and all is done twice, which takes 1.5 times as long. The
 * words and bits of eight probes are known before the first is written, so that
 * no load waits to learn where a write before it went. */
CPU_TARGET_AVX2 PLATFORM_INLINE void
blocked_set_avx2(uint8_t *line, uint32_t g, uint32_t k)
{
    for (uint32_t first = 0; first < k; first += 8) {
        uint32_t word[8], bit[8];
        __m256i steps = _mm256_loadu_si256((const __m256i *)(const void *)
                                           (blocked_steps + first % 16));
        if (first == 16)
            g *= blocked_steps[15];
        __m256i product = _mm256_mullo_epi32(_mm256_set1_epi32((int)g), steps);
        __m256i place = _mm256_and_si256(_mm256_srli_epi32(product, 23),
                                         _mm256_set1_epi32(31));
        _mm256_storeu_si256((__m256i *)(void *)word,
                            _mm256_srli_epi32(product, 28));
        _mm256_storeu_si256((__m256i *)(void *)bit,
                            _mm256_sllv_epi32(_mm256_set1_epi32(1), place));
        PLATFORM_UNROLL
        for (uint32_t j = 0; j < 8; j++) {
            uint8_t *at = line + sizeof bit[j] * (size_t)word[j];
            uint32_t bits;
            if (first + j >= k)
                break;
            memcpy(&bits, at, sizeof bits);
            bits |= bit[j];
            memcpy(at, &bits, sizeof bits);
        }
    }
}

CPU_TARGET_AVX2 PLATFORM_INLINE void
blocked_add_k_avx2(const blocked_view *v, uint32_t k, const uint64_t *hashes,
                   size_t n)
{
    BLOCKED_ROLL(*v, hashes, n, true, blocked_set_avx2(line, g, k));
}

CPU_TARGET_AVX2 PLATFORM_INLINE void
blocked_each_k_avx2(const blocked_view *v, uint32_t k, const uint64_t *hashes,
                    size_t n, bool *seen)
{
    BLOCKED_ROLL(*v, hashes, n, true,
        seen[i] = blocked_test_avx2(line, g, k);
        blocked_set_avx2(line, g, k));
}

/* A loop for each k that the plan likes best down to a rate of 10^-4: with a
 * k that the compiler knows an add costs two thirds. */
#define BLOCKED_OF(k, call) case k: call(k); break

#define BLOCKED_FOR_MANY(k, call)                                              \
    switch (k) {                                                               \
    BLOCKED_OF(9, call);    BLOCKED_OF(10, call);                              \
    BLOCKED_OF(11, call);   BLOCKED_OF(12, call);                              \
    default: call(k);                                                          \
    }

#define BLOCKED_FOR_K(k, call)                                                 \
    switch (k) {                                                               \
    BLOCKED_OF(1, call);    BLOCKED_OF(2, call);                               \
    BLOCKED_OF(3, call);    BLOCKED_OF(4, call);                               \
    BLOCKED_OF(5, call);    BLOCKED_OF(6, call);                               \
    BLOCKED_OF(7, call);    BLOCKED_OF(8, call);                               \
    default: BLOCKED_FOR_MANY(k, call)                                         \
    }

CPU_TARGET_AVX2 static void
blocked_add_avx2(void *image, const uint64_t *hashes, size_t n)
{
    const blocked_view v = blocked_look(image);
#define BLOCKED_ADD_K(k) blocked_add_k_avx2(&v, k, hashes, n)
    BLOCKED_FOR_K(v.k, BLOCKED_ADD_K)
#undef BLOCKED_ADD_K
}

CPU_TARGET_AVX2 static void
blocked_each_avx2(void *image, const uint64_t *hashes, size_t n, bool *seen)
{
    const blocked_view v = blocked_look(image);
#define BLOCKED_EACH_K(k) blocked_each_k_avx2(&v, k, hashes, n, seen)
    BLOCKED_FOR_K(v.k, BLOCKED_EACH_K)
#undef BLOCKED_EACH_K
}

/* Which of up to sixteen probes find their bit clear, 0 when none does: one
 * register is the whole line. Each probe's word is turned until its bit is the
 * lowest. */
CPU_TARGET_AVX512 PLATFORM_INLINE __mmask16
blocked_clear_avx512(const uint8_t *line, uint32_t g, uint32_t k, __m512i steps)
{
    __m512i product = _mm512_mullo_epi32(_mm512_set1_epi32((int)g), steps);
    __m512i word = _mm512_srli_epi32(product, 28);
    __m512i picked = _mm512_permutexvar_epi32(word, vector_load64(line));
    __m512i turned = _mm512_rorv_epi32(picked, _mm512_srli_epi32(product,
                                                         BLOCKED_SHIFT));
    return _mm512_mask_testn_epi32_mask((__mmask16)_bzhi_u32(UINT16_MAX, k),
                                        turned, _mm512_set1_epi32(1));
}

CPU_TARGET_AVX512 PLATFORM_INLINE bool
blocked_test_avx512(const uint8_t *line, uint32_t g, uint32_t k, __m512i steps)
{
    __mmask16 clear = blocked_clear_avx512(line, g, k, steps);
    if (k > 16)
        clear |= blocked_clear_avx512(line, g * blocked_steps[15], k - 16,
                                      steps);
    return _kortestz_mask16_u8(clear, clear);
}

/* Up to eight probes leave half of a register to another key: two keys at a
 * time, on their way together, each with the places of its bits. */
enum {
    BLOCKED_PAIR_K = 8,                 /* probes of a key in a pair         */
    BLOCKED_PAIRS = 64                  /* on their way, at most             */
};

typedef struct {
    uint8_t *line[2];
    uint32_t place[2 * BLOCKED_PAIR_K];
} blocked_pair;

PLATFORM_INLINE size_t blocked_pairs_ahead(size_t pairs)
{
    return (cpu_ahead(2 * pairs, 2 * BLOCKED_PAIRS) + 1) / 2;
}

CPU_TARGET_AVX512 PLATFORM_INLINE __m512i blocked_pair_steps(void)
{
    return _mm512_broadcast_i64x4(_mm256_loadu_si256(
               (const __m256i *)(const void *)blocked_steps));
}

CPU_TARGET_AVX512 PLATFORM_INLINE void
blocked_ask_pair(const blocked_view *v, blocked_pair *pair,
                 const uint64_t *hashes, __m512i steps, bool write)
{
    uint64_t one = hash_spread(hashes[0]), other = hash_spread(hashes[1]);
    __m512i g = _mm512_mask_set1_epi32(_mm512_set1_epi32((int)one), 0xFF00,
                                       (int)other);
    pair->line[0] = blocked_at(v, one);
    pair->line[1] = blocked_at(v, other);
    PLATFORM_UNROLL
    for (size_t i = 0; i < 2; i++)
        if (write)
            platform_prefetch_write(pair->line[i]);
        else
            platform_prefetch(pair->line[i]);
    _mm512_storeu_si512(pair->place, _mm512_srli_epi32(
        _mm512_mullo_epi32(g, steps), BLOCKED_SHIFT));
}

/* The high 4 bits of a place name a word of the line, of which the second
 * line's are 16 to 31, and the low 5 a bit of it. */
CPU_TARGET_AVX512 PLATFORM_INLINE void
blocked_test_pair(const blocked_pair *pair, __mmask16 wanted, bool *present)
{
    const __m512i second = _mm512_maskz_set1_epi32(0xFF00, 16);
    __m512i place = _mm512_loadu_si512(pair->place);
    __m512i word = _mm512_or_si512(_mm512_srli_epi32(place, 5), second);
    __m512i picked = _mm512_permutex2var_epi32(vector_load64(pair->line[0]),
                                               word,
                                               vector_load64(pair->line[1]));
    uint32_t clear = _mm512_mask_testn_epi32_mask(wanted,
        _mm512_rorv_epi32(picked, place), _mm512_set1_epi32(1));
    present[0] = (clear & 0xFF) == 0;
    present[1] = clear >> 8 == 0;
}

/* All keys but the last of an odd number. */
CPU_TARGET_AVX512 static size_t
blocked_contains_pairs(const blocked_view *view, const uint64_t *hashes,
                       size_t n, bool *present)
{
    const blocked_view v = *view;
    const __mmask16 wanted = (__mmask16)(((1u << v.k) - 1) * 0x101);
    const __m512i steps = blocked_pair_steps();
    blocked_pair ring[BLOCKED_PAIRS];
    size_t pairs = n / 2, ahead = blocked_pairs_ahead(pairs);
    for (size_t i = 0; i < ahead; i++)
        blocked_ask_pair(&v, &ring[i], hashes + 2 * i, steps, false);
    for (size_t i = 0; i < pairs - ahead; i++) {
        blocked_test_pair(&ring[i % BLOCKED_PAIRS], wanted, present + 2 * i);
        blocked_ask_pair(&v, &ring[(i + ahead) % BLOCKED_PAIRS],
                         hashes + 2 * (i + ahead), steps, false);
    }
    for (size_t i = pairs - ahead; i < pairs; i++)
        blocked_test_pair(&ring[i % BLOCKED_PAIRS], wanted, present + 2 * i);
    return 2 * pairs;
}

CPU_TARGET_AVX512 static bool
blocked_one_avx512(const void *subject, uint64_t hash)
{
    const blocked_view *v = subject;
    uint64_t state = hash_spread(hash);
    return blocked_test_avx512(blocked_at(v, state), (uint32_t)state, v->k,
                               _mm512_loadu_si512(blocked_steps));
}

CPU_TARGET_AVX512 static void
blocked_contains_avx512(const void *image, const uint64_t *hashes, size_t n,
                        bool *present)
{
    blocked_view v = blocked_look(image);
    __m512i steps = _mm512_loadu_si512(blocked_steps);
    if (v.k <= BLOCKED_PAIR_K) {
        size_t done = blocked_contains_pairs(&v, hashes, n, present);
        if (done < n)
            present[done] = blocked_one_avx512(&v, hashes[done]);
        return;
    }
    BLOCKED_ROLL(v, hashes, n, false,
                 present[i] = blocked_test_avx512(line, g, v.k, steps));
}

/* The k bits of a key as one register. A lane is a word of 32 bits; shifting
 * its 1 by the bit's place less the lane's leaves nothing, but in the one lane
 * where the difference is 0 to 31. */
CPU_TARGET_AVX512 PLATFORM_INLINE __m512i
blocked_bits_avx512(uint32_t g, uint32_t k, __m512i steps)
{
    const __m512i lanes = _mm512_setr_epi32(0, 32, 64, 96, 128, 160, 192, 224,
                                            256, 288, 320, 352, 384, 416, 448,
                                            480);
    __m512i bits = _mm512_setzero_si512(), one = _mm512_set1_epi32(1);
    for (;;) {
        __m512i product = _mm512_mullo_epi32(_mm512_set1_epi32((int)g), steps);
        __m512i places = _mm512_srli_epi32(product, BLOCKED_SHIFT);
        PLATFORM_UNROLL
        for (uint32_t j = 0; j < 16 && j < k; j++) {
            __m512i probe = _mm512_set1_epi32((int)j);
            __m512i place = _mm512_permutexvar_epi32(probe, places);
            bits = _mm512_or_si512(bits, _mm512_sllv_epi32(one,
                                         _mm512_sub_epi32(place, lanes)));
        }
        if (k <= 16)
            return bits;
        k -= 16;
        g *= blocked_steps[15];
    }
}

CPU_TARGET_AVX512 PLATFORM_INLINE void
blocked_add_k_avx512(const blocked_view *v, uint32_t k, const uint64_t *hashes,
                     size_t n)
{
    __m512i steps = _mm512_loadu_si512(blocked_steps);
    BLOCKED_ROLL(*v, hashes, n, true,
        _mm512_storeu_si512(line, _mm512_or_si512(_mm512_loadu_si512(line),
            blocked_bits_avx512(g, k, steps))));
}

CPU_TARGET_AVX512 PLATFORM_INLINE void
blocked_each_k_avx512(const blocked_view *v, uint32_t k, const uint64_t *hashes,
                      size_t n, bool *seen)
{
    __m512i steps = _mm512_loadu_si512(blocked_steps);
    BLOCKED_ROLL(*v, hashes, n, true,
        __m512i bits = blocked_bits_avx512(g, k, steps);
        __m512i old = _mm512_loadu_si512(line);
        __m512i fresh = _mm512_andnot_si512(old, bits);
        seen[i] = _mm512_test_epi32_mask(fresh, fresh) == 0;
        _mm512_storeu_si512(line, _mm512_or_si512(old, bits)));
}

/* The same of a key in a pair: the highest bit of a word, shifted down by what
 * the bit's place is below it, which is 0 to 31 in one lane alone. */
CPU_TARGET_AVX512 PLATFORM_INLINE __m512i
blocked_pair_bits(const uint32_t *places, uint32_t k)
{
    const __m512i last = _mm512_setr_epi32(31, 63, 95, 127, 159, 191, 223, 255,
                                           287, 319, 351, 383, 415, 447, 479,
                                           511);
    const __m512i top = _mm512_set1_epi32(INT32_MIN);
    __m512i bits = _mm512_setzero_si512();
    PLATFORM_UNROLL
    for (uint32_t j = 0; j < BLOCKED_PAIR_K && j < k; j++) {
        __m512i place = _mm512_set1_epi32((int)places[j]);
        bits = _mm512_or_si512(bits, _mm512_srlv_epi32(top,
                                     _mm512_sub_epi32(last, place)));
    }
    return bits;
}

/* Set the bits of both; was one of a key's clear? */
CPU_TARGET_AVX512 PLATFORM_INLINE void
blocked_set_pair(const blocked_pair *pair, uint32_t k, bool *seen)
{
    for (size_t i = 0; i < 2; i++) {
        __m512i bits = blocked_pair_bits(pair->place + i * BLOCKED_PAIR_K, k);
        __m512i old = _mm512_loadu_si512(pair->line[i]);
        if (seen != NULL) {
            __m512i fresh = _mm512_andnot_si512(old, bits);
            seen[i] = _mm512_test_epi32_mask(fresh, fresh) == 0;
        }
        _mm512_storeu_si512(pair->line[i], _mm512_or_si512(old, bits));
    }
}

/* All keys but the last of an odd number; `seen` may be NULL. */
CPU_TARGET_AVX512 PLATFORM_INLINE size_t
blocked_add_pairs(const blocked_view *view, uint32_t k, const uint64_t *hashes,
                  size_t n, bool *seen)
{
    const blocked_view v = *view;
    const __m512i steps = blocked_pair_steps();
    blocked_pair ring[BLOCKED_PAIRS];
    size_t pairs = n / 2, ahead = blocked_pairs_ahead(pairs);
    for (size_t i = 0; i < ahead; i++)
        blocked_ask_pair(&v, &ring[i], hashes + 2 * i, steps, true);
    for (size_t i = 0; i < pairs; i++) {
        blocked_set_pair(&ring[i % BLOCKED_PAIRS], k,
                         seen != NULL ? seen + 2 * i : NULL);
        if (i + ahead < pairs)
            blocked_ask_pair(&v, &ring[(i + ahead) % BLOCKED_PAIRS],
                             hashes + 2 * (i + ahead), steps, true);
    }
    return 2 * pairs;
}

#define BLOCKED_PAIRS_OF(k)                                                    \
    case k: return blocked_add_pairs(v, k, hashes, n, seen)

/* How many of the keys have been added in pairs. */
CPU_TARGET_AVX512 static size_t
blocked_pairs_avx512(const blocked_view *v, const uint64_t *hashes, size_t n,
                     bool *seen)
{
    switch (v->k) {
    BLOCKED_PAIRS_OF(1); BLOCKED_PAIRS_OF(2); BLOCKED_PAIRS_OF(3);
    BLOCKED_PAIRS_OF(4); BLOCKED_PAIRS_OF(5); BLOCKED_PAIRS_OF(6);
    BLOCKED_PAIRS_OF(7); BLOCKED_PAIRS_OF(8);
    default: return 0;
    }
}
#undef BLOCKED_PAIRS_OF

CPU_TARGET_AVX512 static void
blocked_add_avx512(void *image, const uint64_t *hashes, size_t n)
{
    const blocked_view v = blocked_look(image);
    size_t done = blocked_pairs_avx512(&v, hashes, n, NULL);
    if (done == n)
        return;
    hashes += done, n -= done;
#define BLOCKED_ADD_K(k) blocked_add_k_avx512(&v, k, hashes, n)
    BLOCKED_FOR_MANY(v.k, BLOCKED_ADD_K)
#undef BLOCKED_ADD_K
}

CPU_TARGET_AVX512 static void
blocked_each_avx512(void *image, const uint64_t *hashes, size_t n, bool *seen)
{
    const blocked_view v = blocked_look(image);
    size_t done = blocked_pairs_avx512(&v, hashes, n, seen);
    if (done == n)
        return;
    hashes += done, seen += done, n -= done;
#define BLOCKED_EACH_K(k) blocked_each_k_avx512(&v, k, hashes, n, seen)
    BLOCKED_FOR_MANY(v.k, BLOCKED_EACH_K)
#undef BLOCKED_EACH_K
}
#endif

static void blocked_contains_many(const void *image, const uint64_t *hashes,
                                  size_t n, bool *present)
{
#if CPU_X86
    cpu_level level = cpu_now();
    if (level >= CPU_AVX512) {
        blocked_contains_avx512(image, hashes, n, present);
        return;
    }
    if (level >= CPU_AVX2) {
        blocked_contains_avx2(image, hashes, n, present);
        return;
    }
#endif
#if CPU_NEON
    if (cpu_now() >= CPU_BASELINE) {
        blocked_contains_neon(image, hashes, n, present);
        return;
    }
#endif
    blocked_contains_portable(image, hashes, n, present);
}

/* The vector forms are worth their choice for one key too: with fewer
 * instructions for each key the processor sees more keys ahead. */
static kind_contains *blocked_contains_here(const void **subject, void *view)
{
    *(blocked_view *)view = blocked_look(*subject);
    *subject = view;
#if CPU_X86
    cpu_level level = cpu_now();
    if (level >= CPU_AVX512)
        return blocked_one_avx512;
    if (level >= CPU_AVX2)
        return blocked_one_avx2;
#endif
#if CPU_NEON
    if (cpu_now() >= CPU_BASELINE)
        return blocked_one_neon;
#endif
    return blocked_one;
}

static bly_status blocked_add_many(void *image, const uint64_t *hashes,
                                   size_t n, size_t *done)
{
    *done = n;
#if CPU_X86
    cpu_level level = cpu_now();
    if (level >= CPU_AVX512) {
        blocked_add_avx512(image, hashes, n);
        return BLY_OK;
    }
    if (level >= CPU_AVX2) {
        blocked_add_avx2(image, hashes, n);
        return BLY_OK;
    }
#endif
    blocked_add_portable(image, hashes, n);
    return BLY_OK;
}

static bly_status blocked_add_each(void *image, const uint64_t *hashes,
                                   size_t n, bool *seen, size_t *done)
{
    *done = n;
#if CPU_X86
    cpu_level level = cpu_now();
    if (level >= CPU_AVX512) {
        blocked_each_avx512(image, hashes, n, seen);
        return BLY_OK;
    }
    if (level >= CPU_AVX2) {
        blocked_each_avx2(image, hashes, n, seen);
        return BLY_OK;
    }
#endif
    blocked_each_portable(image, hashes, n, seen);
    return BLY_OK;
}

static bly_status blocked_add_many_shared(void *image, const uint64_t *hashes,
                                          size_t n, size_t *done)
{
    blocked_view v = blocked_look(image);
    *done = n;
    BLOCKED_ROLL(v, hashes, n, false,
                 blocked_set(line, g, v.k, true));
    return BLY_OK;
}

/* ---- Look inside ------------------------------------------------------- */

static void blocked_overlap(bly_overlap_t *out, const void *a, const void *b)
{
    shape s = blocked_shape_of(a);
    rows_overlap(out, &s, image_payload(a), image_payload(b));
}

static bly_status blocked_fold_spec(kind_spec *spec, const void *image,
                                    uint64_t times)
{
    uint64_t lines = image_geometry(image, BLOCKED_LINES);
    spec->option[BLOCKED_OPTION_M] = lines / (times + (times == 0))
                                   * BLOCKED_LINE_BITS;
    spec->option[BLOCKED_OPTION_K] = image_geometry(image, BLOCKED_K);
    return kind_divides(times, lines, "lines");
}

static void blocked_fold(void *into, const void *image)
{
    kind_fold_blocks(into, image, BLOCKED_LINE_BYTES);
}

static void blocked_stat(bly_stat_t *out, const void *image)
{
    shape s = blocked_shape_of(image);
    rows_stat(out, &s, image_payload(image));
}

static void blocked_inline(void *view, const void *image)
{
    const blocked_view v = blocked_look(image);
    bly_inline_blocked *out = view;
    out->payload = v.payload;
    out->lines = v.lines;
    out->k = v.k;
}

static const kind_sharing blocked_sharing = {
    .add      = blocked_add_shared,
    .add_many = blocked_add_many_shared,
};

static const kind_combining blocked_combining = {
    .unite     = kind_unite_bits,
    .intersect = kind_intersect_bits,
    .overlap   = blocked_overlap,
};

static const kind_folding blocked_folding = {
    .spec = blocked_fold_spec,
    .fold = blocked_fold,
};

static const kind_inlining blocked_inlining = {
    .view = blocked_inline,
    .adds = true,
};

const bly_kind bly_kind_blocked = {
    .name    = "blocked",
    .family  = "sets",
    .summary = "a Bloom filter with all bits of a key in one cache line",
    .version = BLOCKED_VERSION,
    .options = blocked_options,

    .plan  = blocked_plan,
    .check = blocked_check,
    .stat  = blocked_stat,

    .contains      = blocked_contains,
    .contains_many = blocked_contains_many,
    .contains_here = blocked_contains_here,

    .add      = blocked_add,
    .add_many = blocked_add_many,
    .add_each = blocked_add_each,

    .places = blocked_places,

    .sharing   = &blocked_sharing,
    .combining = &blocked_combining,
    .folding   = &blocked_folding,
    .inlining  = &blocked_inlining,
};
