/* bloomery/parts.h - one filter divided among many processes, each of which
 * holds a part of its image.
 *
 * Each process makes the whole filter with BLY_SPARSE; parts to which it never
 * adds take no memory. bly_places tells which part, and so which process, a key
 * belongs to. One process gathers the parts and saves them (bly_save_parts).
 */
#ifndef BLOOMERY_PARTS_H
#define BLOOMERY_PARTS_H

#include <bloomery.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the place of each key in a filter's image. The kind must have the
 * ability "local". All bytes that are read or changed for key i lie in the
 * *bytes bytes of the image from byte places[i]. *bytes is the same for all
 * keys, and places are multiples of it apart. Reads only the header.
 * BLY_EUNSUPPORTED (other kinds). Thread-safe, like all functions that only
 * read. */
BLY_API bly_status bly_places(const bly_filter *filter, const uint64_t *hashes,
                              size_t n, uint64_t *places, size_t *bytes)
                              BLY_GIVEN(1, 5);

/* Returns the image of a filter as it is. Counts and checksums may be outdated,
 * and none of the image is read. Valid until the filter grows, is resized or is
 * freed. NULL for a filter that is open page by page. */
BLY_API const void *bly_raw(const bly_filter *filter, size_t *bytes)
                            BLY_GIVEN(1);

/* Sets the number of adds that a filter represents (`items` of bly_info). This
 * is for a program that knows it although bly_unite does not; UINT64_MAX:
 * unknown. BLY_EREADONLY; BLY_EUNSUPPORTED for a filter that is open page by
 * page. */
BLY_API bly_status bly_set_items(bly_filter *filter, uint64_t items)
                                 BLY_GIVEN(1);

/* Writes bytes [from, from + n) of the image to `into`. Returns false if it
 * cannot. */
typedef bool bly_part(void *context, uint64_t from, void *into, size_t n);

/* Saves a filter whose image is elsewhere, piece by piece. It has the kind,
 * plan, hash and seed of `like`, of which only the header is read, and
 * represents `items` adds. `part` is called for the rest, in order, with at
 * most 4 MiB each. The file is the one that bly_save would have written, and is
 * as atomic: on failure the old file is unchanged. BLY_EIO, also if `part`
 * returns false or `path` is not a regular file; BLY_EUNFLUSHED as for
 * bly_save; BLY_ENOMEM; BLY_EUNSUPPORTED (kinds that are packed when saved, or
 * have checksums of their own). */
BLY_API bly_status bly_save_parts(const bly_filter *like, const char *path,
                                  uint64_t items, bly_part *part,
                                  void *context) BLY_MUST BLY_GIVEN(1, 2, 4);

#ifdef __cplusplus
}
#endif
#endif /* BLOOMERY_PARTS_H */
