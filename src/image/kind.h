/* kind.h - what a kind of filter is: one const struct of functions. The second
 * of the two contracts (the other is image.h).
 *
 * Floor 2. A kind is one file in src/kinds/ that ends in one bly_kind. What it
 * can do is which slots it fills: nothing says it a second time. Slots it
 * leaves out are verbs it does not have, or (…_many) verbs for which the
 * library loops over the single one.
 *
 * Functions get whole images. They may trust the header that `check` has
 * accepted, and nothing else: whatever the payload holds, they stay inside the
 * image and they end. They keep no state of their own, allocate nothing unless
 * they say so, and do not touch the header's counts and checksums: the handle
 * does (src/verbs/).
 */
#ifndef BLY_IMAGE_KIND_H
#define BLY_IMAGE_KIND_H

#include "bloomery.h"
#include "bloomery/foreign.h"
#include "bloomery/sketch.h"

#include "base/status.h"
#include "image/image.h"
#include "bits/hash.h"

enum { KIND_OPTIONS = 8 };              /* options a kind may have, at most  */

/* An option that was not given and has no fixed default: the kind chooses. */
#define KIND_CHOOSE UINT64_MAX

/* One option of a kind: `name=value` in "kind:name=value,…". A number between
 * `least` and `most`; or, where `choices` is given, one of those words (its
 * place in the list is the value); or, where `high` is, a long number. */
typedef struct {
    const char *name;                   /* NULL ends the table               */
    const char *help;                   /* one line                          */
    uint64_t least, most;
    const char *const *choices;         /* NULL-terminated, or NULL: a number*/
    uint64_t standard;                  /* when not given; or KIND_CHOOSE    */
    size_t   high;                      /* not 0: it is 64 hexadecimal digits,
                                           the last 16 of which are its value
                                           and the 16 before them that of the
                                           option of this number, which has
                                           no entry in the table             */
} kind_option;

/* What a kind is asked for. */
typedef struct {
    uint64_t capacity;                  /* keys; 0: not given                */
    double   rate;                      /* 0 < rate < 1                      */
    uint64_t option[KIND_OPTIONS];      /* in the order of the kind's table  */
} kind_spec;

/* The keys that a filter is built of. */
typedef struct {
    const uint64_t *hashes;             /* in any order, repeats too; const  */
    const uint64_t *labels;             /* one for each, or NULL             */
    size_t          n;
} kind_keys;

/* What a build may use. */
typedef struct {
    void    *scratch;                   /* as many bytes as the plan said,
                                           of any content, aligned to 64     */
    size_t   bytes;
    unsigned threads;                   /* for threads_run()                 */
} kind_bench;

/* How this filter hashes its keys, for a kind that keeps some of them whole. */
typedef struct {
    hash_function *function;
    hash_seed      seed;
} kind_hasher;

typedef bool kind_contains(const void *image, uint64_t hash);

/* What a page is. A torn one was not written to its end: it holds every key
 * that it held before, but its checksum does not match. A broken one is no
 * page at all. */
typedef enum {
    KIND_PAGE_EMPTY, KIND_PAGE_OPEN, KIND_PAGE_SEALED, KIND_PAGE_TORN,
    KIND_PAGE_BROKEN
} kind_page;

/* For a kind whose payload is pages: what can be done with one page when no
 * more of the image is at hand than its head, which is the image's first
 * `bytes` bytes and has been checked. Page i begins (i + 1) * bytes into the
 * image. A page of nothing but zeros is an empty one. (src/io/paged/pages.c
 * works on files by these.) */
