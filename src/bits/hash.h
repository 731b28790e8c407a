/* hash.h - hash functions by name, and what kinds derive from a hash.
 *
 * A key is hashed once, on entry, to 64 bits; the name of the
 * function and its seed are in the image. Functions read bytes little-endian
 * and unsigned on every machine, at any alignment, at any length.
 *
 *   name      what it is                                              seed
 *   xxh3      XXH3-64, of the xxHash library                          64 bits
 *   xxh64     XXH64, of the xxHash library; Parquet's, with seed 0    64 bits
 *   murmur2   MurmurHash64A, the 64-bit member of MurmurHash2         64 bits
 *   murmur3   the first half of MurmurHash3_x64_128                   folded
 *   fnv1a     FNV-1a, 64 bits; the seed is xored into the offset      64 bits
 *   siphash   SipHash-2-4, whose 128-bit key is a secret              128 bits
 *   identity  a key of up to 8 bytes is its own hash, read as a
 *             little-endian integer; a longer one gets its XXH3-64    ignored
 *
 *   decimal   an unsigned decimal number, as text, is its own hash:
 *             digits only, below 2^64-1; other keys get 2^64-1        ignored
 *
 * `siphash` is for keys that an enemy chooses. To him who does not know the
 * secret its values look random, so that he can neither look for keys that are
 * found by accident nor for keys that crowd into one place. It is the member
 * with 2 and 4 rounds, not the one with 1 and 3 that hash tables in memory use:
 * a filter is kept and published, its enemies have years, and this one is what
 * the paper claims the security for and gives vectors of.
 *
 * "folded": MurmurHash3 takes 32 bits; the halves of the seed are xored.
 * `identity` is for keys that are hashes already: kinds expect a hash whose
 * bits are all random, and consecutive integers are not. `decimal` is for
 * kinds of integers (src/kinds/exact/).
 *
 * The 32-bit members of the families are here for formats of other systems
 * and for the literature's experiments. They are no name for a filter's hash:
 * at 10^8 keys two per cent of all foreign keys share their 32 bits with a
 * member.
 *
 *   [Aumasson & Bernstein 2012]  SipHash: a fast short-input PRF
 */
#ifndef BLY_BITS_HASH_H
#define BLY_BITS_HASH_H

#include "bloomery.h"

#include "base/platform.h"

/* The seed, with `high` 0, or the secret of a keyed function. */
typedef struct { uint64_t low, high; } hash_seed;

typedef uint64_t hash_function(const void *key, size_t length, hash_seed seed);

typedef struct {
    const char    *name;                /* at most 8 characters */
    hash_function *function;
    bool           keyed;               /* by a secret                       */
    bool           weak;                /* its high bits are, for short keys */
    bool           integer;             /* the key itself, of those keys that
                                           are integers                      */
    const char    *summary;
} hash_info;

enum { HASH_NAME = 8 };                 /* bytes of a name in the image */

/* All functions, ended by a NULL name. The first is the default. */
extern const hash_info hash_list[];

/* Finds a function by name, or returns NULL. `hash_find_field` reads the name
 * from 8 NUL-padded bytes of an image. */
const hash_info *hash_find(const char *name);
const hash_info *hash_find_field(const uint8_t field[HASH_NAME]);

/* Converts the secret to a seed; and returns a number that identifies the
 * secret but reveals nothing of it: its hash of a fixed sentence. */
hash_seed hash_secret(const void *secret);
uint64_t  hash_secret_mark(hash_seed secret);

uint64_t hash_xxh3   (const void *key, size_t length, uint64_t seed);
uint64_t hash_xxh64  (const void *key, size_t length, uint64_t seed);
uint64_t hash_murmur2(const void *key, size_t length, uint64_t seed);
uint64_t hash_murmur3(const void *key, size_t length, uint64_t seed);
uint64_t hash_fnv1a  (const void *key, size_t length, uint64_t seed);
uint64_t hash_siphash(const void *key, size_t length, hash_seed secret);
uint64_t hash_identity(const void *key, size_t length, uint64_t seed);
uint64_t hash_decimal (const void *key, size_t length, uint64_t seed);

/* SipHash-1-3, as Rust hashes values of a type: text, bytes, or one number. */
typedef enum { HASH_RUST_STR, HASH_RUST_BYTES, HASH_RUST_INT } hash_rust;
uint64_t hash_siphash_rust(const void *key, size_t length, hash_rust type,
                           hash_seed secret);

/* Computes XXH3-64 with seed 0 piece by piece. NULL if out of memory; `end`
 * frees the state. */
typedef struct hash_stream hash_stream;
hash_stream *hash_stream_start(void);
void         hash_stream_feed(hash_stream *stream, const void *bytes, size_t n);
uint64_t     hash_stream_end(hash_stream *stream);

uint32_t hash_murmur2_32(const void *key, size_t length, uint32_t seed);
uint32_t hash_murmur3_32(const void *key, size_t length, uint32_t seed);
/* Its parts, for a hash that treats the last bytes in another way: h is the
 * seed at first. */
uint32_t hash_murmur3_32_block(uint32_t h, uint32_t word);
uint32_t hash_murmur3_32_end  (uint32_t h, uint32_t length);
void     hash_murmur3_128(const void *key, size_t length, uint32_t seed,
                          uint64_t out[2]);
/* Takes the bytes behind the last whole block as signed numbers. */
void     hash_murmur3_128_signed(const void *key, size_t length, uint32_t seed,
                                 uint64_t out[2]);
/* Has one word of state instead of two. */
uint64_t hash_murmur3_64(const void *key, size_t length, uint64_t seed);
/* Hashes the key followed by one more byte. */
void     hash_murmur3_128_and(const void *key, size_t length, uint8_t byte,
                              uint32_t seed, uint64_t out[2]);
uint32_t hash_fnv1a_32  (const void *key, size_t length);
/* The first of the functions named wyhash. */
uint64_t hash_wyhash    (const void *key, size_t length, uint64_t seed);

/* An odd multiplier whose powers have a good lattice structure modulo 2^64
 * (Steele & Vigna 2022, table of multipliers for congruential generators). */
#define HASH_STEP UINT64_C(0xD1342543DE82EF95)

/* Improves the high bits of a hash, for kinds that use those: one xorshift and
 * one odd multiplication, a bijection. It keeps the rate right for functions
 * with weak high bits, such as FNV-1a on short keys. */
PLATFORM_INLINE uint64_t hash_spread(uint64_t hash)
{
    return (hash ^ hash >> 32) * HASH_STEP;
}

/* The multipliers of hash_mix(). */
#define HASH_MIX_FIRST  UINT64_C(0xBF58476D1CE4E5B9)
#define HASH_MIX_SECOND UINT64_C(0x94D049BB133111EB)

/* Mixes all 64 bits, a bijection: two rounds of xorshift and odd multiplication
 * (the finaliser of SplitMix64, "variant 13" of Stafford). */
PLATFORM_INLINE uint64_t hash_mix(uint64_t v)
{
    v = (v ^ v >> 30) * HASH_MIX_FIRST;
    v = (v ^ v >> 27) * HASH_MIX_SECOND;
    return v ^ v >> 31;
}

#endif /* BLY_BITS_HASH_H */
