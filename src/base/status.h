/* status.h - how a failure is told: a status, and one line that explains it.
 *
 * The line is kept per thread for bly_why(). It says what is wrong
 * and how to mend it, and has no newline.
 */
#ifndef BLY_BASE_STATUS_H
#define BLY_BASE_STATUS_H

#include "bloomery.h"

#include "base/platform.h"

/* Keep the line and return `status`: `return status_fail(BLY_EPARAM, …)`. */
bly_status status_fail(bly_status status, const char *format, ...)
    PLATFORM_PRINTF(2);

/* The same where the system refused, with its error number for bly_errno(). */
bly_status status_system(bly_status status, int error, const char *format, ...)
    PLATFORM_PRINTF(3);

/* Put a file's name before the line that is kept, and return `status`. */
bly_status status_named(bly_status status, const char *name);

/* The line as it is, and back to it: for a verb that tries what may fail and
 * succeeds itself. */
enum { STATUS_LINE = 512 };
typedef struct { char text[STATUS_LINE]; int error; } status_kept;
status_kept status_keep(void);
void        status_restore(const status_kept *kept);

/* Keep the general text of `status` and return it. */
bly_status status_plain(bly_status status);

#endif /* BLY_BASE_STATUS_H */