typedef struct {
    size_t   (*bytes)(const void *head);        /* 4096 .. KIND_PAGE_MOST    */
    uint64_t (*count)(const void *head);
    /* The number of the page that each of n hashes belongs to. */
    void (*place)(const void *head, const uint64_t *hashes, size_t n,
                  uint64_t *pages);
    kind_page (*look)(const void *head, const void *page);
    /* `contains_many`, `add_many` and `add_each` for hashes of this page,
     * broken or not; adding leaves the page open. */
    void (*contains)(const void *head, const void *page,
                     const uint64_t *hashes, size_t n, bool *present);
    void (*add)(const void *head, void *page, const uint64_t *hashes,
                size_t n);
    void (*add_each)(const void *head, void *page, const uint64_t *hashes,
                     size_t n, bool *seen);
    /* The checksum of a page that is open or torn, and its header where the
     * page has none. */
    void (*seal)(const void *head, void *page);
    /* `stat`, from a *sum that was zero at first: of each page, then once. */
    void (*stat)(bly_stat_t *sum, const void *head, const void *page);
    void (*stat_end)(bly_stat_t *sum, const void *head);
} kind_pages;

enum { KIND_PAGE_MOST = 65536 };

enum { KIND_VIEW = 128 };           /* bytes of a `view`                 */

/* What an image's header says of another system's file. */
typedef struct {
    uint64_t capacity, items;           /* as in image.h; a capacity of 0 is
                                           taken for 1                       */
    double   rate;
    uint64_t geometry[IMAGE_GEOMETRY_FIELDS];
} kind_found;

/* For a kind of family "foreign", whose payload is another system's file as it
 * lies on the disk, byte for byte. Such a file becomes an image by a header in
 * front of it, and is what is left of the image without. */
typedef struct {
    const char *writer;                 /* whose files these are: "what DCSO
                                           bloom and CIRCL hashlookup write" */
    bly_number_info numbers[IMAGE_GEOMETRY_FIELDS];     /* of the geometry   */

    /* Do these bytes begin such a file, of `all` bytes? No more than
     * KIND_LOOK of them are at hand. NULL: nothing in them tells, so that the
     * format has to be named. */
    bool (*looks)(const uint8_t *bytes, size_t n, uint64_t all);

    /* Is this such a file, and what does it say of itself? Trusts nothing: of
     * a file that it accepts no verb leaves the bytes. BLY_ECORRUPT,
     * BLY_EVERSION, BLY_ETOOBIG, with what is wrong at which byte. */
    bly_status (*read)(kind_found *out, const uint8_t *file, uint64_t bytes);

    /* The rate of a file that was read, with as many keys as it is for, where
     * reckoning it takes longer than reading. NULL: `read` says it. */
    double (*rate)(const kind_found *found, const uint8_t *file);

    /* The bytes of a file, from its first, that verbs may look at in a filter
     * of this geometry; UINT64_MAX: there is none of it. It is asked after
     * `read`: a file that another changes meanwhile may have given numbers
     * that are not those that were looked at. */
    uint64_t (*reach)(const uint64_t *geometry);

    /* How many bytes a filter has in all that begins with these, for a format
     * whose filters stand in larger files; 0: it is none. NULL: that is not to
     * be seen from its beginning. */
    uint64_t (*extent)(const uint8_t *bytes, size_t n);

    /* One of our own kinds, whose payload is the bits of such a file if it
     * hashes by `hash` with seed 0, so that either is made of the other; its
     * option `size` is how many bits. `head` writes what stands before so many
     * bytes of them, and says how long that is; to NULL it says only that, and
     * 0 where no file has so many. All NULL: there is none. */
    struct {
        const char *kind, *hash, *size;
        size_t    (*head)(uint8_t *to, uint64_t bytes);
    } twin;

    bool attaches;                      /* what is behind `reach` is data that
                                           its owner has attached, of any
                                           length                            */
    bool plans;                         /* the file says for how many keys it
                                           was planned; or `read` reckons it */

    /* What the file does not tell, and who opens it does by options of the
     * kind: bit i of `fields` for field i of the geometry, which `read` leaves
     * 0. NULL and 0: nothing. BLY_EPARAM: it has to be told. */
    bly_status (*told)(uint64_t *geometry, const uint64_t *option);
    unsigned fields;

    /* By what 64 bits of a key it goes, for a kind that is given hashes as our
     * own are. NULL: by none, it is given keys whole. */
    void (*hasher)(kind_hasher *out, const uint64_t *geometry);
} kind_foreign;

