/* bloomery.h - approximate membership: one interface, every kind of filter.
 *
 * CONCEPTS
 *
 * A *filter* remembers a set of keys in a few bits each and answers "have I
 * seen this key?" with *certainly not* or *perhaps*. A key that was added is
 * always found (no false negatives); a key that was not is found by accident
 * with a small, known probability, the *false-positive rate*.
 *
 * A *kind* is a way to build one: "standard", "blocked", … The same verbs
 * serve them all; a verb that a kind cannot do is BLY_EUNSUPPORTED. A kind is
 * named by a string, with options: "standard", "standard:k=5,index=double".
 * bly_kinds() lists them with their options.
 *
 * An *image* is the filter itself: one run of bytes without pointers, the same
 * in memory, in a file and on the wire (docs/format.md). A *handle* (the type
 * bly_filter) is how a program holds an image.
 *
 * A *key* is any bytes. It is hashed once, at the door, to 64 bits with the
 * filter's own hash function and seed; every verb also has a form that takes
 * the 64-bit hash (…_hash) and forms for batches (…_many takes hashes, …_keys
 * takes keys). The batch is the fast path.
 *
 * A FIRST PROGRAM
 *
 *      bly_filter *f;
 *      bly_spec want = { .capacity = 1000000, .rate = 0.01 };
 *      if (bly_new(&f, "standard", &want) < 0)
 *          fprintf(stderr, "%s\n", bly_why());
 *      bly_add(f, "swordfish", 9);
 *      if (bly_contains(f, "swordfish", 9))    // true: no false negatives
 *          bly_save(f, "passwords.bly");
 *      bly_free(f);
 *
 * ERRORS
 *
 * A function that can fail returns a bly_status: negative is an error,
 * BLY_OK is 0, BLY_SEEN (1) is a success with news. bly_strerror() names the
 * status; bly_why() says, in one line, what was wrong this time and how to
 * mend it. On an error the out-parameters are untouched and the filter is as
 * it was.
 *
 * THREADS
 *
 * Different filters are independent. One filter may be *read* by any number
 * of threads at once (contains, stat, save, image of an unchanging filter).
 * Changing it needs exclusion, except in a filter made or opened with
 * BLY_SHARED: there bly_add in all its forms and bly_contains in all its forms
 * may run in all threads at once; the other verbs still need exclusion.
 */
#ifndef BLOOMERY_H
#define BLOOMERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLY_VERSION_MAJOR 0
#define BLY_VERSION_MINOR 1
#define BLY_VERSION_PATCH 0
#define BLY_VERSION "0.1.0"

#if defined(__GNUC__) && !defined(BLY_STATIC)
#define BLY_API __attribute__((visibility("default")))
#else
#define BLY_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Status ============================================================ */

/* One list: the enum, the names and the messages are all made from it. */
#define BLY_STATUS_MAP(X)                                                      \
    X(OK,            0, "success")                                             \
    X(SEEN,          1, "the key was perhaps there before")                    \
    X(ENOMEM,       -1, "out of memory")                                       \
    X(EPARAM,       -2, "a parameter is out of its range")                     \
    X(EKIND,        -3, "there is no such kind of filter")                     \
    X(EOPTION,      -4, "the kind has no such option, or not that value")      \
    X(EHASH,        -5, "there is no such hash function")                      \
    X(ETOOBIG,      -6, "the filter would be larger than can be addressed")    \
    X(EFORMAT,      -7, "the bytes are not a Bloomery filter")                 \
    X(EVERSION,     -8, "the filter was written by another version")           \
    X(ECORRUPT,     -9, "the filter's bytes are damaged or cut short")         \
    X(EUNSEALED,   -10, "the filter is being written, or its writer died")     \
    X(EIO,         -11, "the operating system refused to read or write")       \
    X(EMISMATCH,   -12, "the filters are not of one kind, plan, hash and seed")\
    X(EFULL,       -13, "the filter is full")                                  \
    X(EABSENT,     -14, "the key is not there; nothing was changed")           \
    X(EUNSUPPORTED,-15, "this kind of filter cannot do that")                  \
    X(EREADONLY,   -16, "the filter was opened or wrapped for reading only")   \
    X(EUNSAFE,     -17, "the key cannot be taken out without risk to others")  \
    X(EREMOVED,    -18, "the key was removed once and cannot come back")

typedef enum {
#define BLY_STATUS_ENUM(name, value, text) BLY_##name = value,
    BLY_STATUS_MAP(BLY_STATUS_ENUM)
#undef BLY_STATUS_ENUM
    BLY_STATUS_END = 2          /* one past the largest; not a status */
} bly_status;

/* What the status means, in general: a constant English sentence, for any
 * number (an unknown one too). Thread-safe. */
BLY_API const char *bly_strerror(bly_status status);

/* What was wrong in the last call that failed in this thread, and how to mend
 * it: one line without a newline, "" before the first failure. The text lives
 * until the next failure in the same thread. */
BLY_API const char *bly_why(void);

/* ==== Memory ============================================================ */

/* Where memory comes from. `allocate` returns `bytes` bytes aligned to
 * `alignment` (a power of two) or NULL; `release` gets back what `allocate`
 * gave, with the same `bytes`. Both get `context` as it stands here. */
typedef struct {
    void *(*allocate)(void *context, size_t alignment, size_t bytes);
    void  (*release) (void *context, void *memory, size_t bytes);
    void  *context;
} bly_allocator;

