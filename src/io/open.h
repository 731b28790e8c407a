/* open.h - what the ways of opening a file have in common.
 *
 * Floor 6.
 */
#ifndef BLY_IO_OPEN_H
#define BLY_IO_OPEN_H

#include <sys/stat.h>

#include "verbs/handle.h"

/* The file as bly_replaced() will know it again; `ours`: we write to it. */
handle_file open_identity(const struct stat *info, bool ours);

#endif /* BLY_IO_OPEN_H */