enum { KIND_LOOK = 4096 };          /* bytes of a file that tell its format  */

typedef struct bly_kind bly_kind;
struct bly_kind {
    const char *name;                   /* 16 characters at most             */
    const char *family;
    const char *summary;                /* one line                          */
    uint32_t    version;                /* of the payload                    */
    const kind_option *options;         /* NULL: none                        */
    bool        raw_hash;               /* uses the hash as it comes, so that
                                           one with weak bits will not do    */
    bool (*raw_hash_of)(const kind_spec *spec); /* or does so for this spec;
                                           NULL: for none                    */

    bool        forgets;                /* old keys are lost in time:
                                           `plan` and `stat` tell the window */

    /* Must a key's hash be the key itself, an integer, for this spec? NULL:
     * never. Where the slot is filled, plan and stat may say a rate of 0: with
     * a hash that is the integer, equal hashes are equal keys. */
    bool (*integers)(const kind_spec *spec);

    /* Maths only: all of *plan but `kind` and `bits_per_key`. */
    bly_status (*plan)(bly_plan_t *plan, const kind_spec *spec);

    /* Fill in what the payload of an empty filter has besides zeros, for the
     * spec that was planned; NULL: it has nothing. The header is there, but
     * for its checksums. */
    bly_status (*format)(void *image, const kind_spec *spec);

    /* The same, of another image's very plan, which `check` has accepted:
     * without the spec. For kinds with a `format`; NULL: bly_like() refuses. */
    void (*like)(void *image, const void *other);

    /* Does geometry and size make sense together? Trusts nothing but that
     * image_check_header() said OK. */
    bly_status (*check)(const void *image);

    /* Every kind fills `contains` and `contains_many`.
     * `contains_here`: the quickest `contains` for this processor and image,
     * chosen once for a handle, because to choose for each key would cost as
     * much as half a lookup; or NULL: there is only `contains`. Instead of the
     * image the one chosen may want to be given what it needs of it, read once:
     * then that is written to `view`, KIND_VIEW bytes aligned as for uint64_t,
     * and *subject, which is the image at first, becomes `view`. A view holds
     * as long as the image stays where it is and no verb changes its geometry:
     * for kinds of which none does. */
    kind_contains *contains;
    kind_contains *(*contains_here)(const void **subject, void *view);
    void (*contains_many)(const void *image, const uint64_t *hashes, size_t n,
                          bool *present);

    /* By which of several ways that a batch may go, of unlike speed, it goes in
     * a filter of this plan: for advice, which reckons no time of the one way
     * from times of another. NULL: there is one. */
    unsigned (*way)(const bly_plan_t *plan);


    /* For a kind that is built of all keys it will be asked for, those of one
     * label and those of another, to tell them apart without error. Called
     * before `plan` for keys that have labels: may fit the spec to them, and
     * says how many keys the filter then has. BLY_EPARAM (a label that there
     * may not be). */
    bly_status (*separate)(kind_spec *spec, uint64_t *items,
                           const kind_keys *keys);

    /* The whole filter at once, for kinds that have no `add`, or a quicker way.
     * The header and what `format` wrote are there, planned for keys->n (but
     * at least one) keys. It may write the geometry, and IMAGE_BYTES to use
     * fewer bytes than planned. BLY_OK; BLY_EPARAM (labels of one key that
     * differ); BLY_EFULL where it has given up. */
    bly_status (*build)(void *image, const kind_keys *keys,
                        const kind_bench *bench);

    /* BLY_OK new, BLY_SEEN perhaps there before, BLY_EFULL unchanged. The
     * batch stops at the first error; *done is then how many are in. The
     * shared forms may run in many threads at once, beside contains. */
    bly_status (*add)            (void *image, uint64_t hash);
    bly_status (*add_many)       (void *image, const uint64_t *hashes,
                                  size_t n, size_t *done);
    bly_status (*add_shared)     (void *image, uint64_t hash);
    bly_status (*add_many_shared)(void *image, const uint64_t *hashes,
                                  size_t n, size_t *done);

