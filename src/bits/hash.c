/* hash.c - the hash functions that are ours, and the table of all.
 *
 * xxHash comes from its header, whole: a call into its library takes
 * half as long again for a short key. MurmurHash2 and 3 are Austin
 * Appleby's (2008-2011), FNV-1a is Fowler, Noll and Vo's (1991); each is
 * written here from its definition and held against its published vectors and
 * verification words in tests/bits/hash.c.
 */
#include "bits/hash.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/cpu.h"

#if CPU_X86
#include <immintrin.h>
#endif

#if XXH_VERSION_NUMBER < 800
#error "Bloomery needs xxHash 0.8.0: XXH3 had other values before"
#endif

static inline uint32_t hash_rotate32(uint32_t v, unsigned by)
{
    return v << by | v >> (32 - by);
}

static inline uint64_t hash_rotate64(uint64_t v, unsigned by)
{
    return v << by | v >> (64 - by);
}

static inline uint32_t hash_read32(const uint8_t *p)
{
    return (uint32_t)p[0]       | (uint32_t)p[1] << 8
         | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t hash_read64(const uint8_t *p)
{
    return hash_read32(p) | (uint64_t)hash_read32(p + 4) << 32;
}

/* Loads `length` bytes, 0 .. 8, as a little-endian number. Bytes are loaded
 * twice rather than in a loop, whose end the processor could not predict. */
static inline uint64_t hash_tail(const uint8_t *p, size_t length)
{
    if (length >= 4)
        return hash_read32(p)
             | (uint64_t)hash_read32(p + length - 4) << 8 * (length - 4);
    if (length == 0)
        return 0;
    return p[0] | (uint64_t)p[length / 2] << 8 * (length / 2)
         | (uint64_t)p[length - 1] << 8 * (length - 1);
}

/* Loads the last `length` modulo 8 bytes of a key. */
static inline uint64_t hash_last(const uint8_t *key, size_t length)
{
    if (length < 8)
        return hash_tail(key, length);
    /* in two shifts, because one by 64 is undefined */
    return hash_read64(key + length - 8) >> 1 >> (63 - 8 * (length % 8));
}

/* ---- xxHash ------------------------------------------------------------ */

#if CPU_X86
/* XXH3 of more than 240 bytes in 256-bit registers, which the header uses only
 * if all code may. On AMD Zen 3, a page takes 0.3 of the time and 7 MB 0.5 with
 * gcc 12, 0.5 and 0.6 with clang 14. */
enum { HASH_SHORT = 240, HASH_STRIPE = 64,
       HASH_STRIPES = (XXH_SECRET_DEFAULT_SIZE - HASH_STRIPE) / 8,
       HASH_BLOCK = HASH_STRIPE * HASH_STRIPES,
       HASH_LAST = XXH_SECRET_DEFAULT_SIZE - HASH_STRIPE };

CPU_TARGET_AVX2 PLATFORM_INLINE __m256i hash_load(const void *from)
{
    return _mm256_loadu_si256(from);
}

CPU_TARGET_AVX2 PLATFORM_INLINE void hash_stripe(__m256i sums[2],
                                                 const uint8_t *in,
                                                 const uint8_t *secret)
{
    for (int i = 0; i < 2; i++) {
        __m256i data = hash_load(in + 32 * i);
        __m256i key = _mm256_xor_si256(data, hash_load(secret + 32 * i));
        __m256i high = _mm256_shuffle_epi32(key, _MM_SHUFFLE(0, 3, 0, 1));
        __m256i other = _mm256_shuffle_epi32(data, _MM_SHUFFLE(1, 0, 3, 2));
        sums[i] = _mm256_add_epi64(_mm256_add_epi64(sums[i], other),
                                   _mm256_mul_epu32(key, high));
    }
}

CPU_TARGET_AVX2 PLATFORM_INLINE void hash_scramble(__m256i sums[2],
                                                   const uint8_t *secret)
{
    const __m256i prime = _mm256_set1_epi32((int)XXH_PRIME32_1);
    for (int i = 0; i < 2; i++) {
        __m256i x = _mm256_xor_si256(sums[i], _mm256_srli_epi64(sums[i], 47));
        x = _mm256_xor_si256(x, hash_load(secret + 32 * i));
        __m256i high = _mm256_mul_epu32(_mm256_srli_epi64(x, 32), prime);
        sums[i] = _mm256_add_epi64(_mm256_mul_epu32(x, prime),
                                   _mm256_slli_epi64(high, 32));
    }
}

CPU_TARGET_AVX2 static uint64_t hash_xxh3_avx2(const uint8_t *in, size_t n)
{
    const uint8_t *secret = XXH3_kSecret, *end = in + n;
    uint64_t out[] = XXH3_INIT_ACC;
    __m256i sums[2] = { hash_load(out), hash_load(out + 4) };
    for (; end - in > HASH_BLOCK; in += HASH_BLOCK) {
        for (size_t i = 0; i < HASH_STRIPES; i++)
            hash_stripe(sums, in + HASH_STRIPE * i, secret + 8 * i);
        hash_scramble(sums, secret + HASH_LAST);
    }
    for (const uint8_t *at = secret; end - in > HASH_STRIPE; at += 8) {
        hash_stripe(sums, in, at);
        in += HASH_STRIPE;
    }
    hash_stripe(sums, end - HASH_STRIPE,
                secret + HASH_LAST - XXH_SECRET_LASTACC_START);
    _mm256_storeu_si256((__m256i *)(void *)out, sums[0]);
    _mm256_storeu_si256((__m256i *)(void *)(out + 4), sums[1]);
    return XXH3_mergeAccs(out, secret + XXH_SECRET_MERGEACCS_START,
                          n * XXH_PRIME64_1);
}
#endif

uint64_t hash_xxh3(const void *key, size_t length, uint64_t seed)
{
#if CPU_X86
    if (length > HASH_SHORT && seed == 0 && cpu_now() >= CPU_AVX2)
        return hash_xxh3_avx2(key, length);
#endif
    return XXH3_64bits_withSeed(key, length, seed);
}

/* The xxHash library's state. */
hash_stream *hash_stream_start(void)
{
    XXH3_state_t *state = XXH3_createState();
    if (state != NULL)
        XXH3_64bits_reset(state);
    return (hash_stream *)state;
}

void hash_stream_feed(hash_stream *stream, const void *bytes, size_t n)
{
    XXH3_64bits_update((XXH3_state_t *)stream, bytes, n);
}

uint64_t hash_stream_end(hash_stream *stream)
{
    uint64_t hash = XXH3_64bits_digest((XXH3_state_t *)stream);
    XXH3_freeState((XXH3_state_t *)stream);
    return hash;
}

uint64_t hash_xxh64(const void *key, size_t length, uint64_t seed)
{
    return XXH64(key, length, seed);
}

/* ---- MurmurHash2 ------------------------------------------------------- */

uint64_t hash_murmur2(const void *key, size_t length, uint64_t seed)
{
    const uint64_t m = UINT64_C(0xC6A4A7935BD1E995);
    const uint8_t *p = key;
    uint64_t h = seed ^ length * m;

    for (size_t blocks = length / 8; blocks > 0; blocks--, p += 8) {
        uint64_t w = hash_read64(p) * m;
        h = (h ^ (w ^ w >> 47) * m) * m;
    }
    if (length % 8 != 0)
        h = (h ^ hash_last(key, length)) * m;
    h = (h ^ h >> 47) * m;
    return h ^ h >> 47;
}

uint32_t hash_murmur2_32(const void *key, size_t length, uint32_t seed)
{
    const uint32_t m = 0x5BD1E995;
    const uint8_t *p = key;
    uint32_t h = seed ^ (uint32_t)length;

    for (size_t blocks = length / 4; blocks > 0; blocks--, p += 4) {
        uint32_t w = hash_read32(p) * m;
        h = h * m ^ (w ^ w >> 24) * m;
    }
    if (length % 4 != 0)
        h = (h ^ (uint32_t)hash_tail(p, length % 4)) * m;
    h = (h ^ h >> 13) * m;
    return h ^ h >> 15;
}

/* ---- MurmurHash3 ------------------------------------------------------- */

static inline uint32_t hash_murmur3_word32(uint32_t w)
{
    return hash_rotate32(w * 0xCC9E2D51, 15) * 0x1B873593;
}

uint32_t hash_murmur3_32_block(uint32_t h, uint32_t word)
{
    h ^= hash_murmur3_word32(word);
    return hash_rotate32(h, 13) * 5 + 0xE6546B64;
}

uint32_t hash_murmur3_32_end(uint32_t h, uint32_t length)
{
    h ^= length;
    h = (h ^ h >> 16) * 0x85EBCA6B;
    h = (h ^ h >> 13) * 0xC2B2AE35;
    return h ^ h >> 16;
}

uint32_t hash_murmur3_32(const void *key, size_t length, uint32_t seed)
{
    const uint8_t *p = key;
    uint32_t h = seed;

    for (size_t blocks = length / 4; blocks > 0; blocks--, p += 4)
        h = hash_murmur3_32_block(h, hash_read32(p));
    h ^= hash_murmur3_word32((uint32_t)hash_tail(p, length % 4));
    return hash_murmur3_32_end(h, (uint32_t)length);
}

static const uint64_t HASH_MURMUR3_C1 = UINT64_C(0x87C37B91114253D5);
static const uint64_t HASH_MURMUR3_C2 = UINT64_C(0x4CF5AD432745937F);

static inline uint64_t hash_murmur3_first(uint64_t w)
{
    return hash_rotate64(w * HASH_MURMUR3_C1, 31) * HASH_MURMUR3_C2;
}

static inline uint64_t hash_murmur3_second(uint64_t w)
{
    return hash_rotate64(w * HASH_MURMUR3_C2, 33) * HASH_MURMUR3_C1;
}

static inline uint64_t hash_murmur3_final(uint64_t h)
{
    h = (h ^ h >> 33) * UINT64_C(0xFF51AFD7ED558CCD);
    h = (h ^ h >> 33) * UINT64_C(0xC4CEB9FE1A85EC53);
    return h ^ h >> 33;
}

typedef struct { uint64_t a, b; } hash_murmur;

static inline hash_murmur hash_murmur3_block(hash_murmur h, hash_murmur word)
{
    h.a ^= hash_murmur3_first(word.a);
    h.a = (hash_rotate64(h.a, 27) + h.b) * 5 + 0x52DCE729;
    h.b ^= hash_murmur3_second(word.b);
    h.b = (hash_rotate64(h.b, 31) + h.a) * 5 + 0x38495AB5;
    return h;
}

static inline hash_murmur hash_murmur3_blocks(hash_murmur h, const uint8_t *p,
                                              size_t blocks)
{
    for (; blocks > 0; blocks--, p += 16)
        h = hash_murmur3_block(h, (hash_murmur){ hash_read64(p),
                                                 hash_read64(p + 8) });
    return h;
}

/* Loads the last `length` modulo 16 bytes of a key as two words. */
static inline hash_murmur hash_murmur3_rest(const uint8_t *key, size_t length)
{
    hash_murmur word = { hash_last(key, length), 0 };
    if (length % 16 >= 8) {
        word.b = word.a;
        word.a = hash_read64(key + length / 16 * 16);
    }
    return word;
}

/* Returns the word of the same bytes, of which each below 0 changes all bits
 * above it. */
static inline uint64_t hash_signed(uint64_t word)
{
    uint64_t minus = word & UINT64_C(0x8080808080808080);
    minus ^= minus << 8;
    minus ^= minus << 16;
    minus ^= minus << 32;               /* an odd number up to this byte     */
    return word ^ (minus << 1) * 0xFF;
}

/* Hashes the words of the rest of a key of `length` bytes, and finishes. */
static inline void hash_murmur3_end(hash_murmur h, hash_murmur word,
                                    size_t length, uint64_t out[2])
{
    h.b ^= hash_murmur3_second(word.b);
    h.a ^= hash_murmur3_first(word.a);
    h.a ^= length;
    h.b ^= length;
    h.a += h.b;
    h.b += h.a;
    h.a = hash_murmur3_final(h.a);
    h.b = hash_murmur3_final(h.b);
    out[0] = h.a + h.b;
    out[1] = out[0] + h.b;
}

PLATFORM_INLINE void hash_murmur3_all(const void *key, size_t length,
                                      uint32_t seed, bool is_signed,
                                      uint64_t out[2])
{
    hash_murmur h = { seed, seed };
    h = hash_murmur3_blocks(h, key, length / 16);
    hash_murmur word = hash_murmur3_rest(key, length);
    if (is_signed)
        word = (hash_murmur){ hash_signed(word.a), hash_signed(word.b) };
    hash_murmur3_end(h, word, length, out);
}

void hash_murmur3_128(const void *key, size_t length, uint32_t seed,
                      uint64_t out[2])
{
    hash_murmur3_all(key, length, seed, false, out);
}

void hash_murmur3_128_signed(const void *key, size_t length, uint32_t seed,
                             uint64_t out[2])
{
    hash_murmur3_all(key, length, seed, true, out);
}

void hash_murmur3_128_and(const void *key, size_t length, uint8_t byte,
                          uint32_t seed, uint64_t out[2])
{
    hash_murmur h = { seed, seed };
    h = hash_murmur3_blocks(h, key, length / 16);
    hash_murmur word = hash_murmur3_rest(key, length);
    uint64_t more = (uint64_t)byte << 8 * (length % 8);
    if (length % 16 < 8)
        word.a |= more;
    else
        word.b |= more;
    if (length % 16 == 15) {
        h = hash_murmur3_block(h, word);
        word = (hash_murmur){ 0, 0 };
    }
    hash_murmur3_end(h, word, length + 1, out);
}

uint64_t hash_murmur3_64(const void *key, size_t length, uint64_t seed)
{
    const uint8_t *p = key;
    uint64_t h = seed;
    for (size_t blocks = length / 8; blocks > 0; blocks--, p += 8) {
        h ^= hash_murmur3_first(hash_read64(p));
        h = hash_rotate64(h, 27) * 5 + 0x52DCE729;
    }
    h ^= hash_murmur3_first(hash_last(key, length));
    return hash_murmur3_final(h ^ length);
}

uint64_t hash_murmur3(const void *key, size_t length, uint64_t seed)
{
    uint64_t both[2];
    hash_murmur3_128(key, length, (uint32_t)(seed ^ seed >> 32), both);
    return both[0];
}

/* ---- FNV-1a ------------------------------------------------------------ */

uint64_t hash_fnv1a(const void *key, size_t length, uint64_t seed)
{
    const uint8_t *p = key;
    uint64_t h = UINT64_C(0xCBF29CE484222325) ^ seed;
    for (size_t i = 0; i < length; i++)
        h = (h ^ p[i]) * UINT64_C(0x100000001B3);
    return h;
}

uint32_t hash_fnv1a_32(const void *key, size_t length)
{
    const uint8_t *p = key;
    uint32_t h = 0x811C9DC5;
    for (size_t i = 0; i < length; i++)
        h = (h ^ p[i]) * 0x01000193;
    return h;
}

/* ---- wyhash, its first version ------------------------------------------ */

static const uint64_t HASH_WY_0 = UINT64_C(0xA0761D6478BD642F);
static const uint64_t HASH_WY_1 = UINT64_C(0xE7037ED1A0B428DB);
static const uint64_t HASH_WY_2 = UINT64_C(0x8EBC6AF09C88C6E3);
static const uint64_t HASH_WY_3 = UINT64_C(0x589965CC75374CC3);
static const uint64_t HASH_WY_4 = UINT64_C(0x1D8E4E27C47D124F);
static const uint64_t HASH_WY_5 = UINT64_C(0xEB44ACCAB455D165);

static inline uint64_t hash_wy_mix(uint64_t a, uint64_t b)
{
    return platform_mul_high(a, b) ^ a * b;
}

/* Eight bytes, of which the first four are the high half. */
static inline uint64_t hash_wy_turned(const uint8_t *p)
{
    return (uint64_t)hash_read32(p) << 32 | hash_read32(p + 4);
}

/* The last 1 to 8 bytes, in the order of that function. */
static uint64_t hash_wy_tail(const uint8_t *p, size_t n)
{
    uint64_t first = n >= 4 ? hash_read32(p) : hash_tail(p, n < 2 ? n : 2);
    switch (n) {
    case 3: return first << 8 | p[2];
    case 5: return first << 8 | p[4];
    case 6: return first << 16 | (uint64_t)p[5] << 8 | p[4];
    case 7: return first << 24 | (uint64_t)p[5] << 16 | (uint64_t)p[4] << 8
                 | p[6];
    case 8: return hash_wy_turned(p);
    default: return first;
    }
}

/* The bytes behind the last whole 32, of which there are 1 to 31. */
static uint64_t hash_wy_rest(uint64_t h, const uint8_t *p, size_t n)
{
    size_t words = (n - 1) / 8;
    uint64_t last = hash_wy_tail(p + 8 * words, n - 8 * words);
    if (words == 0)
        return hash_wy_mix(h, last ^ HASH_WY_1);
    uint64_t first = hash_wy_turned(p);
    if (words == 1)
        return hash_wy_mix(first ^ h, last ^ HASH_WY_2);
    uint64_t half = hash_wy_mix(first ^ h, hash_wy_turned(p + 8) ^ HASH_WY_2);
    return half ^ (words == 2 ? hash_wy_mix(h, last ^ HASH_WY_3)
                 : hash_wy_mix(hash_wy_turned(p + 16) ^ h, last ^ HASH_WY_4));
}

uint64_t hash_wyhash(const void *key, size_t length, uint64_t seed)
{
    const uint8_t *p = key;
    uint64_t h = seed;
    for (size_t blocks = length / 32; blocks > 0; blocks--, p += 32)
        h = hash_wy_mix(h ^ HASH_WY_0,
                        hash_wy_mix(hash_read64(p) ^ HASH_WY_1,
                                    hash_read64(p + 8) ^ HASH_WY_2)
                        ^ hash_wy_mix(hash_read64(p + 16) ^ HASH_WY_3,
                                      hash_read64(p + 24) ^ HASH_WY_4));
    h ^= HASH_WY_0;
    if (length % 32 > 0)
        h = hash_wy_rest(h, p, length % 32);
    return hash_wy_mix(h, length ^ HASH_WY_5);
}

/* ---- SipHash-2-4 and -1-3 [Aumasson & Bernstein 2012] -------------------- */

typedef struct { uint64_t a, b, c, d; } hash_sip;

static inline void hash_sip_round(hash_sip *s)
{
    s->a += s->b;
    s->c += s->d;
    s->b = hash_rotate64(s->b, 13) ^ s->a;
    s->d = hash_rotate64(s->d, 16) ^ s->c;
    s->a = hash_rotate64(s->a, 32) + s->d;
    s->c += s->b;
    s->b = hash_rotate64(s->b, 17) ^ s->c;
    s->d = hash_rotate64(s->d, 21) ^ s->a;
    s->c = hash_rotate64(s->c, 32);
}

/* Takes in a word, by so many rounds. */
static inline void hash_sip_word(hash_sip *s, uint64_t word, unsigned rounds)
{
    s->d ^= word;
    for (unsigned i = 0; i < rounds; i++)
        hash_sip_round(s);
    s->a ^= word;
}

static inline hash_sip hash_sip_start(hash_seed secret)
{
    return (hash_sip){                  /* "somepseudorandomlygeneratedbytes" */
        secret.low  ^ UINT64_C(0x736F6D6570736575),
        secret.high ^ UINT64_C(0x646F72616E646F6D),
        secret.low  ^ UINT64_C(0x6C7967656E657261),
        secret.high ^ UINT64_C(0x7465646279746573),
    };
}

static inline uint64_t hash_sip_end(hash_sip s, unsigned rounds)
{
    s.c ^= 0xFF;
    for (unsigned i = 0; i < rounds; i++)
        hash_sip_round(&s);
    return s.a ^ s.b ^ s.c ^ s.d;
}

uint64_t hash_siphash(const void *key, size_t length, hash_seed secret)
{
    const uint8_t *p = key;
    hash_sip s = hash_sip_start(secret);
    for (size_t words = length / 8; words > 0; words--, p += 8)
        hash_sip_word(&s, hash_read64(p), 2);
    hash_sip_word(&s, hash_last(key, length) | (uint64_t)length << 56, 2);
    return hash_sip_end(s, 4);
}

uint64_t hash_siphash_rust(const void *key, size_t length, hash_rust type,
                           hash_seed secret)
{
    const uint8_t *p = key;
    hash_sip s = hash_sip_start(secret);
    size_t rest = length % 8;
    uint64_t all = length + (type == HASH_RUST_STR)
                 + 8 * (uint64_t)(type == HASH_RUST_BYTES);
    if (type == HASH_RUST_BYTES)
        hash_sip_word(&s, length, 1);
    for (size_t words = length / 8; words > 0; words--, p += 8)
        hash_sip_word(&s, hash_read64(p), 1);
    uint64_t last = hash_last(key, length);
    if (type == HASH_RUST_STR)
        last |= UINT64_C(0xFF) << 8 * rest;
    if (type == HASH_RUST_STR && rest == 7) {
        hash_sip_word(&s, last, 1);
        last = 0;
    }
    hash_sip_word(&s, last | all << 56, 1);
    return hash_sip_end(s, 3);
}

hash_seed hash_secret(const void *secret)
{
    const uint8_t *bytes = secret;
    return (hash_seed){ hash_read64(bytes), hash_read64(bytes + 8) };
}

uint64_t hash_secret_mark(hash_seed secret)
{
    static const char sentence[] = "Bloomery: by which secret are these keys "
                                   "hashed?";
    return hash_siphash(sentence, sizeof sentence - 1, secret);
}

/* ---- Integers, and the table --------------------------------------------- */

uint64_t hash_identity(const void *key, size_t length, uint64_t seed)
{
    (void)seed;
    return length <= 8 ? hash_tail(key, length) : hash_xxh3(key, length, 0);
}

/* Digits only; UINT64_MAX is for all that is no number below it. */
uint64_t hash_decimal(const void *key, size_t length, uint64_t seed)
{
    const uint8_t *p = key;
    uint64_t v = 0;
    (void)seed;
    for (size_t i = 0; i < length; i++) {
        uint64_t digit = (uint64_t)p[i] - '0';
        if (digit > 9 || v > (UINT64_MAX - digit) / 10)
            return UINT64_MAX;
        v = 10 * v + digit;
    }
    return length > 0 ? v : UINT64_MAX;
}

/* Defines a function with a 64-bit seed for the table. */
#define HASH_SEEDED(name)                                                      \
    static uint64_t hash_seeded_##name(const void *key, size_t length,         \
                                       hash_seed seed)                         \
    {                                                                          \
        return hash_##name(key, length, seed.low);                             \
    }
