/* pages.h - filters used in their file, page by page.
 *
 * Implements bly_open(…, BLY_PAGED) and bly_create: see pages.c.
 */
#ifndef BLY_IO_PAGED_PAGES_H
#define BLY_IO_PAGED_PAGES_H

#include "bloomery/paged.h"
#include "verbs/handle.h"

/* Implements bly_open with BLY_PAGED; the flags are valid. */
bly_status pages_open(bly_filter **out, const char *path, int flags,
                      const handle_options *options);

/* Counts of operations since the file was opened, for tests. */
typedef struct {
    uint64_t read, written;             /* pages                             */
    uint64_t passes;                    /* over the file, to apply adds      */
    uint64_t torn;                      /* pages repaired on opening         */
    uint64_t room;                      /* number of adds that fit in memory */
} pages_counts;

pages_counts pages_count(const bly_filter *filter);

#endif /* BLY_IO_PAGED_PAGES_H */