    /* The batch that tells of each key what add() says: seen[i], BLY_SEEN. */
    bly_status (*add_each)       (void *image, const uint64_t *hashes,
                                  size_t n, bool *seen, size_t *done);

    /* add() and remove() of a key that is at hand whole, for a kind that may
     * want more of it than its hash. They take the place of the others wherever
     * a key comes by itself; where a hash comes alone it is add() and remove(),
     * which may then say BLY_EUNSUPPORTED. BLY_EPARAM: not this key. */
    bly_status (*add_key)   (void *image, uint64_t hash, const void *key,
                             size_t length);
    bly_status (*remove_key)(void *image, uint64_t hash, const void *key,
                             size_t length);

    /* contains() and its batch of keys that are at hand whole, for a kind that
     * may want to ask by more than their hashes: both, and `add_key`. They take
     * the place of the others wherever keys come by themselves. Of a hash that
     * comes alone `contains` says "perhaps" where it cannot tell. */
    bool (*contains_key) (const void *image, uint64_t hash, const void *key,
                          size_t length);
    void (*contains_keys)(const void *image, const uint64_t *hashes,
                          const bly_key *keys, size_t n, bool *present);

    /* For an image that gets longer when it is full: its planned rate holds
     * however many keys are added. After add has said BLY_EFULL: `grow_plan`
     * tells how many bytes it needs to go on (BLY_ETOOBIG, BLY_EFULL: it
     * cannot), and `grow` makes use of them, once the image has that many, the
     * new ones zero, and IMAGE_BYTES says so. */
    bly_status (*grow_plan)(uint64_t *bytes, const void *image);
    bly_status (*grow)     (void *image);

    /* BLY_OK; BLY_EABSENT or BLY_EUNSAFE and nothing changed. The batch is
     * remove() of each hash in turn; each[i] is what it says of hashes[i]. */
    bly_status (*remove)     (void *image, uint64_t hash);
    /* BLY_EUNSUPPORTED with its line, where a filter of this kind cannot remove
     * by its options: it is asked before. NULL: all can. */
    bly_status (*keeps)      (const void *image);
    void       (*remove_many)(void *image, const uint64_t *hashes, size_t n,
                              bly_status *each);
    uint64_t   (*count)      (const void *image, uint64_t hash);
    /* Does a filter of this kind count, and remove, by its options? Where this
     * is filled one without an option does not; NULL: all do. */
    bool       (*counts)     (const void *image);
    void       (*count_many) (const void *image, const uint64_t *hashes,
                              size_t n, uint64_t *counts);

    /* Labels; `plan` and `stat` tell which there may be. Where there is `add`
     * too, put() takes any key, says BLY_SEEN if it changed nothing, and the
     * label that get() gives is the best of those that were put with the key or
     * better still; `better` says which are. The batches are put() and get() of
     * each hash in turn; the first error stops the batch that puts, and *done
     * is then how many are in. */
    bly_status (*put)     (void *image, uint64_t hash, uint64_t label);
    bly_status (*put_many)(void *image, const uint64_t *hashes,
                           const uint64_t *labels, size_t n, size_t *done);
    bool       (*get)     (const void *image, uint64_t hash, uint64_t *label);
    void       (*get_many)(const void *image, const uint64_t *hashes, size_t n,
                           bool *found, uint64_t *labels);
    void       (*each_label)(const void *image, bly_visit_label *visit,
                             void *context);
    enum { KIND_LABEL_OWN, KIND_LABEL_LARGER, KIND_LABEL_SMALLER } better;

    /* Is the label `is` of this filter as good as `was`, or better? For labels
     * that are not in one row: then what a key has is as good as each of those
     * that were put with it. NULL: `better` says it. */
    bool (*covers)(const void *image, uint64_t is, uint64_t was);