/* The allocator of every filter made from now on whose bly_spec names none,
 * of bly_open, bly_wrap and bly_copy; NULL brings back the built-in one (huge
 * pages for large images where the system has them). A filter keeps the
 * allocator it was made with. The struct is copied. Not thread-safe: call it
 * before other threads use the library. */
BLY_API void bly_set_allocator(const bly_allocator *allocator);

/* ==== What is wanted, what it costs ===================================== */

/* Flags of bly_spec and bly_open. */
enum {
    BLY_MAP    = 1, /* open: map the file instead of reading it into memory  */
    BLY_WRITE  = 2, /* open, with BLY_MAP or BLY_PAGED: changes go to the file*/
    BLY_SHARED = 4, /* many threads may add and ask at once                  */
    BLY_VERIFY = 8, /* open, with BLY_MAP: read it all to check its checksum */
    BLY_PAGED  = 16,/* open: work in the file, page by page; see below       */
    BLY_SPARSE = 32 /* new: memory is taken only as the filter is written, and
                       never from the allocator; see "In parts"              */
};

/* What the caller wants. A zero field means "choose for me". */
typedef struct {
    uint64_t    capacity;       /* keys it should hold; must be given, except
                                   to bly_build (the number of its keys) and
                                   with an option that fixes the size (m=)   */
    double      rate;           /* false-positive rate at that many keys,
                                   0 < rate < 1; 0: 0.01                     */
    uint64_t    seed;           /* of the hash function                      */
    const char *hash;           /* "xxh3" (the default), "xxh64", "murmur2",
                                   "murmur3", "fnv1a", "identity", "decimal";
                                   of a kind of integers with a universe=
                                   "decimal" is the default                  */
    int         flags;          /* BLY_SHARED, BLY_SPARSE, both or 0         */
    const bly_allocator *allocator;     /* NULL: see bly_set_allocator       */
} bly_spec;

/* What it would be and cost, known before it is built. */
typedef struct {
    char     kind[17];          /* its name, without options                 */
    uint64_t capacity;          /* keys                                      */
    uint64_t bytes;             /* of the whole image; of a kind that packs
                                   its keys (gcs), or their errors (cascade),
                                   at most                                   */
    uint64_t packed;            /* bytes once saved or sent, expected, of a
                                   kind with the ability "pack"; 0: `bytes`  */
    uint64_t scratch;           /* bytes that bly_build takes and gives back,
                                   beside the image and the hashes           */
    double   bits_per_key;      /* 8 * bytes / capacity                      */
    double   rate;              /* predicted rate at capacity: at most what
                                   was asked (but for one part in a million),
                                   unless options fix the size; of a kind
                                   that grows or forgets, at any number of
                                   keys at most                              */
    double   rate_sd;           /* how much one such filter's own rate
                                   differs from another's: one standard
                                   deviation, over seeds or key sets         */
    double   fill;              /* share of bits, cells or slots in use then */
    double   lost;              /* chance that a key which is there is not
                                   found, once as much is removed as planned;
                                   for a kind that forgets, that one added
                                   `capacity` different keys ago is not: 0 for
                                   every kind that promises to find all      */
    uint64_t window;            /* so many of the last different keys added
                                   are surely found: UINT64_MAX (all of them)
                                   but for kinds that forget                 */
    uint32_t probes;            /* bits, cells or places of a key (k)        */
    double   lines_present;     /* cache lines touched by a lookup, at most, */
    double   lines_absent;      /* of a key that is there, and of one not    */
    uint32_t label_bits;        /* bits of the largest label; 0: the kind
                                   carries no labels                         */
    uint64_t label_least;       /* labels are these and what is between them */
    uint64_t label_most;
    uint64_t geometry[4];       /* the kind's own numbers, see docs/format.md*/
} bly_plan_t;

/* Compute what bly_new or bly_build would make of kind and spec; allocates
 * nothing. BLY_EKIND, BLY_EOPTION, BLY_EHASH, BLY_EPARAM (a rate outside
 * (0, 1), or below what 64-bit hashes can hold at that capacity; no
 * capacity), BLY_ETOOBIG. (BLY_EHASH is also said of a hash function that will
 * not do for the kind.) Thread-safe. */
BLY_API bly_status bly_plan(bly_plan_t *out, const char *kind,
                            const bly_spec *spec);

/* ==== Make and free ===================================================== */

typedef struct bly_filter bly_filter;

/* A new empty filter. Errors of bly_plan; BLY_ENOMEM; BLY_EUNSUPPORTED for a
 * kind that can only be built from all its keys at once, and for BLY_SHARED
 * with a kind that cannot share. Free it with bly_free. */
BLY_API bly_status bly_new(bly_filter **out, const char *kind,
                           const bly_spec *spec);

/* A filter of the n keys with these hashes; every kind can do this. The array
 * may hold duplicates in any order and is not changed. n may be 0 if
 * spec->capacity is not. `spec` may be NULL. A kind that can only be built is
 * planned for n keys, whatever the capacity. It works with all processors
 * where that is quicker. Errors of bly_new; BLY_EFULL. */
BLY_API bly_status bly_build(bly_filter **out, const char *kind,
                             const bly_spec *spec,
                             const uint64_t *hashes, size_t n);

/* The same with a label for each key, for kinds that carry them: BLY_EPARAM
 * if one key comes with two labels or a label does not fit; BLY_EUNSUPPORTED
 * for other kinds.
 *
 * A kind with the ability "separate" (cascade) carries none: it is built of all
 * keys it will be asked for, the members with label 1 and all others with label
 * 0, and bly_contains is then true for the members and false for the others,
 * without error; for any other key it means nothing. It is planned for these
 * numbers of keys, whatever capacity and rate are, and has as many items as
 * there are members. BLY_EPARAM also if two keys with different labels share
 * their hash: another seed helps, where it is not the same key. */
