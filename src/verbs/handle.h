/* handle.h - the contents of a bly_filter: an image, its kind, and the source
 * of its bytes. src/io/ makes handles as well.
 */
#ifndef BLY_VERBS_HANDLE_H
#define BLY_VERBS_HANDLE_H

#include "base/task.h"
#include "base/threads.h"
#include "image/kind_foreign.h"
#include "bits/hash.h"

/* The source of an image's bytes, and what it requires. */
typedef struct {
    /* Called before the first change since the image was last sealed; or NULL.
     * BLY_EIO: the change must not happen. */
    bly_status (*begin)(bly_filter *filter);
    /* Called before sealing: writes changes to the disk; or NULL. False: they
     * may not have reached it, and the image must not be sealed. */
    bool (*flush)(bly_filter *filter);
    /* Releases the bytes; NULL if they are not ours. */
    void (*release)(bly_filter *filter);
} handle_source;

/* The functions of an image that is not in memory. filter->image is only its
 * head (image/abilities.h, kind_pages), and only slots that need no more than
 * the head may be called. Other functions are refused; see handle_here(). */
typedef struct {
    /* add_many or, with `seen`, add_each of kind.h */
    bly_status (*add_many)(bly_filter *filter, const uint64_t *hashes,
                           size_t n, bool *seen, size_t *done);
    void       (*contains_many)(const bly_filter *filter,
                                const uint64_t *hashes, size_t n,
                                bool *present);
    bly_status (*stat)(bly_stat_t *out, const bly_filter *filter);
    bly_status (*sync)(bly_filter *filter);
    bly_status (*seal)(bly_filter *filter);
} handle_away;

/* The identity of the file that an image was opened from. */
typedef struct {
    bool     known;
    bool     ours;                      /* we write to it, so its time
                                           changes                           */
    uint64_t device, number, bytes;
    int64_t  seconds, nanoseconds;      /* when it was last written          */
} handle_file;

struct bly_filter {
    const bly_kind      *kind;
    kind_contains       *contains;      /* the fastest lookup, and its       */
    const void          *subject;       /* argument: see handle_choose()     */
    const kind_whole    *whole;         /* looks up whole keys; or NULL      */
    const kind_sharing  *sharing;       /* many threads add at once; or NULL */
    kind_hasher          hasher;
    uint8_t             *image;
    size_t               bytes;
    uint64_t             items;         /* valid while the handle lives      */
    const handle_source *source;
    const handle_away   *away;          /* NULL: the image is in memory      */
    void                *state;         /* private to the source             */
    bly_allocator        allocator;
    uint32_t             threads;       /* as in bly_spec                    */
    uint64_t             memory_limit;  /* as in bly_options                 */
    handle_file          file;
    bly_progress         progress;      /* for calls with this handle        */
    bool                 writable;
    bool                 changed;       /* since the image was sealed        */
    bool                 behind;        /* of a mapped image: the disk is
                                           outdated                          */
    bool                 unsure;        /* a flush of it failed              */
    threads_lock         lock;          /* for setting and clearing
                                           `changed`                         */
};

/* Options of a new handle. All zero: the defaults, as for a NULL bly_options.
 * */
typedef struct {
    bly_allocator      allocator;
    const void        *secret;
    const char        *format;          /* another system's format, if
                                           named; or NULL                    */
    const kind_hasher *hasher;          /* another filter's; or NULL: from
                                           the header and the secret         */
    uint32_t           threads;
    const bly_progress *progress;       /* of the call; or NULL              */
    uint64_t           memory_limit;
} handle_options;

/* The memory_limit of a filter that was not read. */
#define HANDLE_NO_LIMIT UINT64_MAX

/* Reads the caller's options; NULL is allowed. BLY_EPARAM: reserved fields. */
bly_status handle_options_read(handle_options *out, const bly_options *options);

/* An image in memory from the handle's allocator. */
extern const handle_source handle_owned;

/* Chooses how single keys are looked up. Call it when the image has moved, and
 * when `away` has been set. It takes the kind's fastest way: by the image, by a
 * view of it, which is stored behind the handle, or for an image that is away,
 * by the batch. A lookup is then one indirect call. */
void handle_choose(bly_filter *filter);

/* Replaces the filter's image, which is released, with another one from its
 * allocator. */
void handle_replace(bly_filter *filter, void *image, size_t bytes);

/* Reports BLY_EUNSUPPORTED: "kind X cannot VERB", and the kinds with the
 * ability BLY_CAN_…, or 0 if no single ability decides. */