HASH_SEEDED(xxh3)
HASH_SEEDED(xxh64)
HASH_SEEDED(murmur2)
HASH_SEEDED(murmur3)
HASH_SEEDED(fnv1a)
HASH_SEEDED(identity)
HASH_SEEDED(decimal)
#undef HASH_SEEDED

const hash_info hash_list[] = {
    { .name = "xxh3", .function = hash_seeded_xxh3,
      .summary = "XXH3-64: the default, fast at every length" },
    { .name = "xxh64", .function = hash_seeded_xxh64,
      .summary = "XXH64: what Parquet uses (seed 0)" },
    { .name = "murmur2", .function = hash_seeded_murmur2,
      .summary = "MurmurHash64A" },
    { .name = "murmur3", .function = hash_seeded_murmur3,
      .summary = "MurmurHash3 x64, its first 64 bits" },
    { .name = "fnv1a", .function = hash_seeded_fnv1a, .weak = true,
      .summary = "FNV-1a, 64 bits" },
    { .name = "siphash", .function = hash_siphash, .keyed = true,
      .summary = "SipHash-2-4 with a secret, for keys that an enemy chooses" },
    { .name = "identity", .function = hash_seeded_identity, .integer = true,
      .summary = "the key is a 64-bit hash already, or an integer" },
    { .name = "decimal", .function = hash_seeded_decimal, .weak = true,
      .integer = true, .summary = "the key is a decimal number" },
    { .name = NULL },
};

const hash_info *hash_find(const char *name)
{
    for (const hash_info *h = hash_list; h->name != NULL; h++)
        if (strcmp(h->name, name) == 0)
            return h;
    return NULL;
}

const hash_info *hash_find_field(const uint8_t field[HASH_NAME])
{
    for (const hash_info *h = hash_list; h->name != NULL; h++) {
        char padded[HASH_NAME + 1] = { 0 };
        memcpy(padded, h->name, strlen(h->name));
        if (memcmp(padded, field, HASH_NAME) == 0)
            return h;
    }
    return NULL;
}
