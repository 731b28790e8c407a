/* handle.h - the inside of a bly_filter: an image, its kind, and where its
 * bytes came from. src/io/ makes handles as well.
 */
#ifndef BLY_VERBS_HANDLE_H
#define BLY_VERBS_HANDLE_H

#include "base/task.h"
#include "base/threads.h"
#include "image/kind_foreign.h"
#include "bits/hash.h"

/* How the bytes of an image are stored. */
typedef struct {
    /* Called before the first change since the image was last sealed, or NULL.
     * Returns BLY_EIO to refuse the change. */
    bly_status (*begin)(bly_filter *filter);
    /* Flushes changes to the disk before sealing, or NULL. Returns false if
     * they may not have arrived; the image must then not be sealed. */
    bool (*flush)(bly_filter *filter);
    /* Frees the bytes; NULL if they are not ours. */
    void (*release)(bly_filter *filter);
} handle_source;

/* The verbs of an image that is not in memory. filter->image is only its head
 * (image/abilities.h, kind_pages), and only slots that need no more than a head
 * may be called. Other verbs are refused; see handle_here(). */
typedef struct {
    /* add_many, or add_each if `seen`, of kind.h */
    bly_status (*add_many)(bly_filter *filter, const uint64_t *hashes,
                           size_t n, bool *seen, size_t *done);
    void       (*contains_many)(const bly_filter *filter,
                                const uint64_t *hashes, size_t n,
                                bool *present);
    bly_status (*stat)(bly_info_t *out, const bly_filter *filter);
    bly_status (*sync)(bly_filter *filter);
    bly_status (*seal)(bly_filter *filter);
} handle_away;

/* The identity of the file that an image was opened from. */
typedef struct {
    bool     known;
    bool     ours;                      /* we write to it: its time changes  */
    uint64_t device, number, bytes;
    int64_t  seconds, nanoseconds;      /* when it was last written          */
} handle_file;

struct bly_filter {
    const bly_kind      *kind;
    kind_contains       *contains;      /* the quickest, and what it is      */
    const void          *subject;       /* given: see handle_choose()        */
    const kind_whole    *whole;         /* looks up whole keys; or NULL      */
    const kind_sharing  *sharing;       /* many threads add at once; or NULL */
    kind_hasher          hasher;
    uint8_t             *image;
    size_t               bytes;
    uint64_t             items;         /* the truth while the handle lives  */
    const handle_source *source;
    const handle_away   *away;          /* NULL: the image is in memory      */
    void                *state;         /* the source's own                  */
    bly_allocator        allocator;
    uint32_t             threads;       /* as in bly_spec                    */
    uint64_t             memory_limit;  /* as in bly_options                 */
    handle_file          file;
    bly_progress         progress;      /* of calls with this handle         */
    bool                 bare;          /* another system's file: bly_save
                                           leaves our header out             */
    bool                 writable;
    bool                 changed;       /* since the image was sealed        */
    bool                 behind;        /* the disk is, of a mapped image    */
    bool                 unsure;        /* a flush of that has failed        */
    threads_lock         lock;          /* guards `changed`                  */
};

/* Options of a new handle. All zero: the defaults, as for a NULL bly_options.
 * */
typedef struct {
    bly_allocator      allocator;
    const void        *secret;
    const char        *format;          /* another system's, named; or NULL  */
    const kind_hasher *hasher;          /* that of another filter; NULL to use
                                           the header and the secret         */
    uint32_t           threads;
    const bly_progress *progress;       /* of the call, or NULL              */
    uint64_t           memory_limit;
} handle_options;

/* The memory_limit of a filter that was not read. */
#define HANDLE_NO_LIMIT UINT64_MAX

/* Reads a caller's options; accepts NULL. Returns BLY_EPARAM if reserved fields
   are set. */
bly_status handle_options_read(handle_options *out, const bly_options *options);

/* For an image in memory from the handle's allocator. */
extern const handle_source handle_owned;

/* Chooses how single keys are looked up, after the image has moved or `away` is
 * set: by the kind's fastest function, on the image or on a view stored after
 * the handle, or by batches for an image that is away. A lookup is then one
 * jump. */
void handle_choose(bly_filter *filter);

/* Replaces the filter's image, which is freed, by one from the same allocator.
 */
void handle_replace(bly_filter *filter, void *image, size_t bytes);

