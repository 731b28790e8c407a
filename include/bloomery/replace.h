/* bloomery/replace.h - a new file in an old one's place, all of it or nothing.
 *
 * bly_save writes filters in this way; here it is for files of other content,
 * such as the lines that `bloomery dedup -o` writes. The new file is written in
 * the old one's folder. Where the file system can do that (O_TMPFILE), it has
 * no name until it is complete, so that SIGKILL leaves nothing of it.
 * Elsewhere, and between the two calls that put it in an old file's place, its
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

/* Begin a file that is to replace the one at `path`, if one exists there: *file
 * is its descriptor, for reading and writing. An existing file's permissions
 * are kept, and its owner and group as far as the process may; symbolic links
 * are followed. BLY_EIO, also where something other than a file is at `path`;
 * BLY_ENOMEM. */
BLY_API bly_status bly_replace(bly_replacement **out, int *file,
                               const char *path) BLY_MUST BLY_GIVEN(1, 2, 3);

/* Flush the file, put it in its place, flush the folder, and close the file.
 * BLY_EIO: the old file is as it was, and nothing of the new one is left.
 * BLY_EUNFLUSHED: the new one is in its place, but may not outlive a crash. */
BLY_API bly_status bly_replace_end(bly_replacement *replacement)
                                   BLY_MUST BLY_GIVEN(1);

/* Close the file and leave the old one as it was. NULL is fine. */
BLY_API void bly_replace_drop(bly_replacement *replacement);

#ifdef __cplusplus
}
#endif
#endif /* BLOOMERY_REPLACE_H */
