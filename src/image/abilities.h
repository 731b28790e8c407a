/* abilities.h - the abilities that only some kinds have, a struct for each.
 *
 * bly_kind (kind.h) points to the structs of a kind's abilities. A pointer
 * inside a struct may be NULL only where its comment says so. A verb follows
 * the pointer once per call, so that no lookup pays for it.
 */
#ifndef BLY_IMAGE_ABILITIES_H
#define BLY_IMAGE_ABILITIES_H

#include "bloomery/sketch.h"

#include "image/kind.h"
#include "bits/hash.h"

/* Returns whether a kind fills a slot of an ability. */
#define KIND_HAS(kind, ability, slot)                                          \
    ((kind)->ability != NULL && (kind)->ability->slot != NULL)

/* The hash function and seed of a filter, for a kind that hashes whole keys. */
typedef struct {
    hash_function *function;
    hash_seed      seed;
} kind_hasher;

/* ---- Hashes ------------------------------------------------------------- */

/* For a kind with some specs that put conditions on the hashes of keys. Each
 * slot may be NULL. */
struct kind_hashing {
    /* Returns what `raw_hash` of kind.h is for this spec. */
    bool (*raw_of)(const kind_spec *spec);

    /* Returns whether, for this spec, a key's hash must be the key itself, an
     * integer. Such a kind may plan and report a rate of 0, because equal
     * hashes are then equal keys. */
    bool (*integers)(const kind_spec *spec);
};

/* ---- Building from all keys --------------------------------------------- */

/* The keys that a filter is built from. */
typedef struct {
    const uint64_t *hashes;             /* in any order, with repeats        */
    const uint64_t *labels;             /* one for each, or NULL             */
    size_t          n;
} kind_keys;

/* The memory and threads that a build may use. */
typedef struct {
    void    *scratch;                   /* as many bytes as the plan said, of
                                           any content, aligned to 64        */
    size_t   bytes;                     /* 0: memory is short, and keys can be
                                           added instead                     */
    unsigned threads;                   /* for threads_run()                 */
} kind_bench;

/* For a kind without `add`, or with a faster way to build at once. */
struct kind_building {
    /* Builds the filter. The header and the output of `format` are there,
     * planned for keys->n keys (at least one). It may write the geometry, and a
     * smaller IMAGE_BYTES than was planned. BLY_EPARAM: a key has two different
     * labels. BLY_EFULL: it has given up. */
    bly_status (*build)(void *image, const kind_keys *keys,
                        const kind_bench *bench);

    /* For a kind that tells keys of one label from keys of the other without
     * error, and is built from all of them. Called before `plan` if keys have
     * labels. It may adapt the spec, and sets *items to the number of keys that
     * the filter will have. BLY_EPARAM: a label that is not allowed. May be
     * NULL. */
    bly_status (*separate)(kind_spec *spec, uint64_t *items,
                           const kind_keys *keys);
};

/* ---- Adding -------------------------------------------------------------- */

/* `add` and `add_many`, safe in many threads at once and beside lookups. */
struct kind_sharing {
    bly_status (*add)     (void *image, uint64_t hash);
    bly_status (*add_many)(void *image, const uint64_t *hashes, size_t n,
                           size_t *done);
};

/* For a kind that needs more of a key than its hash. These replace `contains`,
 * `add` and `remove` of kind.h wherever the key itself is known. For a lone
 * hash, `contains` must answer true if it cannot tell, and `add` and `remove`
 * may return BLY_EUNSUPPORTED. Each slot may be NULL. */
struct kind_whole {
    bool (*contains)     (const void *image, uint64_t hash, const void *key,
                          size_t length);
    void (*contains_many)(const void *image, const uint64_t *hashes,
                          const bly_key *keys, size_t n, bool *present);

    /* BLY_EPARAM: the kind cannot take this key. */
    bly_status (*add)   (void *image, uint64_t hash, const void *key,
                         size_t length);
    bly_status (*remove)(void *image, uint64_t hash, const void *key,
                         size_t length);
};

/* For a kind whose filters remove and count only with some options. */
struct kind_varying {
    /* Returns BLY_OK if keys can be removed from this filter. If not, returns
     * BLY_EUNSUPPORTED, with a reason. */
    bly_status (*removes)(const void *image);

    /* Returns whether this filter counts and removes. A kind that has this slot
     * does not list either ability; its filters do. NULL: all of them count. */
    bool (*counts)(const void *image);
};

/* For an image that gets longer when it is full, so that the planned rate holds
 * however many keys are added. */
struct kind_growing {
    /* Sets *bytes to the size it needs to go on, after `add` returned
     * BLY_EFULL. BLY_ETOOBIG, BLY_EFULL: it cannot grow. */
    bly_status (*plan)(uint64_t *bytes, const void *image);

