/* kind.h - the contract of a kind of filter: one const struct of functions.
 *
 * A kind is one file in src/kinds/ that ends in one bly_kind. The slots it
 * fills are what it can do, and nothing states that twice. An empty slot is a
 * verb that the kind does not have, except for a batch (…_many), for which the
 * library then calls the single function in a loop.
 *
 * The struct holds what most kinds have: to plan, check, look up, add, remove,
 * count. Rarer abilities (labels, growing, listing…) are structs of their own
 * in abilities.h, and bly_kind points to those that the kind has. A new Bloom
 * filter needs no more than this file and image.h.
 *
 * Functions take whole images. They may trust the header that `check` has
 * accepted, and nothing else: whatever the payload holds, they stay inside the
 * image and they end. They keep no state, allocate nothing, and leave the
 * header's counts and checksums to the handle (src/verbs/).
 */
#ifndef BLY_IMAGE_KIND_H
#define BLY_IMAGE_KIND_H

#include "bloomery.h"

#include "base/status.h"
#include "image/image.h"

enum { KIND_OPTIONS = 8 };              /* options of a kind, at most        */

/* The value of an option that was not given and has no fixed default. The kind
 * chooses then. */
#define KIND_CHOOSE UINT64_MAX

/* An option of a kind: `name=value` in "kind:name=value,…". Its value is a
 * number, or the place of a word in `choices`, or a number of 64 digits. */
typedef struct {
    const char *name;                   /* NULL ends the table               */
    const char *help;                   /* one line                          */
    uint64_t least, most;               /* of a number                       */
    const char *const *choices;         /* words, ended by NULL; or NULL     */
    uint64_t standard;                  /* the default, or KIND_CHOOSE       */
    size_t   high;                      /* not 0: the value has 64 hexadecimal
                                           digits. The last 16 are this
                                           option; the 16 before them are
                                           option number `high`, which has no
                                           entry in the table                */
} kind_option;

/* The spec that a filter is planned for. */
typedef struct {
    uint64_t capacity;                  /* keys; 0: not given                */
    double   rate;                      /* 0 < rate < 1                      */
    uint64_t option[KIND_OPTIONS];      /* in the order of the kind's table  */
} kind_spec;

/* The type of `contains`. */
typedef bool kind_contains(const void *image, uint64_t hash);

enum { KIND_VIEW = 128 };               /* bytes of a view: `contains_here`  */

/* Ability structs (abilities.h, kind_foreign.h). */
typedef struct kind_hashing   kind_hashing;
typedef struct kind_building  kind_building;
typedef struct kind_sharing   kind_sharing;
typedef struct kind_whole     kind_whole;
typedef struct kind_varying   kind_varying;
typedef struct kind_growing   kind_growing;
typedef struct kind_labels    kind_labels;
typedef struct kind_combining kind_combining;
typedef struct kind_listing   kind_listing;
typedef struct kind_resizing  kind_resizing;
typedef struct kind_folding   kind_folding;
typedef struct kind_packing   kind_packing;
typedef struct kind_inlining  kind_inlining;
typedef struct kind_pages     kind_pages;
typedef struct kind_foreign   kind_foreign;

typedef struct bly_kind bly_kind;
struct bly_kind {
    const char *name;                   /* 16 characters at most             */
    const char *family;
    const char *summary;                /* one line                          */
    uint32_t    version;                /* of the payload                    */
    const kind_option *options;         /* NULL: none                        */
    bool        forgets;                /* drops old keys; `plan` and `stat`
                                           fill in the window                */
    bool        raw_hash;               /* uses the hash unmixed, so that one
                                           with weak bits will not do        */

    /* Fills in *plan except for `kind` and `bits_per_key`. It only calculates;
     * no filter exists yet. BLY_EPARAM, BLY_ETOOBIG. */
    bly_status (*plan)(bly_plan_t *plan, const kind_spec *spec);

    /* Writes the payload of an empty filter, which is all zero, for the spec
     * that was planned. The header is there except for its checksums. NULL: an
     * empty payload is all zero. */
    bly_status (*format)(void *image, const kind_spec *spec);

    /* Does the work of `format` for an image with the plan of `other`, which
     * `check` has accepted, without a spec. NULL: if there is a `format`,
     * bly_like() refuses. */
    void (*like)(void *image, const void *other);

    /* Checks that geometry and size fit together. It trusts nothing except that
     * image_check_header() returned BLY_OK. BLY_ECORRUPT. */
    bly_status (*check)(const void *image);

    /* Fills in what the payload shows: distinct, distinct_sd, fill, rate and
     * probes; `saturated` if there are counters, `packed` if the kind packs,
     * and `capacity` if the filter has grown. `items` and `items_exact` are
     * filled in before the call. */
    void (*stat)(bly_info_t *out, const void *image);

    /* Looks up one key, and a batch. Every kind has both. */
    kind_contains *contains;
    void (*contains_many)(const void *image, const uint64_t *hashes, size_t n,
                          bool *present);