/* Returns BLY_EUNSUPPORTED with the message "kind X cannot VERB" and the kinds
 * that have the ability BLY_CAN_…, or 0 if no single ability decides. */
bly_status handle_unsupported(const bly_kind *kind, const char *verb,
                              uint64_t ability);

/* Returns BLY_ELIMIT if the filter may not take that many more bytes for a
 * while. */
bly_status handle_allows(const bly_filter *filter, uint64_t bytes);

/* Returns BLY_ENOMEM, or BLY_ETOOBIG, for that many bytes. */
bly_status handle_no_memory(uint64_t bytes);

/* Finds the kind named by a header that image_check_header() has accepted;
 * reads nothing else. Returns BLY_EKIND or BLY_EVERSION. */
bly_status handle_find(const bly_kind **kind, const void *image);

/* Does the same, and checks that the image can be used, or unpacked if it is
 * packed. Does not check the header or the payload's checksum. Errors of
 * bly_check. */
bly_status handle_check_kind(const bly_kind **kind, const void *image);

/* Checks both header and kind, but not the payload's checksum. */
bly_status handle_check(const bly_kind **kind, const void *image,
                        uint64_t bytes);

/* Checks the first KIND_PAGE_MOST bytes of an image of `bytes` bytes, if its
 * kind has pages; else returns BLY_EUNSUPPORTED. */
bly_status handle_check_head(const bly_kind **kind, const void *head,
                             uint64_t bytes);

/* Returns the unpacked size of an image that handle_check() accepted; 0 if it
 * is not packed. */
uint64_t pack_whole_bytes(const bly_kind *kind, const void *image);

/* Makes a handle for a copy of such an image, unpacked if it was packed.
 * Returns BLY_ENOMEM, BLY_ESECRET or BLY_ELIMIT. */
bly_status pack_open(bly_filter **out, const bly_kind *kind,
                         const void *image, const handle_options *options);

/* Writes the filter as it is saved and sent; needs room for its whole image.
 * Returns the number of bytes. */
size_t pack_write(const bly_filter *filter, void *into);

/* Checks the secret. Returns BLY_ESECRET if it does not match. */
bly_status handle_check_secret(const void *image, const void *secret);

/* Makes a handle for an unpacked image that handle_check() accepted. The handle
 * owns the bytes, as `source` says, unless it fails with BLY_ENOMEM or
 * BLY_ESECRET. */
bly_status handle_make(bly_filter **out, const bly_kind *kind, void *image,
                       size_t bytes, const handle_source *source,
                       const handle_options *options);

/* Does the same for an image from the allocator, which is freed on an error. */
bly_status handle_own(bly_filter **out, const bly_kind *kind, void *image,
                      size_t bytes, const handle_options *options);

/* Allows concurrent adds. Returns BLY_EUNSUPPORTED if the kind does not. */
bly_status handle_share(bly_filter *filter);

/* Returns BLY_EREADONLY, with advice. */
bly_status handle_read_only(void);

/* Must be called before each change. Returns BLY_EREADONLY or BLY_EIO. */
bly_status handle_begin(bly_filter *filter);

/* Adjusts the item count after a change. A count that would overflow or
 * underflow was wrong before, and is unknown from then on. */
void handle_count_items(bly_filter *filter, uint64_t n);
void handle_uncount_items(bly_filter *filter, uint64_t n);

/* Checks that the image is in memory. Returns BLY_EUNSUPPORTED, naming the
   verb. */
bly_status handle_here(const bly_filter *filter, const char *verb);

/* Writes the item count and both checksums into the header if anything has
 * changed. May be called concurrently. Returns false if changes could not be
 * flushed; the image then says "being written". A cancelled call leaves the
 * image unchanged. */
bool handle_seal(const bly_filter *filter);

/* Checks that the image is in memory and sealed. Errors like handle_here(),
 * BLY_EIO or BLY_ECANCELED. */
bly_status handle_whole(const bly_filter *filter, const char *verb);

/* Copies the first bytes of the image, safely while others seal it. */
void handle_read(const bly_filter *filter, void *into, size_t bytes);

/* The head of an empty filter of a kind that has pages, in KIND_PAGE_MOST
 * bytes of memory from the allocator, and its kind. Errors of bly_new. */
bly_status make_head(uint8_t **head, const bly_kind **kind, const char *name,
                       const bly_spec *spec, const bly_allocator *allocator);

#endif /* BLY_VERBS_HANDLE_H */