    /* Both images have equal kind, version, geometry, hash and seed, are
     * `alike`, and may be one and the same. BLY_OK; BLY_EFULL and nothing
     * changed. A kind that counts (fills `count`) adds the counts up.
     * `unite_at` gives keys a label: those of such an image, whose labels are
     * raised by that; or those of an image of another kind, of the same hash
     * and seed, which may be like those inside: or else BLY_EMISMATCH.
     * BLY_EPARAM (the label). Nothing is changed then. */
    bly_status (*unite)(void *into, const void *other);
    bly_status (*unite_at)(void *into, const void *other, uint64_t label);
    void (*intersect)(void *into, const void *other);
    void (*overlap)  (bly_overlap_t *out, const void *a, const void *b);

    /* May these two be combined, as far as their headers do not tell: are the
     * images inside of one plan? NULL: the headers tell all. */
    bool (*alike)(const void *a, const void *b);

    /* For a kind that is made to be subtracted: `subtract` is the reverse of
     * `unite`; BLY_EFULL and nothing changed. `list` visits every key that is
     * there, or only in what was subtracted, or says BLY_EFULL, with no visit,
     * where it cannot tell them all apart. It works in `scratch`, which is
     * `list_scratch` bytes of any content, aligned to 64. A filter of such a
     * kind is sized by how many keys can be listed, and its planned rate is
     * what comes of that, not what was asked. */
    bly_status (*subtract)(void *into, const void *other);
    uint64_t   (*list_scratch)(const void *image);
    bly_status (*list)(const void *image, void *scratch,
                       const kind_hasher *hasher, bly_visit_key *visit,
                       void *context);

    /* The same keys in another size. `resize_plan` is `plan` for an image that
     * would hold what `image` holds and has room for `capacity` keys;
     * BLY_EPARAM, BLY_EFULL, BLY_ETOOBIG. `resize` fills `into`, an empty image
     * of that plan; it cannot fail for a payload that the kind wrote, and for
     * any other it says BLY_ECORRUPT. */
    bly_status (*resize_plan)(bly_plan_t *plan, const void *image,
                              uint64_t capacity);
    bly_status (*resize)     (void *into, const void *image);

    /* The filter that the same keys make with fewer bits, by OR: what `times`
     * of its bits, or of its blocks, would be there. `fold_spec` puts that into
     * the spec's options, for `plan`; the capacity is divided before.
     * BLY_EPARAM: it cannot be folded by this number. `fold` fills `into`, an
     * empty image of that plan. */
    bly_status (*fold_spec)(kind_spec *spec, const void *image, uint64_t times);
    void       (*fold)     (void *into, const void *image);

    /* The packed form: the same filter in fewer bytes, to be saved and sent.
     * Its header is the image's but for IMAGE_BYTES, geometry and checksums; no
     * other slot works on it, `check` refuses it. `unpacked` returns, by the
     * header, of which only the checksum is right, the size of the image that
     * was packed: UINT64_MAX if no image has such a header, 0 if this one is
     * not packed. `pack` writes it to `into`,
     * where there is room for as many bytes as the image has, which it does
     * not exceed; the checksums are left out. `unpack_plan` trusts nothing but
     * that image_check_header() said OK: *bytes is the size of the image that
     * was packed, or 0 if this one is not packed; BLY_ECORRUPT. `unpack` writes
     * that image over zeros, without checksums: whatever the payload holds, it
     * is one that `check` accepts. */
    uint64_t   (*unpacked)   (const void *header);
    void       (*pack)       (void *into, const void *image);
    bly_status (*unpack_plan)(uint64_t *bytes, const void *image);
    void       (*unpack)     (void *into, const void *image);

    /* All fingerprints in rising order; ends when `visit` says false. */
    void (*each)(const void *image, bly_visit_fingerprint *visit,
                 void *context);

    /* distinct, distinct_sd, fill, rate, probes, `saturated` where there are
     * counters, `packed` where there is `pack`, and `capacity` if it has grown:
     * what the payload shows. `items` and `items_exact` are there before. */
    void (*stat)(bly_stat_t *out, const void *image);

    /* Bring up to date what the payload keeps of itself (checksums of parts),
     * before its own checksum is made. */
    void (*seal)(void *image);