BLY_API bly_status bly_build_labels(bly_filter **out, const char *kind,
                                    const bly_spec *spec,
                                    const uint64_t *hashes,
                                    const uint64_t *labels, size_t n);

/* A new empty filter of the very plan of another, with its hash function and
 * seed: the two can be united, compared, subtracted. BLY_ENOMEM;
 * BLY_EUNSUPPORTED for kinds that are built from all keys at once, that grow,
 * or that are made of other filters and have not the ability "overlap". */
BLY_API bly_status bly_like(bly_filter **out, const bly_filter *filter);

/* A copy in memory of its own, which may be changed whatever `filter` may.
 * BLY_ENOMEM. */
BLY_API bly_status bly_copy(bly_filter **out, const bly_filter *filter);

/* Give everything back; NULL is fine. A filter mapped for writing is brought
 * up to date on disk first, as by bly_sync (call that yourself to see its
 * errors). */
BLY_API void bly_free(bly_filter *filter);

/* ==== Use =============================================================== */

typedef struct {
    const void *data;           /* may be NULL where length is 0 */
    size_t      length;         /* bytes */
} bly_key;

/* The 64-bit hash by which this filter knows the key. */
BLY_API uint64_t bly_hash(const bly_filter *filter, const void *key,
                          size_t length);

/* Add a key. BLY_OK: it was not there; BLY_SEEN: it was perhaps there before
 * (for kinds that count it is counted once more). Errors: BLY_EFULL (the
 * filter is as it was: bly_resize may help), BLY_EREMOVED (kind twin),
 * BLY_EPARAM (kind egh: the key is not an integer of its universe),
 * BLY_ENOMEM and BLY_ETOOBIG (a kind that grows), BLY_EREADONLY,
 * BLY_EUNSUPPORTED (a frozen kind; and a hash alone, of a filter of a kind with
 * the ability "whole keys" that keeps them, as invertible:key=9 does).
 * The batch forms return BLY_OK, or the first error; the keys before the one
 * that failed are in. */
BLY_API bly_status bly_add     (bly_filter *filter, const void *key,
                                size_t length);
BLY_API bly_status bly_add_hash(bly_filter *filter, uint64_t hash);
BLY_API bly_status bly_add_many(bly_filter *filter, const uint64_t *hashes,
                                size_t n);
BLY_API bly_status bly_add_keys(bly_filter *filter, const bly_key *keys,
                                size_t n);

/* Add keys one after another and tell of each whether it was perhaps there
 * before: seen[i] is true where bly_add would have said BLY_SEEN, also of a key
 * that comes twice in the batch. On an error seen[] tells of the keys before
 * the one that failed. Errors of bly_add. */
BLY_API bly_status bly_add_each     (bly_filter *filter, const uint64_t *hashes,
                                     size_t n, bool *seen);
BLY_API bly_status bly_add_each_keys(bly_filter *filter, const bly_key *keys,
                                     size_t n, bool *seen);

/* False: the key was certainly not added. True: perhaps it was. Cannot fail.
 * The batch forms write present[0 .. n-1]. */
BLY_API bool bly_contains     (const bly_filter *filter, const void *key,
                               size_t length);
BLY_API bool bly_contains_hash(const bly_filter *filter, uint64_t hash);
BLY_API void bly_contains_many(const bly_filter *filter,
                               const uint64_t *hashes, size_t n,
                               bool *present);
BLY_API void bly_contains_keys(const bly_filter *filter, const bly_key *keys,
                               size_t n, bool *present);

/* Take a key out that was added, once. BLY_EABSENT: it is not there;
 * BLY_EUNSAFE: it cannot be taken out without risk to other keys (nothing was
 * changed in both); BLY_EUNSUPPORTED; BLY_EREADONLY.
 *
 * Remove only what was added: a key that was not, but is perhaps there by
 * accident, may take another key's traces with it, which is then lost. No
 * filter can tell the two apart.
 *
 * The batch forms go on after a key that could not be removed: each[i], where
 * `each` is not NULL, tells what became of key i; they return BLY_OK if all
 * were removed, else the first status that is not BLY_OK. */
BLY_API bly_status bly_remove     (bly_filter *filter, const void *key,
                                   size_t length);
BLY_API bly_status bly_remove_hash(bly_filter *filter, uint64_t hash);
BLY_API bly_status bly_remove_many(bly_filter *filter, const uint64_t *hashes,
                                   size_t n, bly_status *each);
BLY_API bly_status bly_remove_keys(bly_filter *filter, const bly_key *keys,
                                   size_t n, bly_status *each);

/* How often the key was added, at most: 0 is certain, a larger number is an
 * upper bound. A kind that does not count says UINT64_MAX ("I cannot bound
 * it") for a key that is perhaps there. */
BLY_API uint64_t bly_count     (const bly_filter *filter, const void *key,
                                size_t length);
BLY_API uint64_t bly_count_hash(const bly_filter *filter, uint64_t hash);
BLY_API void     bly_count_many(const bly_filter *filter,
                                const uint64_t *hashes, size_t n,
                                uint64_t *counts);
BLY_API void     bly_count_keys(const bly_filter *filter, const bly_key *keys,
                                size_t n, uint64_t *counts);