    /* Returns the bytes that a step of growing needs for a while. NULL: the
     * kind grows at once. If it grows in steps, most of them need no new bytes,
     * and bytes that are not used yet are sound. */
    uint64_t (*scratch)(const void *image);

    /* Grows, or takes the next step. The new bytes are zero, and IMAGE_BYTES
     * counts them. BLY_EFULL: it cannot; no key is lost. */
    bly_status (*grow)(void *image, void *scratch);

    /* Makes the plan of a new filter that of one that has grown, until its
     * capacity is so many keys: `plan` is what the kind's own plan made of the
     * spec. NULL: other systems' filters, which each grow by their own rule. */
    bly_status (*grown)(bly_plan_t *plan, const kind_spec *spec, uint64_t keys);
};

/* ---- Labels -------------------------------------------------------------- */

/* For a kind that keeps a label for each key. `plan` and `stat` report the
 * range of labels. If the kind also has `add`, then `put` takes any key, and
 * `get` returns the best label that was put with the key, or a better one. */
struct kind_labels {
    /* `put` returns BLY_SEEN if nothing changed. The batch puts each hash in
     * turn, stops at the first error, and sets *done to the number of keys that
     * are in. `put_many` may be NULL. */
    bly_status (*put)     (void *image, uint64_t hash, uint64_t label);
    bly_status (*put_many)(void *image, const uint64_t *hashes,
                           const uint64_t *labels, size_t n, size_t *done);
    bool       (*get)     (const void *image, uint64_t hash, uint64_t *label);
    void       (*get_many)(const void *image, const uint64_t *hashes, size_t n,
                           bool *found, uint64_t *labels);

    /* Visits each label with what is known of it. May be NULL. */
    void       (*each)(const void *image, bly_visit_label *visit,
                       void *context);

    /* The labels that are better than others: none, larger or smaller ones. */
    enum { KIND_LABEL_OWN, KIND_LABEL_LARGER, KIND_LABEL_SMALLER } better;

    /* Returns whether label `is` of this filter is as good as `was` or better,
     * for labels that are only partly ordered. A key's label is then as good as
     * each one that was put with it. NULL: `better` tells. */
    bool (*covers)(const void *image, uint64_t is, uint64_t was);
};

/* ---- Two filters --------------------------------------------------------- */

/* For filters with equal kind, version, geometry, hash and seed that are
 * `alike`. Both images may be one and the same. Each slot may be NULL. */
struct kind_combining {
    /* Returns whether two filters can be combined, if their headers do not
     * tell, because the images inside may differ. NULL: the headers tell. */
    bool (*alike)(const void *a, const void *b);

    /* For a kind whose filters are united whatever their geometries are, if
     * they are `alike`: returns the capacity at which `into` has room for the
     * keys of `other` as well, to which it is resized first. May be NULL. */
    uint64_t (*union_capacity)(const void *into, const void *other);

    /* Adds the keys of `other`. A kind with `count` sums the counts. BLY_EFULL:
     * nothing changed, or, with `union_capacity`, keys are missing. */
    bly_status (*unite)(void *into, const void *other);

    /* Unites with labels. The labels of a filter like this one are raised by
     * `label`. Another filter of the same hash and seed may be of the kind
     * inside, with an equal plan: then its keys get that label. BLY_EMISMATCH,
     * BLY_EPARAM (the label): nothing changed. */
    bly_status (*unite_at)(void *into, const void *other, uint64_t label);

    void (*intersect)(void *into, const void *other);
    void (*overlap)  (bly_overlap_t *out, const void *a, const void *b);

    /* Reverses `unite`. BLY_EFULL: nothing changed. A kind with this slot is
     * sized by how many keys can be listed, and its planned rate follows from
     * that size instead of the spec. */
    bly_status (*subtract)(void *into, const void *other);
};

/* `unite` and `intersect` for a payload of nothing but bits. */
bly_status kind_unite_bits    (void *into, const void *other);
void       kind_intersect_bits(void *into, const void *other);

/* ---- Contents ------------------------------------------------------------ */

/* Fill in either `fingerprints`, or `keys` and `keys_scratch`. */
struct kind_listing {
    /* Visits all fingerprints, until `visit` returns false: in rising order, or
     * in any if the kind grows. */
    void (*fingerprints)(const void *image, bly_visit_fingerprint *visit,
                         void *context);

    /* Visits every key that is present, or only in the filter that was
     * subtracted. BLY_EFULL, before any visit: they cannot be told apart.
     * `scratch` has keys_scratch(image) bytes of any content, aligned to 64. */
    bly_status (*keys)(const void *image, void *scratch,
                       const kind_hasher *hasher, bly_visit_key *visit,
                       void *context);
    uint64_t   (*keys_scratch)(const void *image);
};

/* ---- Another size -------------------------------------------------------- */

