/* bloomery/paged.h - filters larger than memory, used in their file.
 *
 * A filter of a kind with the ability "page" ("buffered") can be used in its
 * file, which is neither read whole nor mapped. Open it with bly_open and
 * BLY_PAGED, and with BLY_WRITE to add keys, or make it with bly_create. Adds
 * are collected in memory (bly_buffer) and applied page by page. A lookup reads
 * one page; a batch of lookups is sorted by page and reads each page once, many
 * at a time. So query and add in large batches.
 *
 * Some functions behave differently. An add returns BLY_OK and never BLY_SEEN,
 * because it does not look (unless the batch asks for `seen`). It may fail with
 * BLY_EIO or BLY_ECORRUPT (a page is damaged), but loses no key. A lookup that
 * cannot read its page answers "perhaps", and the next bly_sync or bly_seal
 * returns BLY_EIO. bly_info reads the file: BLY_EIO, BLY_ENOMEM. bly_copy,
 * bly_like, bly_save, bly_pack and the operations on sets are BLY_EUNSUPPORTED,
 * and bly_image is NULL: the file is the image. Any number of threads may query
 * at once while no thread adds.
 *
 * A file has one writer at a time: it is locked, and opening it for writing
 * again is BLY_EIO. While it is open for writing its header says so, and other
 * readers get BLY_EUNSEALED. If the writer dies, everything that bly_sync made
 * durable is still there. BLY_PAGED | BLY_WRITE then opens the file and repairs
 * it, which reads all pages once; the exact number of successful adds is lost.
 * bly_free closes the file in order, as bly_seal does (but see bly_create).
 */
#ifndef BLOOMERY_PAGED_H
#define BLOOMERY_PAGED_H

#include <bloomery.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes a new empty filter in a new file. The file appears at `path`, replacing
 * an old file, at the first bly_sync or bly_seal, which then have the errors of
 * bly_save. If they fail, the old file is unchanged; after BLY_EUNFLUSHED, the
 * next call flushes the folder again. bly_free before that discards the new
 * file. Pages without keys take no space on the disk. Errors of bly_new;
 * BLY_EIO; BLY_EUNSUPPORTED for a kind without pages. */
BLY_API bly_status bly_create(bly_filter **out, const char *path,
                              const char *kind, const bly_spec *spec)
                              BLY_MUST BLY_GIVEN(1, 2, 3);

/* Sets the memory in which adds to a paged filter are collected. Each takes 24
 * bytes; the default is 64 MiB. The more adds there are per page of the file,
 * the fewer writes they take. Adds that were collected before are applied
 * first: errors of bly_seal. BLY_EPARAM (below 4096), BLY_ENOMEM,
 * BLY_EREADONLY, BLY_EUNSUPPORTED (not open with BLY_PAGED). */
BLY_API bly_status bly_buffer(bly_filter *filter, size_t bytes) BLY_GIVEN(1);

#ifdef __cplusplus
}
#endif
#endif /* BLOOMERY_PAGED_H */
