/* status.h - error reporting: a status, and a one-line message.
 *
 * The message is kept per thread for bly_why(). It says what is wrong and how
 * to fix it, without a newline.
 */
#ifndef BLY_BASE_STATUS_H
#define BLY_BASE_STATUS_H

#include "bloomery.h"

#include "base/platform.h"

/* Sets the message and returns `status`: `return status_fail(BLY_EPARAM, …)`.
 */
bly_status status_fail(bly_status status, const char *format, ...)
    PLATFORM_PRINTF(2);

/* Does the same for a system error, whose number bly_errno() returns. */
bly_status status_system(bly_status status, int error, const char *format, ...)
    PLATFORM_PRINTF(3);

/* Prepends a file name to the current message, and returns `status`. */
bly_status status_named(bly_status status, const char *name);

/* Save and restore the message, for a verb that succeeds after trying something
 * that may fail. */
enum { STATUS_LINE = 512 };
typedef struct { char text[STATUS_LINE]; int error; } status_kept;
status_kept status_keep(void);
void        status_restore(const status_kept *kept);

/* Sets the general message of `status` and returns it. */
bly_status status_plain(bly_status status);

#endif /* BLY_BASE_STATUS_H */