struct kind_resizing {
    /* Plans an image with the keys of this one and room for `capacity` keys.
     * For a kind that grows in steps, 0 is a little more room than it has.
     * BLY_EPARAM, BLY_EFULL, BLY_ETOOBIG. */
    bly_status (*plan)(bly_plan_t *plan, const void *image, uint64_t capacity);

    /* Fills `into`, an empty image of that plan. BLY_ECORRUPT: the kind did not
     * write this payload. BLY_EFULL: by chance the keys do not fit, and a
     * larger capacity should be planned. */
    bly_status (*resize)(void *into, const void *image);
};

/* For a kind whose bits or blocks can be combined by OR, `times` of them into
 * one. The result equals a filter of that size with the same keys. */
struct kind_folding {
    /* Sets the spec's options for `plan`. The capacity is divided already.
     * BLY_EPARAM: it cannot be folded by this number. */
    bly_status (*spec)(kind_spec *spec, const void *image, uint64_t times);

    /* Fills `into`, an empty image of that plan. */
    void       (*fold)(void *into, const void *image);
};

/* Returns BLY_OK if `of` is a multiple of `times`. If not, returns BLY_EPARAM,
 * with the number of bits or blocks, which `what` names. */
bly_status kind_divides(uint64_t times, uint64_t of, const char *what);

/* Fold blocks of so many bytes, or single bits. Each block or bit is the OR of
 * adjacent ones in the larger filter. */
void kind_fold_blocks(void *into, const void *image, size_t bytes);
void kind_fold_bits(void *into, const void *image, uint64_t small,
                    uint64_t large);

/* The packed form: the same filter in fewer bytes, to be saved and sent. Its
 * header is the image's except for IMAGE_BYTES, geometry and checksums. `check`
 * refuses it, and no other slot works on it. */
struct kind_packing {
    /* Returns, from a header of which only the checksum has been verified, the
     * size of the image that was packed; 0 if it is not packed, UINT64_MAX if
     * no image has such a header. */
    uint64_t   (*unpacked)(const void *header);

    /* Writes the packed form, which is not longer than the image, without
     * checksums. `into` has room for the image's size. */
    void       (*pack)(void *into, const void *image);

    /* Sets *bytes to the size of the image that was packed, or 0 if it is not
     * packed. It trusts nothing except that image_check_header() returned
     * BLY_OK. BLY_ECORRUPT. */
    bly_status (*unpack_plan)(uint64_t *bytes, const void *image);

    /* Writes that image over zeros, without checksums. `check` accepts the
     * result, whatever the payload held. */
    void       (*unpack)(void *into, const void *image);
};

/* ---- Access without the library ------------------------------------------ */

/* For a kind with a view in bloomery/inline.h. Kinds with the same view have
 * the same `view` function. */
struct kind_inlining {
    void (*view)(void *view, const void *image);    /* fills in zeros        */
    bool adds;                          /* that header adds keys as well     */
};

/* The state of a page. A torn page was not written to its end: it still holds
 * every key it held before, but its checksum does not match. A broken page is
 * not a page of this filter. */
typedef enum {
    KIND_PAGE_EMPTY, KIND_PAGE_OPEN, KIND_PAGE_SEALED, KIND_PAGE_TORN,
    KIND_PAGE_BROKEN
} kind_page;

enum { KIND_PAGE_MOST = 65536 };

/* For a kind whose payload is pages: works on one page when only the head of
 * the image, its first `bytes` bytes, is in memory and checked. Page i begins
 * (i + 1) * bytes into the image. A page of zeros is empty. (src/io/paged/
 * works on files this way.) */
struct kind_pages {
    size_t   (*bytes)(const void *head);        /* 4096 .. KIND_PAGE_MOST    */
    uint64_t (*count)(const void *head);

    /* Finds the number of the page that each of n hashes belongs to. */
    void (*place)(const void *head, const uint64_t *hashes, size_t n,
                  uint64_t *pages);
    kind_page (*look)(const void *head, const void *page);

    /* `contains_many`, `add_many` and `add_each` for hashes of this page,
     * broken or not. Adding leaves the page open. */
    void (*contains)(const void *head, const void *page,
                     const uint64_t *hashes, size_t n, bool *present);
    void (*add)(const void *head, void *page, const uint64_t *hashes,
                size_t n);
    void (*add_each)(const void *head, void *page, const uint64_t *hashes,
                     size_t n, bool *seen);

    /* Writes the checksum of an open or torn page, and the page's header if it
     * has none. `seal_all` does so in a whole image, before the image's own
     * checksum is made. */
    void (*seal)(const void *head, void *page);
    void (*seal_all)(void *image);

    /* `stat` in parts: for each page, with *sum all zero at first, then once at
     * the end. */
    void (*stat)(bly_info_t *sum, const void *head, const void *page);
    void (*stat_end)(bly_info_t *sum, const void *head);
};

#endif /* BLY_IMAGE_ABILITIES_H */
