/* handle.h - what a bly_filter is inside: an image, its kind, and how the
 * bytes were come by.
 */
#ifndef BLY_VERBS_HANDLE_H
#define BLY_VERBS_HANDLE_H

#include "base/task.h"
#include "base/threads.h"
#include "image/kind.h"
#include "bits/hash.h"

/* Where an image's bytes live, and what that asks for. */
typedef struct {
    /* Before the first change since the image was last sealed; or NULL.
     * BLY_EIO: there must be none. */
    bly_status (*begin)(bly_filter *filter);
    /* Before it is sealed: what has changed goes to the disk; or NULL. False:
     * it may not have come there, and the image must not be sealed. */
    bool (*flush)(bly_filter *filter);
    /* Give the bytes back; or NULL where they are not ours. */
    void (*release)(bly_filter *filter);
} handle_source;

/* The verbs of an image that is not in memory: filter->image is its head only
 * (image/kind.h, kind_pages), and nothing may be asked of the kind but what a
 * head is enough for. Other verbs are refused; see handle_here(). */
typedef struct {
    /* add_many, or with `seen` add_each, of kind.h */
    bly_status (*add_many)(bly_filter *filter, const uint64_t *hashes,
                           size_t n, bool *seen, size_t *done);
    void       (*contains_many)(const bly_filter *filter,
                                const uint64_t *hashes, size_t n,
                                bool *present);
    bly_status (*stat)(bly_stat_t *out, const bly_filter *filter);
    bly_status (*sync)(bly_filter *filter);
    bly_status (*seal)(bly_filter *filter);
} handle_away;

/* The file that an image was opened from, as the system tells files apart. */
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
    bool                 writable;
    bool                 shared;
    bool                 keyed;         /* the kind asks by whole keys       */
    bool                 changed;       /* since the image was sealed        */
    bool                 behind;        /* the disk is, of a mapped image    */
    bool                 unsure;        /* a flush of that has failed        */
    threads_lock         lock;          /* of setting and clearing `changed` */
};

/* What a handle is made with. All zero: what NULL for bly_options means. */
typedef struct {
    bly_allocator      allocator;
    const void        *secret;
    const char        *format;          /* another system's, named; or NULL  */
    const kind_hasher *hasher;          /* that of another filter; or NULL: by
                                           the header and the secret         */
    uint32_t           threads;
    const bly_progress *progress;       /* of the call; or NULL              */
    uint64_t           memory_limit;
} handle_options;

/* The memory_limit of a filter that was not read from anywhere. */
#define HANDLE_NO_LIMIT UINT64_MAX

/* From what a caller gave; NULL is fine. BLY_EPARAM: reserved fields. */
bly_status handle_options_read(handle_options *out, const bly_options *options);

/* An image in memory from the handle's allocator. */
extern const handle_source handle_owned;

/* Choose how one key is asked for: after the image has come to another place,
 * and once `away` is set. The kind's quickest way, by the image or by a view of
 * it, which stands behind the handle in its memory; of an image that is away by
 * the batch. So a question is one jump. */
void handle_choose(bly_filter *filter);

/* Another image from the filter's allocator in the place of its own, which goes
 * back there. */
void handle_replace(bly_filter *filter, void *image, size_t bytes);

/* "kind X cannot VERB", and which kinds can, those with the ability BLY_CAN_…,
 * or 0 where no one ability decides: BLY_EUNSUPPORTED. */
bly_status handle_unsupported(const bly_kind *kind, const char *verb,
                              uint64_t ability);

/* May the filter take so many bytes more for a while, or become as large?
 * BLY_ELIMIT. */
bly_status handle_allows(const bly_filter *filter, uint64_t bytes);

/* BLY_ENOMEM, or BLY_ETOOBIG, with how many bytes it was for. */
bly_status handle_no_memory(uint64_t bytes);

/* The kind that a header names, once image_check_header() has said OK; nothing
 * else is looked at. BLY_EKIND, BLY_EVERSION. */
