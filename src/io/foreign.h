/* foreign.h - opening other systems' files (src/formats/). */
#ifndef BLY_IO_FOREIGN_H
#define BLY_IO_FOREIGN_H

#include <sys/stat.h>

#include "verbs/handle.h"

/* All of the file into memory, behind its first n bytes, which have been read.
 * Errors of bly_open. */
bly_status foreign_read(bly_filter **out, int file, const char *path,
                        const struct stat *info, const uint8_t *bytes, size_t n,
                        const handle_options *options);

/* A regular file mapped, for reading only, behind a header in memory; its first
 * n bytes, KIND_LOOK if it has as many, have been read. */
bly_status foreign_map(bly_filter **out, int file, const char *path,
                       const struct stat *info, const uint8_t *bytes, size_t n,
                       int flags, const handle_options *options);

#endif /* BLY_IO_FOREIGN_H */