    const kind_pages   *pages;          /* NULL: not made of pages           */
    const kind_foreign *foreign;        /* NULL: the payload is our own. A kind
                                           without a `hasher` gets keys whole,
                                           and 0 for their hashes            */

    /* Where the *bytes bytes begin, counted from the image's start, that hold
     * all that hashes[i] reads and changes, whatever the payload; multiples of
     * *bytes apart. Not for a kind with `pages`, whose pages are that. */
    void (*places)(const void *image, const uint64_t *hashes, size_t n,
                   uint64_t *places, size_t *bytes);

    /* Fill in the kind's view of bloomery/inline.h, which is all zero before;
     * NULL: there is none. Kinds that share a view share the function.
     * `inline_add`: that header also adds by it. */
    void (*inline_view)(void *view, const void *image);
    bool   inline_add;
};

/* What is wanted of a kind, its options as they are when none is given. */
kind_spec kind_spec_plain(const bly_kind *kind, uint64_t capacity,
                          double rate);

/* The same with an option by its name; false: the kind has none of that name,
 * or it does not go so far. */
bool kind_spec_give(kind_spec *spec, const bly_kind *kind, const char *name,
                    uint64_t value);

/* `unite` and `intersect` for a payload of nothing but bits. */
bly_status kind_unite_bits    (void *into, const void *other);
void       kind_intersect_bits(void *into, const void *other);

/* For `fold_spec`: is `of` a multiple of `times`? If not, BLY_EPARAM, saying
 * of how many `bits` or `blocks` that is. */
bly_status kind_divides(uint64_t times, uint64_t of, const char *what);

/* `fold` for blocks of so many bytes: each is the OR of those that lie side by
 * side in the other, from its first one on. */
void kind_fold_blocks(void *into, const void *image, size_t bytes);

/* The same for single bits, `small` and `large` of them. */
void kind_fold_bits(void *into, const void *image, uint64_t small,
                    uint64_t large);

/* For `plan`: BLY_EPARAM, saying that the capacity is missing, and
 * BLY_ETOOBIG, saying what this kind ends at. */
bly_status kind_no_capacity(void);
bly_status kind_too_big(const kind_spec *spec, const char *limit);

/* For `plan` of a kind that is one row of cells, each probe of k anywhere in
 * it, and whose first two options and first two fields of the geometry are m,
 * the number of cells, and k: these two and the number of keys, each from the
 * options or from what is known already. `limit` names m_most in the error.
 * BLY_EPARAM, BLY_ETOOBIG. */
typedef struct {
    uint64_t    m_most;
    uint32_t    k_most;
    const char *limit;                  /* "2^56 counters"                   */
} kind_row;

enum { KIND_ROW_M, KIND_ROW_K };        /* options, and in the geometry      */

bly_status kind_row_size(uint64_t *m, uint32_t *k, uint64_t *n,
                         const kind_spec *spec, const kind_row *row);

/* Fill in a plan's `bytes` for a payload of that many; BLY_ETOOBIG. */
bly_status kind_plan_bytes(bly_plan_t *plan, uint64_t payload);

/* For `check`: BLY_ECORRUPT, saying that the geometry makes no filter. */
bly_status kind_bad_geometry(const void *image);

/* Do verbs stay within so many bytes of a file in a filter of this geometry?
 * BLY_ECORRUPT. */
bly_status kind_check_reach(const kind_foreign *foreign,
                            const uint64_t *geometry, uint64_t bytes);

/* `check` of a kind of family "foreign": is the payload such a file, and does
 * the header say what it says? */
bly_status kind_check_foreign(const void *image, const kind_foreign *foreign);

/* `contains`, `contains_many` and `add` of a kind that hashes whole keys: of a
 * hash alone the first two say "perhaps", and the third is refused. */
bool       kind_whole_contains     (const void *image, uint64_t hash);
void       kind_whole_contains_many(const void *image, const uint64_t *hashes,
                                    size_t n, bool *present);
bly_status kind_whole_add          (void *image, uint64_t hash);

#endif /* BLY_IMAGE_KIND_H */