/* Labels, for kinds that carry them: put stores a label with a key, get finds
 * it (false: certainly not there, or the kind has no labels; *label is then
 * untouched).
 *
 * A kind that is built from all its keys (bly_build_labels) changes the label
 * of a key that is there: BLY_EABSENT for another. A kind with the abilities
 * "add" and "label" takes any key: of all labels that were put with a key, get
 * gives the best one, or one that is better still (its page says which are
 * better: larger ones, or smaller), never a worse one; put says BLY_SEEN where
 * it changed nothing; and bly_add puts the worst label there is. bly_plan and
 * bly_stat tell what labels there may be.
 *
 * BLY_EPARAM (a label that there may not be), BLY_EUNSUPPORTED, BLY_EREADONLY.
 * The batch forms of put return BLY_OK, or the first error; the labels before
 * that one are in.
 *
 * The batch forms of get are get of each key in turn: found[i] is what it says,
 * and labels[i] is untouched where that is false. Like all that only reads they
 * may run in many threads at once. */
BLY_API bly_status bly_put     (bly_filter *filter, const void *key,
                                size_t length, uint64_t label);
BLY_API bly_status bly_put_hash(bly_filter *filter, uint64_t hash,
                                uint64_t label);
BLY_API bly_status bly_put_many(bly_filter *filter, const uint64_t *hashes,
                                const uint64_t *labels, size_t n);
BLY_API bly_status bly_put_keys(bly_filter *filter, const bly_key *keys,
                                const uint64_t *labels, size_t n);
BLY_API bool       bly_get     (const bly_filter *filter, const void *key,
                                size_t length, uint64_t *label);
BLY_API bool       bly_get_hash(const bly_filter *filter, uint64_t hash,
                                uint64_t *label);
BLY_API void       bly_get_many(const bly_filter *filter,
                                const uint64_t *hashes, size_t n, bool *found,
                                uint64_t *labels);
BLY_API void       bly_get_keys(const bly_filter *filter, const bly_key *keys,
                                size_t n, bool *found, uint64_t *labels);

/* ==== Another size ====================================================== */

/* Make room for `capacity` keys, or less room, without the keys: everything
 * the filter holds goes over into a new image (of its allocator), which takes
 * the old one's place. What that costs differs: see the kind's page; bly_stat
 * tells the rate planned for the new capacity. BLY_EUNSUPPORTED (kinds that
 * cannot), BLY_EPARAM (a capacity that the kind cannot go to from here; a
 * filter that is mapped from a file), BLY_EFULL (it holds more than would
 * fit), BLY_ETOOBIG, BLY_ENOMEM, BLY_EREADONLY. */
BLY_API bly_status bly_resize(bly_filter *filter, uint64_t capacity);

/* Called with each fingerprint that a filter holds: the least hash that has it,
 * and how often it was added. The hashes that share a fingerprint are those
 * from its least one up to the next one's; there are at most 2^bits
 * fingerprints, and more than half as many. (Where they are just the high
 * `bits` bits of a hash, the lower ones are 0 here.) Return false to stop. */
typedef bool bly_visit(void *context, uint64_t hash, unsigned bits,
                       uint64_t count);

/* Visit all fingerprints in rising order. BLY_EUNSUPPORTED (kinds that do not
 * keep whole fingerprints); else BLY_OK, also when `visit` stops it. */
BLY_API bly_status bly_each(const bly_filter *filter, bly_visit *visit,
                            void *context);

/* ==== Look inside ======================================================= */

typedef struct {
    char     kind[17], hash[9];
    uint64_t seed;
    uint64_t capacity;          /* keys it was planned for, or has grown to  */
    uint64_t bytes;             /* of the whole image                        */
    uint64_t packed;            /* bytes once saved or sent, about, of a kind
                                   with the ability "pack"; 0: `bytes`       */
    double   bits_per_key;      /* 8 * bytes / capacity                      */
    uint64_t items;             /* adds that succeeded, repeats counted too;
                                   where items_exact is false (after unite or
                                   intersect), the estimate `distinct`       */
    bool     items_exact;
    double   distinct;          /* different keys, estimated from the bits;
                                   infinity when every bit is set            */
    double   distinct_sd;       /* its standard deviation                    */
    double   fill;              /* share of bits, cells or slots in use      */
    double   rate;              /* false-positive rate as it stands now, from
                                   the bits themselves                       */
    double   planned_rate;      /* predicted for `capacity` keys             */
    uint32_t probes;            /* bits, cells or places of a key            */
    double   lost;              /* chance that a key which is there is not
                                   found, or for a kind that forgets, one
                                   added `capacity` different keys ago: 0 for
                                   every kind that promises to find all      */
    uint64_t window;            /* as in bly_plan_t                          */
    uint64_t stuck;             /* counters at their largest value: what they
                                   count is no longer known, so no remove
                                   lowers them                               */
    uint32_t label_bits;        /* as in bly_plan_t                          */
    uint64_t label_least, label_most;
    uint64_t geometry[4];
} bly_stat_t;

/* Reads the whole image. BLY_OK; only of a filter that is open page by page
 * (BLY_PAGED) also BLY_EIO and BLY_ENOMEM. */
BLY_API bly_status bly_stat(bly_stat_t *out, const bly_filter *filter);

/* How things stand with one label of a kind whose labels are ordered. */
typedef struct {
    uint64_t label;
    double   fill;              /* share of the cells or bits that show it   */
    double   rate;              /* chance that a key which was never put is
                                   said to have it                           */
    double   mistaken;          /* chance that a key which has it is said to
                                   have another                              */
} bly_label_t;

