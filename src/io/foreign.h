/* foreign.h - opens other systems' files (src/formats/). */
#ifndef BLY_IO_FOREIGN_H
#define BLY_IO_FOREIGN_H

#include <sys/stat.h>

#include "verbs/handle.h"

/* Reads the rest of a file whose first n bytes were read. Errors of bly_open.
 */
bly_status foreign_read(bly_filter **out, int file, const char *path,
                        const struct stat *info, const uint8_t *bytes, size_t n,
                        const handle_options *options);

/* Maps a regular file read-only behind a header in memory; its first n bytes,
 * KIND_LOOK if it has as many, were read. */
bly_status foreign_map(bly_filter **out, int file, const char *path,
                       const struct stat *info, const uint8_t *bytes, size_t n,
                       int flags, const handle_options *options);

#endif /* BLY_IO_FOREIGN_H */
