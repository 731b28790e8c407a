/* siprow.h - the row of bits of Rust's crate bloomfilter: the numbers in front
 * of it, its sizes, and the places of its keys. kinds/foreign/rustbloom.c says
 * what they are.
 *
 * Used by kind rustbloom, whose file is one such row, and by kind valkey, which
 * has a chain of them.
 */
#ifndef BLY_BODIES_SIPROW_H
#define BLY_BODIES_SIPROW_H

#include "bodies/rowfile.h"

#include "bits/hash.h"

enum {
    SIPROW_AT_BYTES = 1, SIPROW_AT_K = 9, SIPROW_AT_KEYS = 13,
    SIPROW_HEAD = 45,                   /* bytes in front of the bits        */
    SIPROW_KEYS = 32,                   /* the last of them: keys of SipHash */
    SIPROW_SEED = ROWFILE_THIRD         /* field of the geometry             */
};

#define SIPROW_BYTES_MAX (UINT64_C(1) << 37)
#define SIPROW_M_MAX     (8 * SIPROW_BYTES_MAX)
#define SIPROW_PRIME     UINT64_C(18446744073709551557)

extern const rowfile_number siprow_numbers[];

strides siprow_strides(const uint64_t *geometry);

/* Sets m and k, by the crate's own formulas for n keys and a rate. m may be
 * above SIPROW_M_MAX. */
void siprow_size(uint64_t *geometry, uint64_t n, double rate);

/* The two hashes of a key, from the 32 bytes of two keys of SipHash. */
static inline void siprow_hash(uint64_t h[2], const uint8_t *keys,
                               const void *key, size_t length, hash_rust type)
{
    for (size_t i = 0; i < 2; i++) {
        hash_seed secret = { image_u64(keys, 16 * i),
                             image_u64(keys, 16 * i + 8) };
        h[i] = hash_siphash_rust(key, length, type, secret);
    }
}

/* Returns bit i of a key whose hashes are in its state. */
static inline uint64_t siprow_place(const probes_row *row, probes_key *key,
                                    uint64_t i)
{
    if (i < 2)
        return probes_mod(row, key->state[i]);
    uint64_t c = key->state[0] + i * key->state[1];
    return probes_mod(row, c - (c >= SIPROW_PRIME ? SIPROW_PRIME : 0));
}

#endif /* BLY_BODIES_SIPROW_H */