typedef bool bly_visit_label(void *context, const bly_label_t *label);

/* Visit the labels in rising order, from the bits as they are now, until
 * `visit` returns false. Reads the whole image. BLY_OK; BLY_EUNSUPPORTED (kinds
 * without a bounded number of ordered labels). */
BLY_API bly_status bly_each_label(const bly_filter *filter,
                                  bly_visit_label *visit, void *context);

/* ==== Sets of keys ====================================================== */

/* into := into OR other: just as if other's keys had been added to it (a kind
 * that counts adds the counts up). BLY_EMISMATCH (kind, geometry, hash and
 * seed must agree), BLY_EFULL (`into` is as it was), BLY_EUNSUPPORTED,
 * BLY_EREADONLY. */
BLY_API bly_status bly_unite(bly_filter *into, const bly_filter *other);

/* Unite at a distance, for kinds with the ability "unite at" ("attenuated").
 * `other` may be a filter of the kind and plan of one of the levels of `into`,
 * as bly_new makes one for the same capacity, rate and options: just as if each
 * of its keys had been put with this label. Or it is a filter that bly_unite
 * would take, `into` itself too: each of its labels l goes to l + label, and
 * what would go beyond the largest label is left out.
 * BLY_EPARAM (a label that there may not be), BLY_EMISMATCH (hash and seed must
 * agree, too), BLY_EUNSUPPORTED, BLY_EREADONLY; `into` is then as it was.
 * Changing `into` needs exclusion; `other` is only read. */
BLY_API bly_status bly_unite_at(bly_filter *into, const bly_filter *other,
                                uint64_t label);

/* into := into AND other: finds every key that is in both; its rate is at
 * most the smaller one of the two, but higher than that of a filter built
 * from the common keys alone. Errors of bly_unite. */
BLY_API bly_status bly_intersect(bly_filter *into, const bly_filter *other);

/* into := into - other, for kinds that can list their keys: what is in both
 * goes, and what is left is the difference, keys that are only in `into` and
 * keys that are only in `other`. Each key must have been added at most once to
 * each: what was added twice to both may hide another. bly_list tells the
 * difference, and bly_stat its size (`distinct`); to ask for a key that is in
 * it says "perhaps" whichever side it is from. Errors of bly_unite. */
BLY_API bly_status bly_subtract(bly_filter *into, const bly_filter *other);

/* A key that a filter holds: its hash; the key itself where the filter keeps
 * it, or else NULL and 0; and whether it is there (+1) or only in what was
 * subtracted (-1). */
typedef struct {
    uint64_t    hash;
    const void *key;            /* until the visit returns */
    size_t      length;
    int         side;
} bly_listed;

/* Return false to stop. */
typedef bool bly_visit_listed(void *context, const bly_listed *listed);

/* Visit every key that the filter holds, each once, in no order that means
 * anything; if all can be told apart. BLY_EFULL: they cannot, because there
 * are more than about `capacity` or, rarely, by bad luck; bly_why() then says
 * how many there are and what to plan for, and none is visited. Takes memory
 * of the filter's allocator, about twice its size, while it works.
 * BLY_ENOMEM; BLY_EUNSUPPORTED (kinds without the ability "list keys"). May
 * run in many threads at once. */
BLY_API bly_status bly_list(const bly_filter *filter, bly_visit_listed *visit,
                            void *context);

/* A number and its standard deviation. */
typedef struct { double value, sd; } bly_estimate;

/* How many different keys are in a, in b, in either, in both, in just one of
 * them, and the Jaccard index |both| / |either|: estimated from the bits
 * [Swamidass & Baldi 2007]. The filters' common bits err alike in all of them,
 * so that `differ` is surer than its parts: of nearly equal filters by far.
 * Few common keys may be estimated at less than 0, and the index too: so their
 * mean is right; show 0. Where a filter is saturated (every bit set) a value
 * is infinite. */
typedef struct {
    bly_estimate a, b, either, both, differ, jaccard;
} bly_overlap_t;

/* Of kinds that set bits or counters, layered (by its first layer) and
 * quotient (by its fingerprints, all but exactly). What was removed is not
 * counted, but where its bits stayed behind. Errors of bly_unite but
 * BLY_EREADONLY and BLY_EFULL; neither filter is changed. Reads both images.
 * Thread-safe while neither filter is changed. */
BLY_API bly_status bly_overlap(bly_overlap_t *out, const bly_filter *a,
                               const bly_filter *b);

/* ==== Files and images ================================================== */

/* Write the image to a file: all of it, or the old file stays as it was
 * (temporary file in the same folder, fsync, rename, fsync of the folder). An
 * existing file's permissions are kept and a symbolic link is followed; a
 * device or a pipe is written straight. Kinds with the ability "pack" are
 * packed on the way, in memory of the filter's allocator, as large as the
 * image but used only as far as the packed form goes. BLY_EIO; BLY_ENOMEM (of
 * those kinds). */
BLY_API bly_status bly_save(const bly_filter *filter, const char *path);

