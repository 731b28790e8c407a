/* bloomery/keyed.h - a keyed hash for tables in memory with untrusted keys.
 *
 * Strangers who can compute the hash of a table can send keys that all share a
 * slot. Each lookup then compares thousands of keys. This hash depends on
 * random numbers, which a program draws anew in each run and keeps secret:
 *
 *      bly_keyed by;
 *      if (bly_keyed_draw(&by) < 0) {
 *          fprintf(stderr, "%s\n", bly_why());
 *          return 1;
 *      }
 *      slot = bly_keyed_hash(&by, name, length) % slots;
 *
 * An attacker who knows the program but not the numbers cannot prepare keys
 * that collide: two keys that were chosen before share any b bits of their
 * hashes with probability 2^-b. For keys of more than 16 bytes, 2^-64 is added
 * to that; for more than 256, n / 2^67 for n bytes. src/verbs/keyed.c has the
 * proof.
 *
 * The hashes mean nothing in another run or on another machine: do not store
 * them. They protect a table, not a filter: a filter's hash function has a name
 * (bly_spec), and `siphash` is the one with a secret.
 */
#ifndef BLOOMERY_KEYED_H
#define BLOOMERY_KEYED_H

#include <bloomery.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The random numbers of a hash. Threads may share one. A copy gives the same
 * hashes. */
typedef struct {
    uint64_t inside[80];
} bly_keyed;

/* Fills memory with random bytes for secrets. The n bytes come from the
 * operating system and are good enough for the secret of bly_spec. BLY_EIO;
 * BLY_EUNSUPPORTED if the library was built without an operating system.
 * Thread-safe. */
BLY_API bly_status bly_draw(void *bytes, size_t n) BLY_MUST BLY_GIVEN(1);

/* Draws the random numbers of a keyed hash. Errors of bly_draw. */
BLY_API bly_status bly_keyed_draw(bly_keyed *keyed) BLY_MUST BLY_GIVEN(1);

/* Returns the keyed hash of a key. All 64 bits are equally good. A key of no
 * bytes may be NULL. Thread-safe. */
BLY_API uint64_t bly_keyed_hash(const bly_keyed *keyed, const void *key,
                                size_t length) BLY_GIVEN(1);

/* Returns the keyed hash of a number. It may be another hash, one that
 * strangers can compute. Thread-safe. */
BLY_API uint64_t bly_keyed_number(const bly_keyed *keyed, uint64_t number)
                                  BLY_GIVEN(1);

#ifdef __cplusplus
}
#endif
#endif /* BLOOMERY_KEYED_H */
