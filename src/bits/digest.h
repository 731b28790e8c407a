/* digest.h - cryptographic digests for other systems' formats.
 *
 * They are computed by nettle, which has all four, allocates nothing and has no
 * global state; the original Keccak uses its SHA-3 permutation. A library built
 * without it (-DBLY_DIGESTS=OFF) has only the formats that need no digests;
 * digest_check() reports the others.
 */
#ifndef BLY_BITS_DIGEST_H
#define BLY_BITS_DIGEST_H

#include "bloomery.h"

enum {
    DIGEST_MD5 = 16, DIGEST_SHA1 = 20, DIGEST_SHA256 = 32, DIGEST_KECCAK = 32
};

/* Returns BLY_OK, or BLY_EUNSUPPORTED if the library has no digests; the
 * functions below then write zeros. `who` needs them: "format squid". */
bly_status digest_check(const char *who);

/* Computes the MD5 of one byte followed by a text. */
void digest_md5_of(uint8_t out[DIGEST_MD5], uint8_t first, const void *text,
                   size_t n);
void digest_md5   (uint8_t out[DIGEST_MD5], const void *text, size_t n);
void digest_sha1  (uint8_t out[DIGEST_SHA1], const void *text, size_t n);
/* Computes the SHA-256 of two texts, concatenated. */
void digest_sha256(uint8_t out[DIGEST_SHA256], const void *first, size_t n,
                   const void *second, size_t m);
/* Computes Keccak-256 as of 2011, whose padding begins with 01. */
void digest_keccak(uint8_t out[DIGEST_KECCAK], const void *text, size_t n);

#endif /* BLY_BITS_DIGEST_H */