/* Open a file that bly_save wrote. Flags 0: read it into memory, check all of
 * it; the copy may be changed, the file is not. BLY_MAP: map it; only the
 * header is read and checked, unless BLY_VERIFY is given too. BLY_MAP |
 * BLY_WRITE: changes go to the file; it says "being written" until bly_sync
 * or bly_free. BLY_PAGED: see "Bigger than memory". BLY_SHARED as in bly_spec.
 * A packed file cannot be mapped: with BLY_MAP it is read, checked and unpacked
 * into memory, for reading only; with BLY_WRITE it is refused.
 * BLY_EIO, BLY_EFORMAT, BLY_EVERSION, BLY_ECORRUPT, BLY_EUNSEALED, BLY_EHASH,
 * BLY_EKIND, BLY_ENOMEM, BLY_EPARAM (flags), BLY_EUNSUPPORTED (BLY_SHARED;
 * BLY_PAGED; a packed file with BLY_WRITE). A mapped file must not be cut short
 * by others while it is open. */
BLY_API bly_status bly_open(bly_filter **out, const char *path, int flags);

/* Bring a filter mapped or paged for writing up to date on disk; nothing to do
 * for any other. Reads the whole file, to make its checksum. BLY_EIO; for a
 * paged one BLY_ECORRUPT (a page is damaged), BLY_ENOMEM. */
BLY_API bly_status bly_sync(bly_filter *filter);

/* ---- Bigger than memory ------------------------------------------------
 *
 * A filter of a kind that consists of pages ("page" among its abilities:
 * "buffered") can be used in its file, which is neither read nor mapped:
 * bly_open with BLY_PAGED, and BLY_WRITE to add, or bly_create. Adds are
 * collected in memory (bly_buffer) and applied page by page; a lookup reads
 * one page, a batch of lookups reads each of its pages once, many at a time.
 * So ask and add in large batches: those are sorted by page.
 *
 * What is different from other filters: an add says BLY_OK, never BLY_SEEN,
 * for it does not look (bly_add_each does); it may fail with BLY_EIO, and
 * BLY_ECORRUPT (a page is damaged), having lost nothing. A lookup that cannot
 * read its page says "perhaps", and the next bly_flush or bly_sync tells of it.
 * bly_stat reads the file: BLY_EIO, BLY_ENOMEM. bly_copy, bly_save and the
 * verbs for sets are BLY_EUNSUPPORTED, and bly_image is NULL: the file is the
 * image.
 *
 * There is one writer at a time: the file is locked, and opening it for
 * writing a second time is BLY_EIO. While it is open for writing its header
 * says so, and others get BLY_EUNSEALED. If the writer dies, everything is
 * there that it had flushed, and BLY_PAGED | BLY_WRITE opens the file and
 * mends it (it reads all pages once; how many adds were successful is then no
 * longer known exactly). bly_free closes the file in good order, as bly_sync
 * does. */

/* A new empty filter in a new file, which bly_open(…, BLY_PAGED | BLY_WRITE)
 * would open. Pages that no key is in take no room on the disk. Errors of
 * bly_new; BLY_EIO (also where there is such a file already);
 * BLY_EUNSUPPORTED for a kind without pages. */
BLY_API bly_status bly_create(bly_filter **out, const char *path,
                              const char *kind, const bly_spec *spec);

/* Collect adds in so many bytes of memory from now on, 24 bytes for each; at
 * first 64 MiB. The more there are for each page of the file, the fewer writes
 * it takes. What is collected already is applied first: errors of bly_sync.
 * BLY_EPARAM (below 4096), BLY_ENOMEM, BLY_EREADONLY, BLY_EUNSUPPORTED (not
 * open with BLY_PAGED). */
BLY_API bly_status bly_buffer(bly_filter *filter, size_t bytes);

/* Bring what was added to the disk, without closing the file in good order as
 * bly_sync does: after BLY_OK all of it outlives whatever happens to the
 * process and the machine, and BLY_PAGED | BLY_WRITE brings it back. For a
 * filter that is not paged the same as bly_sync. Errors of bly_sync. */
BLY_API bly_status bly_flush(bly_filter *filter);

/* Borrow an image, for reading, wherever it is; it must stay and not change
 * until bly_free. The header is checked, the payload's checksum is not: call
 * bly_check for that. Fastest when the image begins on a multiple of 64.
 * Errors of bly_open but BLY_EIO; BLY_EUNSUPPORTED for a packed one, which
 * bly_unpack takes. */
BLY_API bly_status bly_wrap(bly_filter **out, const void *image,
                            size_t bytes);

/* Is this an image, packed or not, whole and undamaged? Reads all of it and
 * trusts nothing.
 * BLY_EFORMAT, BLY_EVERSION, BLY_ECORRUPT, BLY_EUNSEALED, BLY_EHASH,
 * BLY_EKIND. Thread-safe. */
BLY_API bly_status bly_check(const void *image, size_t bytes);

/* The name of the filter's kind. Constant; thread-safe. */
BLY_API const char *bly_kind_of(const bly_filter *filter);

/* The image, with counts and checksums up to date: write it, send it. Valid
 * until the filter changes or is freed. The first call after a change
 * reads the whole image and writes to its header and other checksums. NULL for
 * a filter that is open page by page. */
BLY_API const void *bly_image(const bly_filter *filter, size_t *bytes);

/* The filter as bly_save writes it, but to memory, for sending: packed if its
 * kind can do that, else its image. `room` must be at least the bytes of
 * bly_image, of which a packed filter leaves most untouched; *bytes is how
 * many it took. BLY_EPARAM (room). Reads the filter as bly_image does. */
BLY_API bly_status bly_pack(const bly_filter *filter, void *into, size_t room,
                            size_t *bytes);

/* A filter in memory of its own from what bly_pack or bly_save wrote, or from
 * an image: all of it is checked, nothing is trusted, and it may be changed.
 * A packed image can come out at 8192 times its size, at most. Errors of
 * bly_check; BLY_ENOMEM. Thread-safe. */