bly_status handle_unsupported(const bly_kind *kind, const char *verb,
                              uint64_t ability);

/* Verifies that the filter may temporarily take so many more bytes, or grow to
 * that size. BLY_ELIMIT. */
bly_status handle_allows(const bly_filter *filter, uint64_t bytes);

/* Reports BLY_ENOMEM or BLY_ETOOBIG, with the number of bytes. */
bly_status handle_no_memory(uint64_t bytes);

/* Finds the kind that a header names; image_check_header() must have accepted
 * the header. BLY_EKIND, BLY_EVERSION. */
bly_status handle_find(const bly_kind **kind, const void *image);

/* Does the same, and verifies that the image can be used or unpacked. Checks
 * all but the header and the payload's checksum. Errors of bly_check. */
bly_status handle_check_kind(const bly_kind **kind, const void *image);

/* Checks header and kind: all but the payload's checksum. */
bly_status handle_check(const bly_kind **kind, const void *image,
                        uint64_t bytes);

/* Does the same for the first KIND_PAGE_MOST bytes of an image of `bytes`
 * bytes, if its kind has pages; otherwise BLY_EUNSUPPORTED. */
bly_status handle_check_head(const bly_kind **kind, const void *head,
                             uint64_t bytes);

/* Returns the unpacked size of an image that handle_check() accepted, or 0 if
 * it is not packed. */
uint64_t handle_packed(const bly_kind *kind, const void *image);

/* Makes a handle for a copy of such an image in memory of its own, unpacked if
 * it is packed. BLY_ENOMEM, BLY_ESECRET, BLY_ELIMIT. */
bly_status handle_unpack(bly_filter **out, const bly_kind *kind,
                         const void *image, const handle_options *options);

/* Writes the filter as it is saved and sent, to room for as many bytes as its
 * image has; returns the number written. */
size_t handle_pack(const bly_filter *filter, void *into);

/* Finds how the image's keys are hashed. BLY_ESECRET: not with this secret;
 * *out is untouched. */
bly_status handle_hasher(kind_hasher *out, const void *image,
                         const void *secret);

/* Verifies the secret. BLY_ESECRET. */
bly_status handle_check_secret(const void *image, const void *secret);

/* Makes a handle for an unpacked image that handle_check() accepted. The handle
 * then owns the bytes, as `source` says; after an error, BLY_ENOMEM or
 * BLY_ESECRET, it does not. */
bly_status handle_make(bly_filter **out, const bly_kind *kind, void *image,
                       size_t bytes, const handle_source *source,
                       const handle_options *options);

/* Does the same for an image from the allocator, which is released after an
 * error. */
bly_status handle_own(bly_filter **out, const bly_kind *kind, void *image,
                      size_t bytes, const handle_options *options);

/* Allows many threads to add; BLY_EUNSUPPORTED if the kind cannot. */
bly_status handle_share(bly_filter *filter);

/* Reports BLY_EREADONLY and what to do about it. */
bly_status handle_read_only(void);

/* Begins a change; call it before each one. BLY_EREADONLY, BLY_EIO. */
bly_status handle_begin(bly_filter *filter);

/* Adds n to the number of adds after a change; n may be negative. If the count
 * would leave its range, it was wrong before and is unknown from then on. */
void handle_count_items(bly_filter *filter, uint64_t n);
void handle_uncount_items(bly_filter *filter, uint64_t n);

/* Verifies that the image is in memory. BLY_EUNSUPPORTED, naming the
 * function. */
bly_status handle_here(const bly_filter *filter, const char *verb);

/* Writes the item count and both checksums into the header, if anything has
 * changed. Thread-safe. False: changes could not be flushed, and the image
 * stays marked "being written". If the call is cancelled the image is
 * unchanged. */
bool handle_seal(const bly_filter *filter);

/* Verifies that the image is in memory, and seals it. Errors of handle_here(),
 * BLY_EIO, BLY_ECANCELED. */
bly_status handle_whole(const bly_filter *filter, const char *verb);

/* Copies the first bytes of the image, while other threads may be sealing
 * it. */
void handle_read(const bly_filter *filter, void *into, size_t bytes);

/* Makes the head of an empty filter of a kind with pages, in KIND_PAGE_MOST
 * bytes from the allocator, and finds its kind. Errors of bly_new. */
bly_status handle_head(uint8_t **head, const bly_kind **kind, const char *name,
                       const bly_spec *spec, const bly_allocator *allocator);

#endif /* BLY_VERBS_HANDLE_H */
