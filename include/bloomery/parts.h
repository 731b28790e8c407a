/* bloomery/parts.h - one filter divided among many processes, each of which
 * has some part of its image.
 *
 * Each process makes the whole filter with BLY_SPARSE, and what it never adds
 * to takes no memory. bly_places says whose a key is; one of them gathers the
 * parts and saves them (bly_save_parts).
 */
#ifndef BLOOMERY_PARTS_H
#define BLOOMERY_PARTS_H

#include <bloomery.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where a key is, in a filter of a kind with the ability "local": all that is
 * read for the key and changed by it lies in the *bytes bytes of the image
 * that begin with byte places[i]; they are the same *bytes for all keys, and
 * places differ by multiples of it. Reads the header only. BLY_EUNSUPPORTED
 * (other kinds). Thread-safe, as all that only reads is. */
BLY_API bly_status bly_places(const bly_filter *filter, const uint64_t *hashes,
                              size_t n, uint64_t *places, size_t *bytes)
                              BLY_GIVEN(1, 5);

/* The image as it stands, while counts and checksums in it may be out of date;
 * nothing of it is read. Valid until the filter grows, is resized or freed.
 * NULL for a filter that is open page by page. */
BLY_API const void *bly_raw(const bly_filter *filter, size_t *bytes)
                            BLY_GIVEN(1);

/* How many adds the filter stands for (`items` of bly_stat), where its maker
 * knows better than bly_unite, which forgets it; UINT64_MAX: not known.
 * BLY_EREADONLY; BLY_EUNSUPPORTED for a filter that is open page by page. */
BLY_API bly_status bly_set_items(bly_filter *filter, uint64_t items)
                                 BLY_GIVEN(1);

/* Write bytes [from, from + n) of the image to `into`; false: they cannot be
 * had. */
typedef bool bly_part(void *context, uint64_t from, void *into, size_t n);

/* Save a filter whose image is elsewhere: one like `like` (of its kind, plan,
 * hash and seed), that stands for `items` adds. Of `like` only the header is
 * read; `part` is asked for the rest, piece after piece in order, of at most
 * 4 MiB each. The file is what bly_save would have written. BLY_EIO, also where
 * `part` returns false, and where `path` is not a regular file; BLY_EUNFLUSHED
 * as of bly_save; BLY_ENOMEM; BLY_EUNSUPPORTED (kinds that are packed when they
 * are saved, or have checksums of their own). All of it is saved, or the old
 * file stays as it was. */
BLY_API bly_status bly_save_parts(const bly_filter *like, const char *path,
                                  uint64_t items, bly_part *part,
                                  void *context) BLY_MUST BLY_GIVEN(1, 2, 4);

#ifdef __cplusplus
}
#endif
#endif /* BLOOMERY_PARTS_H */
