/* pages.h - filters worked on in their file, page by page.
 *
 * What bly_open(…, BLY_PAGED) and bly_create make: see pages.c.
 */
#ifndef BLY_IO_PAGED_PAGES_H
#define BLY_IO_PAGED_PAGES_H

#include "bloomery/paged.h"
#include "verbs/handle.h"

/* bly_open for flags with BLY_PAGED; they are legal. */
bly_status pages_open(bly_filter **out, const char *path, int flags,
                      const handle_options *options);

/* What has been done with the file since it was opened: for tests. */
typedef struct {
    uint64_t read, written;             /* pages                             */
    uint64_t passes;                    /* over the file, to apply adds      */
    uint64_t torn;                      /* pages mended when it was opened   */
    uint64_t room;                      /* adds that are collected           */
} pages_counts;

pages_counts pages_count(const bly_filter *filter);

#endif /* BLY_IO_PAGED_PAGES_H */
