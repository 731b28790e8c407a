/* laws.h - the kind under test, filters of it, and the groups of laws.
 *
 * Each file of this folder holds one group. laws.c, in the folder above, runs
 * all groups for each kind of the registry.
 */
#ifndef BLY_TESTS_LAWS_LAWS_H
#define BLY_TESTS_LAWS_LAWS_H

#include "test.h"

#include "verbs/handle.h"

/* ---- Groups ------------------------------------------------------------ */

typedef struct {
    const struct CMUnitTest *laws;
    size_t n;
} laws_group;

#define LAWS_GROUP(laws) { laws, sizeof laws / sizeof *laws }

extern const laws_group laws_rates, laws_plans, laws_batches, laws_missing,
                        laws_removal, laws_labels, laws_sizes, laws_sets,
                        laws_images;

/* ---- The kind under test ----------------------------------------------- */

extern const bly_kind *laws_kind;

/* Returns whether this kind must be built from all its keys. */
bool laws_frozen(void);

/* Returns whether it has no false positives, whatever rate is requested. */
bool laws_exact(void);

/* Return whether a filter of this kind, without options, counts or removes
 * keys. Kinds that count only with certain options remove only with them. */
bool laws_counts(void);
bool laws_removes(void);

/* Returns n keys, or half of them, a quarter and so on: as many as the kind can
 * plan for with at most 300 probes for each. */
uint64_t laws_room(uint64_t n);

/* Returns whether the kind needs no number of keys, because it grows. */
bool laws_unplanned(void);

/* Returns whether a filter planned for n keys surely finds the last n of
 * them. */
bool laws_remembers(uint64_t n);

#define LAWS_NEED_ADD()                                                        \
    do {                                                                       \
        if (laws_frozen())                                                     \
            skip();                                                            \
    } while (0)

#define LAWS_NEED_MEMORY()                                                     \
    do {                                                                       \
        if (!laws_remembers(1000))                                             \
            skip();                                                            \
    } while (0)

/* Returns whether the requested rate sizes a filter of the kind. A kind that
 * lists its keys is sized by how many it can list: its rate follows from that,
 * and only has to be the planned one. */
bool laws_sized_by_rate(void);

/* Returns the planned rate of a filter of n keys for which `asked` was
 * requested. */
double laws_rate(uint64_t n, double asked);

/* Returns whether a planned rate is the requested one, to the part in a million
 * that is allowed. */
bool laws_kept(double rate, double asked);

/* ---- Filters ----------------------------------------------------------- */

/* Return an empty filter. */
bly_filter *laws_make(const bly_spec *wanted);
bly_filter *laws_new(uint64_t capacity, double rate, uint64_t seed, int flags);

/* Copies a filter, which may be much faster than planning one. */
bly_filter *laws_copy(const bly_filter *filter);

/* Builds a filter of n keys of a stream. */
bly_filter *laws_build(double rate, uint64_t stream, uint64_t n);

/* Adds n keys of a stream to a copy of an empty filter. */
bly_filter *laws_fill(const bly_filter *empty, uint64_t stream, uint64_t n);

/* Returns a filter with n keys of a stream. */
bly_filter *laws_of(uint64_t capacity, double rate, uint64_t stream,
                    uint64_t n);

/* Returns how many of n keys of a stream are found. */
uint64_t laws_present(const bly_filter *filter, uint64_t stream, uint64_t n);

bool laws_same_bytes(const bly_filter *a, const bly_filter *b);

/* Returns the length of the batch after one of n: each length up to `each`, or
 * only those near multiples of 16, where vectors and blocks of keys end; then
 * `times` as many. */
size_t laws_next(size_t n, size_t each, size_t times);

#endif /* BLY_TESTS_LAWS_LAWS_H */