BLY_API bly_status bly_unpack(bly_filter **out, const void *packed,
                              size_t bytes);

/* ---- In parts ----------------------------------------------------------
 *
 * For programs that divide one filter among many processes, each of which has
 * some part of its image. It makes the whole filter with BLY_SPARSE, and what
 * it never adds to takes no memory. */

/* Where a key is, in a filter of a kind with the ability "local": all that is
 * read for the key and changed by it lies in the *bytes bytes of the image
 * that begin with byte places[i]; they are the same *bytes for all keys, and
 * places differ by multiples of it. Reads the header only. BLY_EUNSUPPORTED
 * (other kinds). Thread-safe, as all that only reads is. */
BLY_API bly_status bly_places(const bly_filter *filter, const uint64_t *hashes,
                              size_t n, uint64_t *places, size_t *bytes);

/* The image as it stands, while counts and checksums in it may be out of date;
 * nothing of it is read. Valid until the filter is changed by growing or
 * resizing, or freed. NULL for a filter that is open page by page. */
BLY_API const void *bly_raw(const bly_filter *filter, size_t *bytes);

/* How many adds the filter stands for (bly_stat tells it as `items`), where its
 * maker knows better than bly_unite, which forgets it; UINT64_MAX: not known.
 * BLY_EREADONLY; BLY_EUNSUPPORTED for a filter that is open page by page. */
BLY_API bly_status bly_set_items(bly_filter *filter, uint64_t items);

/* Write bytes [from, from + n) of the image to `into`; false: they cannot be
 * had. */
typedef bool bly_part(void *context, uint64_t from, void *into, size_t n);

/* Save a filter whose image is elsewhere: one like `like` (of its kind, plan,
 * hash and seed), that stands for `items` adds. Of `like` only the header is
 * read; `part` is asked for the rest, piece after piece in order, of at most
 * 4 MiB each. The file is what bly_save would have written. BLY_EIO, also where
 * `part` returns false, and where `path` is no ordinary file; BLY_ENOMEM;
 * BLY_EUNSUPPORTED (kinds that are packed when they are saved, or have
 * checksums of their own). All of it is saved, or the old file stays as it
 * was. */
BLY_API bly_status bly_save_parts(const bly_filter *like, const char *path,
                                  uint64_t items, bly_part *part,
                                  void *context);

/* ==== Lists of numbers, for sending ===================================== */

/* Different numbers in rising order, all below a range, in about
 * log2(range / n) + 1.47 bits each if they are random: their gaps, coded (see
 * docs/format.md). What programs tell each other of sets of hashes. */

/* The divisor with which the code is shortest for n random numbers; one that
 * is a power of two is quicker to read and takes up to 0.07 bits more.
 * Thread-safe, as all of these. */
BLY_API uint64_t bly_gaps_divisor(uint64_t n, uint64_t range);

/* How many bytes a list of n numbers can take at most; SIZE_MAX: more than can
 * be. divisor 0: that of bly_gaps_divisor. */
BLY_API size_t bly_gaps_room(uint64_t n, uint64_t range, uint64_t divisor);

/* The list as bytes; *bytes is how many. range and divisor at most 2^63;
 * divisor 0 as above. BLY_EPARAM: numbers that do not rise or are not below
 * the range; a range of 0; a divisor above the range; too little room. */
BLY_API bly_status bly_gaps_pack(void *into, size_t room, size_t *bytes,
                                 const uint64_t *numbers, size_t n,
                                 uint64_t range, uint64_t divisor);

/* A list that is being read. `left` says how many numbers are still to come,
 * which is at most eight for each byte; the rest is not for the caller. Needs
 * no closing, and a copy of it goes on from the same place. */
typedef struct {
    uint64_t left;
    const unsigned char *code;
    uint64_t at, bits, next, range, divisor;
    unsigned width;
    bool     damaged;
} bly_gaps;

/* Read what bly_gaps_pack wrote, with the same range. The bytes must stay
 * until the end. BLY_EPARAM (range), BLY_ECORRUPT. */
BLY_API bly_status bly_gaps_open(bly_gaps *list, const void *packed,
                                 size_t bytes, uint64_t range);

/* The next number; false: there are no more, or the list is damaged. Whatever
 * the bytes hold, numbers rise and are below the range. */
BLY_API bool bly_gaps_next(bly_gaps *list, uint64_t *number);

/* After the last number: was the list whole? BLY_ECORRUPT. */
BLY_API bly_status bly_gaps_end(const bly_gaps *list);

/* ==== What there is ===================================================== */

typedef struct {
    const char *name;           /* "k"                                       */
    const char *range;          /* "1 .. 64", "double | triple"              */
    const char *standard;       /* what it is when not given                 */
    const char *help;           /* one line                                  */
} bly_option_info;

typedef struct {
    const char *name;           /* "standard"                                */
    const char *family;         /* "sets"                                    */
    const char *summary;        /* one line                                  */
    const char *const     *abilities;   /* "add", "share", …; NULL ends it   */
    const bly_option_info *options;     /* a NULL name ends it               */
} bly_kind_info;

/* All kinds; returns how many. Constant for the life of the program. */
BLY_API size_t bly_kinds(const bly_kind_info **out);

/* ==== Advice: which kind for which need ================================== */