bly_status handle_find(const bly_kind **kind, const void *image);

/* The same, and is this an image that can be used, or a packed one that can be
 * unpacked? All but header and checksum of the payload. Errors of bly_check. */
bly_status handle_check_kind(const bly_kind **kind, const void *image);

/* Both: header, and kind. All but the payload's checksum. */
bly_status handle_check(const bly_kind **kind, const void *image,
                        uint64_t bytes);

/* The same for the first KIND_PAGE_MOST bytes of an image of `bytes` bytes, if
 * its kind has pages; else BLY_EUNSUPPORTED. */
bly_status handle_check_head(const bly_kind **kind, const void *head,
                             uint64_t bytes);

/* Of an image that handle_check() accepted: the bytes it has when unpacked, or
 * 0 if it is not packed. */
uint64_t handle_packed(const bly_kind *kind, const void *image);

/* A handle for a copy of such an image in memory of its own, unpacked if it is
 * packed. BLY_ENOMEM, BLY_ESECRET, BLY_ELIMIT. */
bly_status handle_unpack(bly_filter **out, const bly_kind *kind,
                         const void *image, const handle_options *options);

/* The filter as it is saved and sent, to where there is room for as many bytes
 * as its image has; how many they are. */
size_t handle_pack(const bly_filter *filter, void *into);

/* How the image's keys are hashed. BLY_ESECRET: not by this secret; *out is
 * untouched. */
bly_status handle_hasher(kind_hasher *out, const void *image,
                         const void *secret);

/* Would that do? BLY_ESECRET. */
bly_status handle_check_secret(const void *image, const void *secret);

/* A handle for an image that handle_check() accepted, not packed. It owns the
 * bytes from then on, as `source` says; on an error, BLY_ENOMEM or BLY_ESECRET,
 * it does not. */
bly_status handle_make(bly_filter **out, const bly_kind *kind, void *image,
                       size_t bytes, const handle_source *source,
                       const handle_options *options);

/* The same for one in memory from the allocator, which goes back there on an
 * error. */
bly_status handle_own(bly_filter **out, const bly_kind *kind, void *image,
                      size_t bytes, const handle_options *options);

/* Let many threads add; BLY_EUNSUPPORTED if the kind cannot. */
bly_status handle_share(bly_filter *filter);

/* BLY_EREADONLY, with what to do about it. */
bly_status handle_read_only(void);

/* To be called before each change. BLY_EREADONLY, BLY_EIO. */
bly_status handle_begin(bly_filter *filter);

/* After a change: so many adds more, or fewer. A count that this would take
 * past its ends was wrong before: it is not known from then on. */
void handle_count_items(bly_filter *filter, uint64_t n);
void handle_uncount_items(bly_filter *filter, uint64_t n);

/* Is the image in memory? BLY_EUNSUPPORTED, saying what cannot be done. */
bly_status handle_here(const bly_filter *filter, const char *verb);

/* Write the item count into the header, and both checksums, if anything has
 * changed since that was done. Many threads may do so at once. False: what has
 * changed could not be flushed, and the image says "being written". Where the
 * call is cancelled the image stays as it was. */
bool handle_seal(const bly_filter *filter);

/* Is the image in memory, and sealed now? Else as handle_here(), BLY_EIO or
 * BLY_ECANCELED. */
bly_status handle_whole(const bly_filter *filter, const char *verb);

/* Copy the first bytes of the image, while others may be sealing it. */
void handle_read(const bly_filter *filter, void *into, size_t bytes);

/* The head of an empty filter of a kind that has pages, in KIND_PAGE_MOST
 * bytes of memory from the allocator, and its kind. Errors of bly_new. */
bly_status handle_head(uint8_t **head, const bly_kind **kind, const char *name,
                       const bly_spec *spec, const bly_allocator *allocator);

#endif /* BLY_VERBS_HANDLE_H */
