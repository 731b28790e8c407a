/* digest.c - cryptographic digests, by nettle. */
#include "bits/digest.h"

#include <string.h>

#include "base/status.h"

#ifdef BLY_WITH_NETTLE

#include <nettle/md5.h>
#include <nettle/sha1.h>
#include <nettle/sha2.h>
#include <nettle/sha3.h>

bly_status digest_check(const char *who)
{
    (void)who;
    return BLY_OK;
}

static void digest_md5_end(uint8_t out[DIGEST_MD5], struct md5_ctx *md5,
                           const void *text, size_t n)
{
    md5_update(md5, n, text);
    md5_digest(md5, DIGEST_MD5, out);
}

void digest_md5_of(uint8_t out[DIGEST_MD5], uint8_t first, const void *text,
                   size_t n)
{
    struct md5_ctx md5;
    md5_init(&md5);
    md5_update(&md5, 1, &first);
    digest_md5_end(out, &md5, text, n);
}

void digest_md5(uint8_t out[DIGEST_MD5], const void *text, size_t n)
{
    struct md5_ctx md5;
    md5_init(&md5);
    digest_md5_end(out, &md5, text, n);
}

void digest_sha1(uint8_t out[DIGEST_SHA1], const void *text, size_t n)
{
    struct sha1_ctx sha1;
    sha1_init(&sha1);
    sha1_update(&sha1, n, text);
    sha1_digest(&sha1, DIGEST_SHA1, out);
}

void digest_sha256(uint8_t out[DIGEST_SHA256], const void *first, size_t n,
                   const void *second, size_t m)
{
    struct sha256_ctx sha256;
    sha256_init(&sha256);
    sha256_update(&sha256, n, first);
    sha256_update(&sha256, m, second);
    sha256_digest(&sha256, DIGEST_SHA256, out);
}

/* ---- Keccak ------------------------------------------------------------ */

enum { DIGEST_RATE = 136 };             /* bytes between two permutations    */

/* Copies byte i of a block to its place in little-endian words. */
static void digest_keccak_block(struct sha3_state *state, const uint8_t *block)
{
    for (size_t i = 0; i < DIGEST_RATE; i++)
        state->a[i / 8] ^= (uint64_t)block[i] << i % 8 * 8;
    sha3_permute(state);
}

void digest_keccak(uint8_t out[DIGEST_KECCAK], const void *text, size_t n)
{
    struct sha3_state state = { .a = { 0 } };
    uint8_t last[DIGEST_RATE] = { 0 };
    const uint8_t *bytes = text;
    for (; n >= DIGEST_RATE; n -= DIGEST_RATE, bytes += DIGEST_RATE)
        digest_keccak_block(&state, bytes);
    if (n > 0)
        memcpy(last, bytes, n);
    last[n] ^= 0x01;
    last[DIGEST_RATE - 1] ^= 0x80;
    digest_keccak_block(&state, last);
    for (size_t i = 0; i < DIGEST_KECCAK; i++)
        out[i] = (uint8_t)(state.a[i / 8] >> i % 8 * 8);
}

#else

bly_status digest_check(const char *who)
{
    return status_fail(BLY_EUNSUPPORTED, "%s needs cryptographic digests, "
                       "which this library was built without: build it with "
                       "nettle and -DBLY_DIGESTS=ON", who);
}

void digest_md5_of(uint8_t out[DIGEST_MD5], uint8_t first, const void *text,
                   size_t n)
{
    (void)first;
    digest_md5(out, text, n);
}

void digest_md5(uint8_t out[DIGEST_MD5], const void *text, size_t n)
{
    (void)text;
    (void)n;
    memset(out, 0, DIGEST_MD5);
}

void digest_sha1(uint8_t out[DIGEST_SHA1], const void *text, size_t n)
{
    (void)text;
    (void)n;
    memset(out, 0, DIGEST_SHA1);
}

void digest_sha256(uint8_t out[DIGEST_SHA256], const void *first, size_t n,
                   const void *second, size_t m)
{
    (void)first;
    (void)n;
    (void)second;
    (void)m;
    memset(out, 0, DIGEST_SHA256);
}

void digest_keccak(uint8_t out[DIGEST_KECCAK], const void *text, size_t n)
{
    (void)text;
    (void)n;
    memset(out, 0, DIGEST_KECCAK);
}

#endif
