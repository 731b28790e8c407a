/* bloomery/replace.h - replaces files atomically.
 *
 * bly_save writes filters in this way. These functions do it for other content,
 * such as the lines that `bloomery dedup -o` writes. The new file is written in
 * the folder of the old one. If the file system supports O_TMPFILE, the new
 * file has no name until it is complete, so that SIGKILL leaves nothing behind.
 * Otherwise, and between the two calls that put it in an old file's place, its
 * name is .bloomery-HASH-N.tmp. It is locked, and the next writer of the same
 * file removes it if its own writer has died.
 */
#ifndef BLOOMERY_REPLACE_H
#define BLOOMERY_REPLACE_H

#include <bloomery.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A file that is being written. One thread at a time may use it. */
typedef struct bly_replacement bly_replacement;

/* Begins a file that is to replace another one atomically. The other one is at
 * `path`, if it exists. *file is its descriptor, for reading and writing. An
 * existing file's permissions are kept, and its owner and group as far as the
 * process may; symbolic links are followed. BLY_EIO, also if `path` is
 * something other than a file; BLY_ENOMEM. */
BLY_API bly_status bly_replace(bly_replacement **out, int *file,
                               const char *path) BLY_MUST BLY_GIVEN(1, 2, 3);

/* Puts the new file in the place of the old one. It is flushed and closed, and
 * the folder is flushed as well. BLY_EIO: the old file is unchanged, and
 * nothing of the new one is left. BLY_EUNFLUSHED: the new file is in its place,
 * but may not survive a crash. */
BLY_API bly_status bly_replace_end(bly_replacement *replacement)
                                   BLY_MUST BLY_GIVEN(1);

/* Discards the new file and leaves the old one unchanged. NULL is fine. */
BLY_API void bly_replace_drop(bly_replacement *replacement);

#ifdef __cplusplus
}
#endif
#endif /* BLOOMERY_REPLACE_H */