    /* Returns the fastest `contains` for this processor and image, chosen once
     * for a handle, because a choice for each key would cost half a lookup.
     * NULL: `contains`. The chosen function may read a view instead of the
     * image: then `contains_here` fills `view` (KIND_VIEW bytes, aligned as for
     * uint64_t), and *subject, which is the image at first, becomes `view`. A
     * view is valid while the image stays in place and no verb changes its
     * geometry. */
    kind_contains *(*contains_here)(const void **subject, void *view);

    /* Adds a key. BLY_OK: new; BLY_SEEN: possibly added before; BLY_EFULL:
     * nothing changed. The batches stop at the first error and set *done to the
     * number of keys added. `add_each` also reports BLY_SEEN for each key. */
    bly_status (*add)     (void *image, uint64_t hash);
    bly_status (*add_many)(void *image, const uint64_t *hashes, size_t n,
                           size_t *done);
    bly_status (*add_each)(void *image, const uint64_t *hashes, size_t n,
                           bool *seen, size_t *done);

    /* Removes a key. BLY_EABSENT and BLY_EUNSAFE: nothing changed. The batch
     * removes each hash in turn and stores its status in each[i]. */
    bly_status (*remove)     (void *image, uint64_t hash);
    void       (*remove_many)(void *image, const uint64_t *hashes, size_t n,
                              bly_status *each);

    /* Returns how often a key was added. */
    uint64_t (*count)     (const void *image, uint64_t hash);
    void     (*count_many)(const void *image, const uint64_t *hashes, size_t n,
                           uint64_t *counts);

    /* Finds, for each hash, the block of *bytes bytes that holds everything a
     * lookup or change of that key touches, whatever the payload. Blocks are
     * multiples of *bytes apart; places[i] counts from the image's start. A
     * kind with `pages` leaves it empty. */
    void (*places)(const void *image, const uint64_t *hashes, size_t n,
                   uint64_t *places, size_t *bytes);

    /* Returns which of several code paths, of different speed, a batch takes in
     * a filter of this plan, so that advice does not estimate one from times of
     * another. NULL: there is one. */
    unsigned (*way)(const bly_plan_t *plan);

    /* Abilities; NULL: the kind lacks it. */
    const kind_hashing   *hashing;      /* conditions of some specs         */
    const kind_building  *building;     /* builds from all keys at once      */
    const kind_sharing   *sharing;      /* many threads add at once          */
    const kind_whole     *whole;        /* keys as bytes, not only hashes    */
    const kind_varying   *varying;      /* some filters remove, some do not  */
    const kind_growing   *growing;      /* gets longer when it is full       */
    const kind_labels    *labels;       /* a number for each key             */
    const kind_combining *combining;    /* union, intersection, difference   */
    const kind_listing   *listing;      /* all fingerprints, or all keys     */
    const kind_resizing  *resizing;     /* the same keys in another size     */
    const kind_folding   *folding;      /* fewer bits, by OR                 */
    const kind_packing   *packing;      /* fewer bytes when saved or sent    */
    const kind_inlining  *inlining;     /* a view for bloomery/inline.h      */
    const kind_pages     *pages;        /* works on a file page by page      */
    const kind_foreign   *foreign;      /* the payload is another system's
                                           file                              */
};

/* Returns a spec with the default of each option. */
kind_spec kind_spec_plain(const bly_kind *kind, uint64_t capacity,
                          double rate);

/* Sets an option by its name. False: the kind has none of that name, or the
 * value is out of range. */
bool kind_spec_give(kind_spec *spec, const bly_kind *kind, const char *name,
                    uint64_t value);

/* Errors of `plan`. BLY_EPARAM: the capacity is missing. BLY_ETOOBIG: the
 * filter would be beyond the kind's limit, which the text names. */
bly_status kind_no_capacity(void);
bly_status kind_too_big(const kind_spec *spec, const char *limit);

/* Sets a plan's `bytes` for a payload of so many bytes. BLY_ETOOBIG. */
bly_status kind_plan_bytes(bly_plan_t *plan, uint64_t payload);

/* Returns BLY_ECORRUPT, for `check`: the geometry makes no valid filter. */
bly_status kind_bad_geometry(const void *image);

/* Limits of a kind that is one row of m cells with k probes anywhere in it. Its
 * first two options, and the first two fields of its geometry, are m and k. */
typedef struct {
    uint64_t    m_most;
    uint32_t    k_most;
    const char *limit;                  /* m_most in words: "2^56 counters"  */
} kind_row;

enum { KIND_ROW_M, KIND_ROW_K };

/* Finds m, k and the number of keys n for `plan` of such a kind, each from its
 * option or from the others. BLY_EPARAM, BLY_ETOOBIG. */
bly_status kind_row_size(uint64_t *m, uint32_t *k, uint64_t *n,
                         const kind_spec *spec, const kind_row *row);

#endif /* BLY_IMAGE_KIND_H */
