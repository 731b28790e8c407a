/* digest.h - cryptographic digests, which other systems' formats hash keys by.
 *
 * They are computed by nettle: it has all four, Keccak as it was
 * before it became SHA-3 too (by its permutation), allocates nothing and keeps
 * no state of its own. A library that is built without it (-DBLY_DIGESTS=OFF)
 * has the formats that need none of them; of the others digest_check() says
 * what is missing.
 */
#ifndef BLY_BITS_DIGEST_H
#define BLY_BITS_DIGEST_H

#include "bloomery.h"

enum {
    DIGEST_MD5 = 16, DIGEST_SHA1 = 20, DIGEST_SHA256 = 32, DIGEST_KECCAK = 32
};

/* BLY_OK, or BLY_EUNSUPPORTED: there are none in this library, so that all
 * below write zeros. `who` needs them: "format squid". */
bly_status digest_check(const char *who);

/* MD5 of one byte and, behind it, a text. */
void digest_md5_of(uint8_t out[DIGEST_MD5], uint8_t first, const void *text,
                   size_t n);
void digest_md5   (uint8_t out[DIGEST_MD5], const void *text, size_t n);
void digest_sha1  (uint8_t out[DIGEST_SHA1], const void *text, size_t n);
/* Of two texts, one behind the other. */
void digest_sha256(uint8_t out[DIGEST_SHA256], const void *first, size_t n,
                   const void *second, size_t m);
/* Keccak-256 as in 2011, whose padding begins with 01. */
void digest_keccak(uint8_t out[DIGEST_KECCAK], const void *text, size_t n);

#endif /* BLY_BITS_DIGEST_H */
