/* blocked.h - declarations that the files of kind `blocked` share: the view of
 * an image, the bits of one key, and batches that prefetch.
 *
 * blocked.c has the essay and every function but the vector ones. Each of
 * blocked_neon.c, blocked_avx2.c and blocked_avx512.c has them for one level of
 * vector instructions. All levels set the same bits and give the same answers.
 */
#ifndef BLY_KINDS_SETS_BLOCKED_BLOCKED_H
#define BLY_KINDS_SETS_BLOCKED_BLOCKED_H

#include "base/cpu.h"
#include "base/ring.h"
#include "image/abilities.h"
#include "bits/bits.h"
#include "bits/hash.h"

#include "bloomery/inline.h"

#include <assert.h>

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

/* ---- Single keys ------------------------------------------------------- */

/* The fields of an image that probes need, read once. The bodies of single
 * lookups are those of bloomery/inline.h. */
typedef bly_inline_blocked blocked_view;

static_assert(sizeof(blocked_view) <= KIND_VIEW, "a view has its room");

PLATFORM_INLINE blocked_view blocked_look(const void *image)
{
    return (blocked_view){
        .payload = image_payload_mut((void *)(uintptr_t)image),
        .lines = image_geometry(image, BLOCKED_LINES),
        .k = (uint32_t)image_geometry(image, BLOCKED_K),
    };
}

/* Returns the bytes of all lines. */
PLATFORM_INLINE uint64_t blocked_bytes(const blocked_view *v)
{
    return v->lines * BLOCKED_LINE_BYTES;
}

/* Sets the k bits of g. Returns whether one of them was clear. */
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

/* ---- Batches ----------------------------------------------------------- */

/* A key whose line has been prefetched, and the source of its places, so that
 * neither is computed twice. */
typedef struct {
    uint8_t *line;
    uint32_t g;
} blocked_key;

enum { BLOCKED_RING = 128 };            /* prefetched keys, at most          */

PLATFORM_INLINE blocked_key blocked_prefetch(const blocked_view *v,
                                             uint64_t hash, bool write)
{
    uint64_t state = hash_spread(hash);
    blocked_key key = { bly_inside_line(v, state), (uint32_t)state };
    if (write)
        platform_prefetch_write(key.line);
    else
        platform_prefetch(key.line);
    return key;
}

/* `work` is the statement for hashes[i] with its `line` and `g`. */
#define BLOCKED_ROLL(view, hashes, n, write, work)                             \
    RING_ROLL(blocked_key, BLOCKED_RING, n, blocked_bytes(&(view)),            \
        *slot = blocked_prefetch(&(view), (hashes)[i], write),                 \
        uint8_t *line = slot->line;                                            \
        uint32_t g = slot->g;                                                  \
        work)

/* ---- Vector instructions ----------------------------------------------- */

#if CPU_X86 || CPU_NEON
/* c^1 to c^16. The last one leads to the next sixteen. */
static const uint32_t blocked_steps[16] = {
    0x9E3779B9, 0xE35E67B1, 0x734297E9, 0x35FBE861,
    0xDEB7C719, 0x0448B211, 0x3459B749, 0xAB25F4C1,
    0x52941879, 0x9C95E071, 0xF5AB9AA9, 0x2D6BA521,
    0x8BEDEDD9, 0x9BFB72D1, 0x3AE1C209, 0x7FCA7981,
};
#endif

/* For each level: a kind_contains on a blocked_view, or with AVX2 the one for
 * filters of k probes; and batches. */

#if CPU_NEON
bool blocked_one_neon(const void *subject, uint64_t hash);
void blocked_contains_neon(const void *image, const uint64_t *hashes, size_t n,
                           bool *present);
#endif

#if CPU_X86
kind_contains *blocked_choose_avx2(uint32_t k);
void blocked_contains_avx2(const void *image, const uint64_t *hashes, size_t n,
                           bool *present);
void blocked_add_avx2(void *image, const uint64_t *hashes, size_t n);
void blocked_each_avx2(void *image, const uint64_t *hashes, size_t n,
                       bool *seen);

bool blocked_one_avx512(const void *subject, uint64_t hash);
void blocked_contains_avx512(const void *image, const uint64_t *hashes,
                             size_t n, bool *present);
void blocked_add_avx512(void *image, const uint64_t *hashes, size_t n);
void blocked_each_avx512(void *image, const uint64_t *hashes, size_t n,
                         bool *seen);

/* Expands a loop for each k that the plan prefers down to a rate of 10^-4. With
 * a k known to the compiler, an add costs two thirds. */
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
#endif

#endif /* BLY_KINDS_SETS_BLOCKED_BLOCKED_H */
