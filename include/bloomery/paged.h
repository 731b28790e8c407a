/* bloomery/paged.h - filters bigger than memory, used in their file.
 *
 * A filter of a kind that consists of pages ("page" among its abilities:
 * "buffered") can be used in its file, which is neither read nor mapped:
 * bly_open with BLY_PAGED, and BLY_WRITE to add, or bly_create. Adds are
 * collected in memory (bly_buffer) and applied page by page; a lookup reads
 * one page, a batch of lookups reads each of its pages once, many at a time.
 * So ask and add in large batches: these are sorted by page.
 *
 * What differs from other filters: an add says BLY_OK, never BLY_SEEN, for it
 * does not look (unless the batch asks for `seen`); it may fail with BLY_EIO,
 * and BLY_ECORRUPT (a page is damaged), having lost nothing. A lookup that
 * cannot read its page says "perhaps", and the next bly_sync or bly_seal is
 * BLY_EIO. bly_stat reads the file: BLY_EIO, BLY_ENOMEM. bly_copy, bly_like,
 * bly_save, bly_pack and the verbs for sets are BLY_EUNSUPPORTED, and bly_image
 * is NULL: the file is the image. Any number of threads may ask at once while
 * nobody adds.
 *
 * There is one writer at a time: the file is locked, and opening it for
 * writing a second time is BLY_EIO. While it is open for writing its header
 * says so, and others get BLY_EUNSEALED. If the writer dies, everything is
 * there that bly_sync had made durable, and BLY_PAGED | BLY_WRITE opens the
 * file and mends it (it reads all pages once; how many adds were successful is
 * then no longer known exactly). bly_free closes the file in good order, as
 * bly_seal does (but see bly_create).
 */
#ifndef BLOOMERY_PAGED_H
#define BLOOMERY_PAGED_H

#include <bloomery.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A new empty filter in a new file, which takes its place at `path`, in that of
 * an old file too, at the first bly_sync or bly_seal, as by bly_save; whose
 * errors these then have, and the old file is as it was; after BLY_EUNFLUSHED
 * the next one flushes the folder again. bly_free before that
 * lets it go. Pages that no key is in take no room on the disk. Errors of
 * bly_new; BLY_EIO; BLY_EUNSUPPORTED for a kind without pages. */
BLY_API bly_status bly_create(bly_filter **out, const char *path,
                              const char *kind, const bly_spec *spec)
                              BLY_MUST BLY_GIVEN(1, 2, 3);

/* Collect adds in so many bytes of memory from now on, 24 bytes for each; at
 * first 64 MiB. The more there are for each page of the file, the fewer writes
 * it takes. What is collected already is applied first: errors of bly_seal.
 * BLY_EPARAM (below 4096), BLY_ENOMEM, BLY_EREADONLY, BLY_EUNSUPPORTED (not
 * open with BLY_PAGED). */
BLY_API bly_status bly_buffer(bly_filter *filter, size_t bytes) BLY_GIVEN(1);

#ifdef __cplusplus
}
#endif
#endif /* BLOOMERY_PAGED_H */