/* What a filter must be able to do: bly_need.needs. */
enum {
    BLY_NEED_REMOVE     = 1,    /* any key goes out again, and may come back */
    BLY_NEED_COUNT      = 2,    /* tell how often a key came, to a dozen and
                                   more                                      */
    BLY_NEED_GROW       = 4,    /* go on past its capacity, rate and all     */
    BLY_NEED_MERGE      = 8,    /* bly_unite                                 */
    BLY_NEED_STATIC     = 16,   /* all keys are known before it is built, and
                                   none comes later: opens more kinds        */
    BLY_NEED_STREAM     = 32,   /* keys without end, old ones may be forgotten*/
    BLY_NEED_LABELS     = 64,   /* tell a number for a key                   */
    BLY_NEED_EXACT      = 128,  /* no false positive at all                  */
    BLY_NEED_DISK       = 256,  /* work in a file bigger than memory         */
    BLY_NEED_CONCURRENT = 512   /* many threads add at once: BLY_SHARED      */
};

/* What is to be least. Time is that of a lookup, by the share of present keys
 * that the need tells. */
typedef enum {
    BLY_AIM_BALANCE,            /* time x size^(1/3): to be preferred, what is
                                   eight times as large must be twice as quick*/
    BLY_AIM_FAST,               /* time; size only where times are as good as
                                   equal: time x size^(1/8), so that twice the
                                   size must be a tenth quicker              */
    BLY_AIM_SMALL               /* size, likewise: size x time^(1/16)        */
} bly_aim;

/* What things cost on a machine, in nanoseconds, as measured by
 * `bloomery advise --measure`. */

/* A random line of a filter of so many bytes, in a batch. */
typedef struct {
    uint64_t bytes;
    double   ns;
} bly_line_cost;

/* The filters that are measured of each kind, X(keys, rate): small ones at five
 * rates, then two larger ones at the first of them. */
#define BLY_COST_POINTS(X)                                                     \
    X(100000, 1e-2) X(100000, 1e-3) X(100000, 1e-4) X(100000, 1e-5)            \
    X(100000, 1e-6) X(1000000, 1e-2) X(10000000, 1e-2)

/* One of them: a batched lookup of a key that is there, of one that is not,
 * and of both in equal shares and random order; and adding a key, or a key's
 * part of the build of a kind that is built at once, all threads together. */
typedef struct {
    double present, absent, mixed, add;
} bly_cost_point;

typedef struct {
    char kind[48];              /* with options: as in bly_advice            */
    bly_cost_point at[7];       /* in the order of BLY_COST_POINTS           */
} bly_cost;

typedef struct {
    const bly_line_cost *line;  /* at least two, `bytes` rising              */
    size_t               lines;
    const bly_cost      *kind;  /* a kind that is missing is reckoned by the
                                   cache lines of its plan                   */
    size_t               kinds;
} bly_costs;

/* What is needed. */
typedef struct {
    uint64_t capacity;          /* keys; must be given                       */
    double   rate;              /* 0 < rate < 1; 0: 0.01                     */
    unsigned needs;             /* BLY_NEED_…, any number of them            */
    double   present;           /* share of the lookups that are of keys which
                                   are there, 0 .. 1                         */
    uint64_t memory;            /* bytes that the image may have; 0: any. Not
                                   for BLY_NEED_DISK                         */
    bly_aim  aim;
    uint64_t others;            /* with BLY_NEED_EXACT: keys that are asked for
                                   and are no members; 0: as many as members */
    uint64_t label_most;        /* with BLY_NEED_LABELS: the largest label
                                   there will be; 0: 255                     */
    const bly_costs *costs;     /* NULL: the library's own, of one machine   */
} bly_need;

/* One kind, held against the need. */
typedef struct {
    char   kind[48];            /* with options, for bly_new and bly_build   */
    bool   fits;                /* false: it cannot; `why` says what, and only
                                   `kind` and `lacks` mean something else    */
    bly_plan_t plan;
    double ns_present, ns_absent;       /* expected, a lookup of a batch     */
    double ns_lookup;           /* by the need's share of present keys       */
    double ns_add;              /* expected, an add, or the build by key     */
    double score;               /* what the aim makes least, of times in steps
                                   of 2 %; of equals the smaller is first    */
    bool   beaten;              /* one before it is as quick to ask and to
                                   fill, within a fifth, and as small, within a
                                   hundredth, or better: `why` names that one*/
    char   why[160];            /* its place, or what excludes it: one line  */
    char   limit[96];           /* how far it goes in what is needed, where
                                   that has an end: "counts to 14"; or empty */
    char   lacks[96];           /* of the abilities above, those that it has
                                   not, or not in full: "remove, full count" */
} bly_advice;

/* As many entries as bly_advise ever fills. */
#define BLY_ADVICE_MOST 64

/* Rank the kinds for a need, some with options: out[0] is the advice, then
 * follow the others that fit, the best first, then those that do not. Of n
 * entries those left over have an empty `kind`. Computed from plans and costs:
 * nothing is built or measured. That no kind fits is no error: out[0].fits is
 * then false. On disk each lookup reads one page whatever the kind, so there
 * the aim is always BLY_AIM_SMALL. It takes some milliseconds, and 40 KB of the
 * stack.
 *
 * BLY_EPARAM (no capacity, a rate or share outside its range, an unknown need
 * or aim, costs with less than two sizes of lines). Thread-safe. */
BLY_API bly_status bly_advise(bly_advice *out, size_t n, const bly_need *need);

/* BLY_VERSION of the library that is linked (the header may be another). */
BLY_API const char *bly_version(void);

#ifdef __cplusplus
}
#endif
#endif /* BLOOMERY_H */
